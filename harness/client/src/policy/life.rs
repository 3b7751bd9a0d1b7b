//! How a session begins and ends.

/// Which protocol versions are spoken.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Policy, Versions};
///
/// assert_eq!(Policy::exagent().versions, Versions::Only20250618);
/// # let builder = mcp_assay_client::Client::builder("http://localhost/mcp");
/// let error = builder.protocol_version("2024-11-05").connect().await.unwrap_err();
/// assert_eq!(error.kind(), "invalid_http_configuration");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Versions {
    /// 2025-06-18, which the server must echo. Rows EX-CFG-12, EX-HS-05.
    Only20250618,
}

impl Versions {
    /// The versions, newest first.
    ///
    /// ```
    /// use mcp_assay_client::policy::Versions;
    ///
    /// assert_eq!(Versions::Only20250618.all(), ["2025-06-18"]);
    /// ```
    pub const fn all(self) -> &'static [&'static str] {
        match self {
            Self::Only20250618 => &["2025-06-18"],
        }
    }
}

/// What a 404 within a session means.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Policy, Session404};
///
/// assert_eq!(Policy::exagent().session_404, Session404::ExpireAll);
/// # let client = Server::default().answer("tools/list", 404, "", "").client().await?;
/// assert_eq!(client.list_tools().await.unwrap_err().kind(), "session_expired");
/// assert_eq!(client.list_tools().await.unwrap_err().kind(), "not_ready");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Session404 {
    /// `session_expired` for every pending call, no ready session until an explicit reconnect, nothing sent
    /// again. Row EX-SES-01.
    ExpireAll,
}

/// Which session headers are accepted, and when.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Policy, SessionHeader};
///
/// assert_eq!(Policy::exagent().session_header, SessionHeader::FixedAtInitialize);
/// # let headers = "content-type: application/json\r\nmcp-session-id: other\r\n";
/// # let body = r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[]}}"#;
/// # let client = Server::default().answer("tools/list", 200, headers, body).client().await?;
/// // The server names another session than the one it issued.
/// assert_eq!(client.list_tools().await.unwrap_err().kind(), "invalid_session_id");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionHeader {
    /// One header of visible ASCII with the initialize response; later responses may only repeat it. Rows
    /// EX-HS-07 to EX-HS-10, EX-SES-06 to EX-SES-08.
    FixedAtInitialize,
}

/// Which answers to DELETE make a close succeed.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Delete, Policy};
///
/// assert_eq!(Policy::exagent().delete, Delete::ReportFailure);
/// # let client = Server::default().answer("DELETE", 405, "", "").client().await?;
/// // The server answers 405: it does not let clients end sessions.
/// assert_eq!(client.close().await, Ok(()));
/// # let client = Server::default().answer("DELETE", 500, "", "").client().await?;
/// // Another server answers 500.
/// assert_eq!(client.close().await.unwrap_err().http_status(), Some(500));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delete {
    /// 200, 202, 204 and 405 without a body; anything else is reported. The client ends in any case. Rows
    /// EX-CL-01 to EX-CL-06.
    ReportFailure,
}
