//! What a caller may configure.

/// Which headers the caller cannot set.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{OwnedHeaders, Policy};
///
/// assert_eq!(Policy::exagent().owned_headers, OwnedHeaders::Transport);
/// # let builder = mcp_assay_client::Client::builder("http://localhost/mcp");
/// let error = builder.header("Mcp-Session-Id", "mine").connect().await.unwrap_err();
/// assert_eq!(error.kind(), "invalid_http_configuration");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedHeaders {
    /// The nine that frame or route a message; `authorization` is the caller's. Rows EX-CFG-04, EX-CFG-17.
    Transport,
}

impl OwnedHeaders {
    /// The names, in lower case.
    pub(crate) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Transport => &[
                "accept",
                "content-type",
                "content-length",
                "host",
                "connection",
                "transfer-encoding",
                "mcp-session-id",
                "mcp-protocol-version",
                "last-event-id",
            ],
        }
    }
}

/// Which bytes a configured header value may have.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{HeaderValues, Policy};
///
/// assert_eq!(Policy::exagent().header_values, HeaderValues::Printable);
/// # let builder = mcp_assay_client::Client::builder("http://localhost/mcp");
/// let error = builder.header("x-name", "two\r\nlines").connect().await.unwrap_err();
/// assert_eq!(error.kind(), "invalid_http_configuration");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderValues {
    /// 0x20 to 0x7E. Rows EX-CFG-05, EX-CFG-06.
    Printable,
}

/// Which URLs are accepted.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Policy, UrlRule};
///
/// assert_eq!(Policy::exagent().url, UrlRule::OriginAndTarget);
/// let builder = mcp_assay_client::Client::builder("http://localhost/mcp#fragment");
/// assert_eq!(builder.connect().await.unwrap_err().kind(), "invalid_http_configuration");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlRule {
    /// `http` or `https`, a host, a path and a query; no user info and no fragment; at most 8 192 bytes. Rows
    /// EX-CFG-02, EX-CFG-03, EX-CFG-10, EX-CFG-11, EX-CFG-15.
    OriginAndTarget,
}
