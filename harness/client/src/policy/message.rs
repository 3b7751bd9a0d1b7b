//! What is said in an exchange, and what an answer may be.

/// How the server must acknowledge a notification or a reply.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Acknowledgement, Policy};
///
/// assert_eq!(Policy::exagent().acknowledgement, Acknowledgement::AcceptedAndEmpty);
/// # let server = Server::default().answer("notifications/initialized", 200, "", "");
/// // The server answers the notification with 200.
/// assert_eq!(server.client().await.unwrap_err().http_status(), Some(200));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Acknowledgement {
    /// 202 without a body. Rows EX-HS-11 to EX-HS-13, EX-CTL-09.
    AcceptedAndEmpty,
}

/// Which statuses can carry the response to a request.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Policy, RequestStatus};
///
/// assert_eq!(Policy::exagent().request_status, RequestStatus::OkOnly);
/// # let client = Server::default().answer("tools/list", 201, "", "{}").client().await?;
/// assert_eq!(client.list_tools().await.unwrap_err().http_status(), Some(201));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestStatus {
    /// 200; any other is the error, its body unread. Rows EX-ST-01 to EX-ST-09.
    OkOnly,
}

/// What an event with empty data is.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{EmptyEvent, Policy};
///
/// assert_eq!(Policy::exagent().empty_event, EmptyEvent::Message);
/// # let client = Server::default().answer("tools/list", 200, "content-type: text/event-stream\r\n", "data:\n\n").client().await?;
/// assert_eq!(client.list_tools().await.unwrap_err().kind(), "invalid_jsonrpc");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmptyEvent {
    /// A message like any other, so a malformed one. Row EX-SSE-21.
    Message,
}

/// When a response belongs to a request.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Policy, ResponseId};
///
/// assert_eq!(Policy::exagent().response_id, ResponseId::Exact);
/// # let body = r#"{"jsonrpc":"2.0","id":"ID","result":{"tools":[]}}"#;
/// # let client = Server::default().answer("tools/list", 200, "content-type: application/json\r\n", body).client().await?;
/// // The server answers under the id "2"; the request's was 2.
/// assert_eq!(client.list_tools().await.unwrap_err().kind(), "response_id_mismatch");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResponseId {
    /// When its id is the same JSON integer; any other response is an error. Rows EX-JS-01 to EX-JS-03,
    /// EX-SSE-25.
    Exact,
}

/// How requests of the server are answered.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Policy, ServerRequests};
///
/// assert_eq!(Policy::exagent().server_requests, ServerRequests::PingOnly);
/// # let ping = r#"data: {"jsonrpc":"2.0","id":"p","method":"ping"}"#;
/// # let body = format!("{ping}\n\ndata: {}\n\n", r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[]}}"#);
/// # let server = Server::default().answer("tools/list", 200, "content-type: text/event-stream\r\n", &body);
/// # let client = server.client().await?;
/// // The server sends a ping before its response.
/// client.list_tools().await?;
/// assert!(server.heard(r#"{"jsonrpc":"2.0","id":"p","result":{}}"#));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerRequests {
    /// `ping` with an empty result, all others with -32601, before the stream is read on. Row EX-CTL-01.
    PingOnly,
}

/// What a caller's giving up does on the wire.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::policy::{Cancellation, Policy};
///
/// assert_eq!(Policy::exagent().cancellation, Cancellation::CloseThenPost);
/// # let server = Server::default().silent("tools/list");
/// # let client = server.client().await?;
/// let caller = client.clone();
/// let listing = tokio::spawn(async move { caller.list_tools().await });
/// server.hears("tools/list").await;
/// listing.abort();
/// server.hears(r#""notifications/cancelled","params":{"requestId":2}"#).await;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cancellation {
    /// Closes the socket, then posts one `notifications/cancelled`. Row EX-TO-01.
    CloseThenPost,
}
