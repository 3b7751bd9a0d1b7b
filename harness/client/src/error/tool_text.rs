//! A server's text inside an error.

use std::fmt;

/// The text of a failed tool, shown by its length only.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::{Arguments, CallOptions, Error};
///
/// # let failed = r#"{"content":[{"type":"text","text":"no such file"}],"isError":true}"#;
/// # let client = Server::default().result("tools/call", failed).client().await?;
/// match client.call_tool("read", Arguments::empty(), CallOptions::new()).await {
///     // A `ToolText` shows no more than its length.
///     Err(Error::Tool(text)) => assert_eq!(text.to_string(), "12 bytes of text, withheld"),
///     other => panic!("{other:?}"),
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ToolText(pub(crate) Box<str>);

impl fmt::Debug for ToolText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolText({self})")
    }
}

impl fmt::Display for ToolText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of text, withheld", self.0.len())
    }
}
