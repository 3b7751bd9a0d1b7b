//! What a server may offer and return.

/// What a catalogue's `nextCursor` means.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Pages, Policy};
///
/// assert_eq!(Policy::exagent().pages, Pages::First);
/// # let client = Server::default().result("tools/list", r#"{"tools":[],"nextCursor":"2"}"#).client().await?;
/// assert_eq!(client.list_tools().await.unwrap_err().kind(), "pagination_unsupported");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pages {
    /// Only a catalogue of one page is accepted. Row EX-TL-02.
    First,
}

/// What a tool may return.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Content, Policy};
///
/// assert_eq!(Policy::exagent().content, Content::TextOnly);
/// # use mcp_assay_client::{Arguments, CallOptions};
/// # let image = r#"{"content":[{"type":"image","data":"","mimeType":"image/png"}]}"#;
/// # let client = Server::default().result("tools/call", image).client().await?;
/// // The tool returns an image.
/// let outcome = client.call_tool("draw", Arguments::empty(), CallOptions::new()).await;
/// assert_eq!(outcome.unwrap_err().kind(), "unsupported_tool_content");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text, joined; a failed tool is an error with its text. Rows EX-TR-01 to EX-TR-06.
    TextOnly,
}
