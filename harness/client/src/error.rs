//! What can go wrong, as one enum.
//!
//! Three questions have an answer on every [`Error`]: what it is ([`Error::kind`], a stable name), whether
//! the server may have acted on the request ([`Error::effect`]), and what was expected and seen (its fields
//! and its `Display`). No variant can hold a credential, a session id, a URL or a server's words: fields are
//! numbers and small enums. The one exception, the text of a failed tool, sits in [`ToolText`], which shows
//! its length and hands the text out only through [`Error::tool_text`].

mod effect;
mod tool_text;

use crate::rule::{Rule, rule};

pub use crate::fault::{
    ConfigurationFault, InitializeFault, JsonrpcFault, OptionFault, RequestFault, SessionFault, ToolsFault,
    TransportFault,
};
pub use effect::Effect;
pub use tool_text::ToolText;

/// Why an operation of the client failed.
///
/// ```
/// use mcp_assay_client::error::{Effect, Error};
///
/// let error = Error::Jsonrpc { code: -32602 };
/// assert_eq!(error.kind(), "jsonrpc_error");
/// assert_eq!(error.rpc_code(), Some(-32602));
/// assert_eq!(error.effect(), Effect::Answered);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL, a configured header or a limit cannot be used. Nothing was sent. Rows EX-CFG-02 to EX-CFG-13.
    #[error("the HTTP configuration cannot be used: {0}")]
    InvalidHttpConfiguration(ConfigurationFault),
    /// `timeout` or `max_pending` cannot be used, or no limit has that name. Nothing was sent. Row EX-CFG-14.
    #[error("an option cannot be used: {0}")]
    InvalidOption(OptionFault),
    /// The arguments given to a call are unusable. Nothing was sent. Row EX-REQ-03.
    #[error("the request cannot be made: {0}")]
    InvalidRequest(RequestFault),
    /// Too many requests are pending; checked before encoding. Nothing was sent. Rows EX-REQ-04, EX-REQ-11.
    #[error("{limit} requests are pending already, which is the most that max_pending allows")]
    Busy {
        /// `max_pending`.
        limit: usize,
    },
    /// There is no ready session: connecting, expired, or closing. Nothing was sent. Row EX-SES-02.
    #[error("the client has no ready session; reconnect() makes a new one after an expiry")]
    NotReady,
    /// `reconnect` was asked for while the session is ready. Nothing was sent. Row EX-SES-09.
    #[error("reconnect() works only when the session is gone; this one is ready")]
    NotAvailable,
    /// The client was closed, or is being closed, under this operation. Row EX-CL-01.
    #[error("the client is closed ({effect})")]
    Closed {
        /// What is known about the request.
        effect: Effect,
    },
    /// An outgoing body is too large. It was not sent. Row EX-REQ-02; for a control reply EX-CTL-11.
    #[error("the encoded request has {actual} bytes, {limit} are allowed")]
    RequestByteLimit {
        /// `max_request_bytes`, or `max_control_bytes` for control messages.
        limit: usize,
        /// The encoded size in bytes.
        actual: usize,
    },
    /// The deadline passed. Rows EX-TO-01, EX-REQ-12.
    #[error("the deadline passed ({effect})")]
    Timeout {
        /// `NotSent` when the request was still queued.
        effect: Effect,
    },
    /// Connecting, TLS, or the HTTP/1.1 exchange failed. Rows EX-ST-10, EX-JS-18, EX-SSE-19.
    #[error("the HTTP exchange failed: {fault} ({effect})")]
    HttpTransport {
        /// What failed.
        fault: TransportFault,
        /// What is known about the request.
        effect: Effect,
    },
    /// The server answered with a status that ends the request. Rows EX-ST-01 to EX-ST-09.
    #[error("the server answered with HTTP status {status}{}", target())]
    HttpStatus {
        /// The status code.
        status: u16,
    },
    /// Status 401. Row EX-ST-03.
    #[error("the server answered 401: the request's credentials are missing or not accepted")]
    Unauthorized,
    /// Status 403. Row EX-ST-04.
    #[error("the server answered 403: the request's credentials do not allow it")]
    Forbidden,
    /// Status 404 within a session: the session is gone, for every pending call. Row EX-SES-01.
    #[error(
        "the server answered 404 within the session, which ends it; reconnect() makes a new one ({effect})"
    )]
    SessionExpired {
        /// `Answered` for the call that got the 404, `Uncertain` for those that were pending beside it.
        effect: Effect,
    },
    /// The response's headers are too large: their sum, more than 256 lines, or more than 16 interim responses. Row
    /// EX-HB-02.
    #[error("the response headers pass {limit} bytes of names and values, 256 lines or 16 interim responses")]
    HeaderByteLimit {
        /// `max_header_bytes`.
        limit: usize,
    },
    /// The trailers are too large with the headers, or set what only headers may set. Row EX-HB-03.
    #[error(
        "the response trailers are not acceptable: too large, or naming a header that must not be a trailer"
    )]
    InvalidTrailers,
    /// The session header breaks a rule. Rows EX-HS-07 to EX-HS-10, EX-SES-06, EX-SES-08.
    #[error("the session header is not acceptable: {0}")]
    InvalidSessionId(SessionFault),
    /// Not exactly one content type, or not one of the two that MCP knows. Rows EX-JS-08, EX-JS-15.
    #[error("the response needs exactly one content-type, application/json or text/event-stream")]
    InvalidContentType,
    /// A body came where none may be. Rows EX-HS-13, EX-CL-06.
    #[error("the response has a body where none is allowed")]
    UnexpectedResponseBody,
    /// The body is too large, up to the end of the terminal event. Rows EX-JS-17, EX-SSE-03.
    #[error("the response body passes {limit} bytes")]
    ResponseByteLimit {
        /// `max_response_bytes`.
        limit: usize,
    },
    /// A stream line is too long, even if its end has not come yet. Rows EX-SSE-12, EX-SSE-14.
    #[error("a stream line passes {limit} bytes")]
    SseLineLimit {
        /// `max_line_bytes`.
        limit: usize,
    },
    /// An event's joined data is too large. Rows EX-SSE-11, EX-SSE-13.
    #[error("an event's joined data passes {limit} bytes")]
    SseEventLimit {
        /// `max_event_bytes`.
        limit: usize,
    },
    /// A stream line is not UTF-8. Rows EX-SSE-04, EX-SSE-15.
    #[error("a stream line is not UTF-8")]
    InvalidSseUtf8,
    /// The stream ended inside a line or an event. Rows EX-SSE-16, EX-SSE-18.
    #[error("the stream ended inside an event")]
    IncompleteSse,
    /// The stream ended without the response. Row EX-SSE-17.
    #[error("the stream ended without the response")]
    MissingResponse,
    /// Not JSON, or not a JSON-RPC 2.0 message. Rows EX-JS-04 to EX-JS-09, EX-CTL-07, EX-CTL-08.
    #[error("the message is not valid JSON-RPC: {0}")]
    InvalidJsonrpc(JsonrpcFault),
    /// A JSON body holds a request or a notification. Row EX-JS-13.
    #[error("the JSON body is not a response")]
    InvalidJsonrpcResponse,
    /// An object has the same key twice. Rows EX-JS-10, EX-JS-11.
    #[error("an object has the same key twice; it ends at byte {offset}")]
    DuplicateJsonKey {
        /// Offset of the object's closing brace in the message.
        offset: usize,
    },
    /// Arrays and objects are nested too deeply.
    #[error("the message nests deeper than {limit}")]
    JsonDepthLimit {
        /// `max_json_depth`.
        limit: usize,
    },
    /// The message has too many values.
    #[error("the message has more than {limit} values")]
    JsonNodeLimit {
        /// `max_json_nodes`.
        limit: usize,
    },
    /// The response's id is not exactly the request's integer. Rows EX-JS-01 to EX-JS-03, EX-SSE-25.
    #[error("the response's id is not the request's, which is {expected}")]
    ResponseIdMismatch {
        /// The request's id.
        expected: u64,
    },
    /// The server answered with a JSON-RPC error; its text is dropped. Row EX-JS-12.
    #[error("the server answered with JSON-RPC error {code}")]
    Jsonrpc {
        /// The error's code.
        code: i64,
    },
    /// Too many control messages in one response. Rows EX-CTL-03, EX-CTL-04.
    #[error("the response has more than {limit} control messages")]
    ControlCountLimit {
        /// `max_controls`.
        limit: usize,
    },
    /// The control messages of one response are too large together. Row EX-CTL-05.
    #[error("the control messages of the response pass {limit} bytes")]
    ControlByteLimit {
        /// `max_control_bytes`.
        limit: usize,
    },
    /// Answering a server's request failed, and with it the call on whose stream it came. Row EX-CTL-09.
    #[error("a reply to the server failed, and with it the call: {0}")]
    ControlReply(Box<Self>),
    /// The initialize result breaks a rule. Rows EX-HS-05, EX-HS-06.
    #[error("the initialize result is not acceptable: {0}")]
    InvalidInitialize(InitializeFault),
    /// The catalogue has a further page. Row EX-TL-02.
    #[error("the tool catalogue has a further page, which is not fetched")]
    PaginationUnsupported,
    /// The catalogue is too long. Row EX-TL-03.
    #[error("the tool catalogue has more than {limit} tools")]
    DiscoveryLimit {
        /// `max_tools`.
        limit: usize,
    },
    /// The catalogue breaks a rule. Rows EX-TL-04, EX-TL-05.
    #[error("the tool catalogue is not acceptable: {0}")]
    InvalidTools(ToolsFault),
    /// The tool's result has content other than text. Rows EX-TR-02, EX-TR-04.
    #[error("the tool's result has content other than text, or an isError that is not a boolean")]
    UnsupportedToolContent,
    /// The tool's result has no list of content. Row EX-TR-05.
    #[error("the tool's result has no list of content")]
    InvalidToolResult,
    /// The tool ran and reported failure; see [`Error::tool_text`]. Row EX-TR-03.
    #[error("the tool reported a failure ({0})")]
    Tool(ToolText),
}

impl Error {
    /// The error's stable name, for programs and records.
    ///
    /// ```
    /// use mcp_assay_client::Limits;
    ///
    /// let error = Limits::default().set("max_luck", 7).unwrap_err();
    /// assert_eq!(error.kind(), "invalid_option");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidHttpConfiguration(_) => "invalid_http_configuration",
            Self::InvalidOption(_) => "invalid_option",
            Self::InvalidRequest(_) => "invalid_request",
            Self::Busy { .. } => "busy",
            Self::NotReady => "not_ready",
            Self::NotAvailable => "not_available",
            Self::Closed { .. } => "closed",
            Self::RequestByteLimit { .. } => "request_byte_limit",
            Self::Timeout { .. } => "timeout",
            Self::HttpTransport { .. } => "http_transport_error",
            Self::HttpStatus { .. } => "http_status",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::SessionExpired { .. } => "session_expired",
            Self::HeaderByteLimit { .. } => "header_byte_limit",
            Self::InvalidTrailers => "invalid_trailers",
            Self::InvalidSessionId(_) => "invalid_session_id",
            Self::InvalidContentType => "invalid_content_type",
            Self::UnexpectedResponseBody => "unexpected_response_body",
            Self::ResponseByteLimit { .. } => "response_byte_limit",
            Self::SseLineLimit { .. } => "sse_line_limit",
            Self::SseEventLimit { .. } => "sse_event_limit",
            Self::InvalidSseUtf8 => "invalid_sse_utf8",
            Self::IncompleteSse => "incomplete_sse",
            Self::MissingResponse => "missing_response",
            Self::InvalidJsonrpc(_) => "invalid_jsonrpc",
            Self::InvalidJsonrpcResponse => "invalid_jsonrpc_response",
            Self::DuplicateJsonKey { .. } => "duplicate_json_key",
            Self::JsonDepthLimit { .. } => "json_depth_limit",
            Self::JsonNodeLimit { .. } => "json_node_limit",
            Self::ResponseIdMismatch { .. } => "response_id_mismatch",
            Self::Jsonrpc { .. } => "jsonrpc_error",
            Self::ControlCountLimit { .. } => "control_count_limit",
            Self::ControlByteLimit { .. } => "control_byte_limit",
            Self::ControlReply(cause) => cause.kind(),
            Self::InvalidInitialize(_) => "invalid_initialize",
            Self::PaginationUnsupported => "pagination_unsupported",
            Self::DiscoveryLimit { .. } => "discovery_limit",
            Self::InvalidTools(_) => "invalid_tools",
            Self::UnsupportedToolContent => "unsupported_tool_content",
            Self::InvalidToolResult => "invalid_tool_result",
            Self::Tool(_) => "tool_error",
        }
    }

    /// Whether the server may have acted on the request.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::Effect;
    ///
    /// # let server = Server::default().answer("tools/list", 503, "", "");
    /// # let client = server.client().await?;
    /// let error = client.list_tools().await.unwrap_err();
    /// assert_eq!(error.effect(), Effect::Answered);
    /// # Ok(()) }
    /// ```
    pub fn effect(&self) -> Effect {
        match self {
            Self::InvalidHttpConfiguration(_)
            | Self::InvalidOption(_)
            | Self::InvalidRequest(_)
            | Self::Busy { .. }
            | Self::NotReady
            | Self::NotAvailable
            | Self::RequestByteLimit { .. } => Effect::NotSent,
            Self::Closed { effect }
            | Self::Timeout { effect }
            | Self::HttpTransport { effect, .. }
            | Self::SessionExpired { effect } => *effect,
            Self::HttpStatus { .. }
            | Self::Unauthorized
            | Self::Forbidden
            | Self::Jsonrpc { .. }
            | Self::InvalidInitialize(_)
            | Self::PaginationUnsupported
            | Self::DiscoveryLimit { .. }
            | Self::InvalidTools(_)
            | Self::UnsupportedToolContent
            | Self::InvalidToolResult
            | Self::Tool(_) => Effect::Answered,
            _ => Effect::Uncertain,
        }
    }

    /// The HTTP status behind the error, if a status is what it reports.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::default().answer("tools/list", 403, "", "");
    /// # let client = server.client().await?;
    /// let error = client.list_tools().await.unwrap_err();
    /// assert_eq!((error.kind(), error.http_status()), ("forbidden", Some(403)));
    /// # Ok(()) }
    /// ```
    pub fn http_status(&self) -> Option<u16> {
        match self {
            Self::HttpStatus { status } => Some(*status),
            Self::Unauthorized => Some(401),
            Self::Forbidden => Some(403),
            Self::SessionExpired { .. } => Some(404),
            Self::ControlReply(cause) => cause.http_status(),
            _ => None,
        }
    }

    /// The code of a JSON-RPC error, if the server answered with one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let body = r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no tools here"}}"#;
    /// # let server = Server::default().answer("tools/list", 200, "content-type: application/json\r\n", body);
    /// # let client = server.client().await?;
    /// let error = client.list_tools().await.unwrap_err();
    /// assert_eq!(error.rpc_code(), Some(-32601));
    /// // What the server said stays out of it.
    /// assert_eq!(error.to_string(), "the server answered with JSON-RPC error -32601");
    /// # Ok(()) }
    /// ```
    pub fn rpc_code(&self) -> Option<i64> {
        match self {
            Self::Jsonrpc { code } => Some(*code),
            _ => None,
        }
    }

    /// The text of a failed tool. It comes from the server: treat it as untrusted data.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Arguments, CallOptions};
    ///
    /// # let failed = r#"{"content":[{"type":"text","text":"no such file"}],"isError":true}"#;
    /// # let client = Server::default().result("tools/call", failed).client().await?;
    /// let error = client.call_tool("read", Arguments::empty(), CallOptions::new()).await.unwrap_err();
    /// assert_eq!(error.tool_text(), Some("no such file"));
    /// # Ok(()) }
    /// ```
    pub fn tool_text(&self) -> Option<&str> {
        match self {
            Self::Tool(text) => Some(&text.0),
            _ => None,
        }
    }
}

/// Nothing, unless a rule is broken.
fn target() -> &'static str {
    if rule(Rule::TargetsAreWithheld) { "" } else { " at /mcp" }
}

#[cfg(test)]
mod tests;
