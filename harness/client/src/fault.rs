//! The causes inside an [`Error`](crate::Error): closed sets, so that a cause is a value and never a
//! string that could carry a secret.

/// Why a URL, a configured header or a limit is refused.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::error::{ConfigurationFault, Error};
///
/// let builder = mcp_assay_client::Client::builder("https://user:secret@host/mcp");
/// let error = builder.connect().await.unwrap_err();
/// assert_eq!(error, Error::InvalidHttpConfiguration(ConfigurationFault::UserInfo));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationFault {
    /// The URL is too long.
    #[error("the URL has {actual} bytes, {limit} are allowed")]
    UrlTooLong {
        /// Most bytes a URL may have.
        limit: usize,
        /// Bytes it has.
        actual: usize,
    },
    /// The scheme is neither `http` nor `https`.
    #[error("the URL must start with http:// or https://")]
    Scheme,
    /// The URL has a user name or a password.
    #[error("the URL must not hold a user name or a password")]
    UserInfo,
    /// The URL has a fragment.
    #[error("the URL must not have a fragment")]
    Fragment,
    /// The host is empty or malformed.
    #[error("the URL's host is empty or malformed")]
    Host,
    /// The port is not a number from 1 to 65535.
    #[error("the URL's port must be a number from 1 to 65535")]
    Port,
    /// A byte in path or query is not allowed there.
    #[error("the URL's path or query has a byte at offset {offset} that must be percent-encoded")]
    Target {
        /// Offset in the URL.
        offset: usize,
    },
    /// The header at this position of the list has a name that is no RFC 9110 token.
    #[error("the name of configured header {index} is not a header name")]
    HeaderName {
        /// Position in the list, from 0.
        index: usize,
    },
    /// The client sets this header itself.
    #[error("configured header {index} is {name}, which the client sets itself")]
    ReservedHeader {
        /// Position in the list, from 0.
        index: usize,
        /// The reserved name.
        name: &'static str,
    },
    /// A header value has a byte outside 0x20 to 0x7E.
    #[error("the value of configured header {index} has a byte outside 0x20 to 0x7E at offset {offset}")]
    HeaderValue {
        /// Position in the list, from 0.
        index: usize,
        /// Offset in the value.
        offset: usize,
    },
    /// There are too many configured headers.
    #[error("there are {actual} configured headers, {limit} are allowed")]
    HeaderCount {
        /// Most headers that can be configured. See [`Builder::header`](crate::Builder::header).
        limit: usize,
        /// Headers there are.
        actual: usize,
    },
    /// The configured headers are too large together.
    #[error("the configured headers have {actual} bytes of names and values, {limit} are allowed")]
    HeaderBytes {
        /// `max_header_bytes`.
        limit: usize,
        /// Bytes they have.
        actual: usize,
    },
    /// The policy does not speak this protocol version.
    #[error("the policy does not speak the protocol version asked for")]
    ProtocolVersion,
    /// A limit is zero.
    #[error("{option} must not be zero")]
    ZeroLimit {
        /// The option's name.
        option: &'static str,
    },
    /// A limit is larger than this machine, or a timer, can count.
    #[error("{option} is too large")]
    LimitTooLarge {
        /// The option's name.
        option: &'static str,
    },
}

/// Why an option is refused.
///
/// ```
/// use mcp_assay_client::Limits;
/// use mcp_assay_client::error::{Error, OptionFault};
///
/// let error = Limits::default().set("max_luck", 7).unwrap_err();
/// assert_eq!(error, Error::InvalidOption(OptionFault::Unknown));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionFault {
    /// The option is zero.
    #[error("{option} must not be zero")]
    Zero {
        /// The option's name.
        option: &'static str,
    },
    /// The option is larger than this machine, or a timer, can count.
    #[error("{option} is too large")]
    TooLarge {
        /// The option's name.
        option: &'static str,
    },
    /// No limit has the name that was given.
    #[error("no limit has that name")]
    Unknown,
}

/// Why a call's parameters are refused.
///
/// ```
/// use mcp_assay_client::Arguments;
/// use mcp_assay_client::error::{Error, RequestFault};
///
/// let error = Arguments::from_json("[1, 2]").unwrap_err();
/// assert_eq!(error, Error::InvalidRequest(RequestFault::ArgumentsNotObject));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestFault {
    /// The arguments are not a JSON object.
    #[error("the arguments must be a JSON object")]
    ArgumentsNotObject,
    /// The tool's name is empty.
    #[error("the tool's name must not be empty")]
    EmptyToolName,
}

/// Why a session header is refused.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::error::{Error, SessionFault};
///
/// # let headers = "content-type: application/json\r\nmcp-session-id: \r\n";
/// # let server = Server::default().answer("initialize", 200, headers, "{}");
/// // The server issues an empty session id.
/// let error = server.client().await.unwrap_err();
/// assert_eq!(error, Error::InvalidSessionId(SessionFault::Empty));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionFault {
    /// The value is empty.
    #[error("it is empty")]
    Empty,
    /// The value is longer than `max_session_bytes`.
    #[error("it has {actual} bytes, {limit} are allowed")]
    TooLong {
        /// `max_session_bytes`.
        limit: usize,
        /// Bytes it has.
        actual: usize,
    },
    /// A byte is outside 0x21 to 0x7E.
    #[error("it has a byte outside 0x21 to 0x7E at offset {offset}")]
    Byte {
        /// Offset in the value.
        offset: usize,
    },
    /// The header is there more than once.
    #[error("it is there more than once")]
    Repeated,
    /// A later response names another session.
    #[error("it differs from the session in use")]
    Changed,
    /// A later response of a stateless server brings a session.
    #[error("it came after a handshake without one")]
    Late,
}

/// Why an initialize result is refused.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::error::{Error, InitializeFault};
///
/// # let result = r#"{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"a","version":"1"}}"#;
/// # let server = Server::default().result("initialize", result);
/// // The server speaks an older revision.
/// let error = server.client().await.unwrap_err();
/// assert_eq!(error, Error::InvalidInitialize(InitializeFault::ProtocolVersion));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InitializeFault {
    /// `protocolVersion` is not exactly the version asked for.
    #[error("protocolVersion is not the version asked for")]
    ProtocolVersion,
    /// `capabilities` is not an object.
    #[error("capabilities is not an object")]
    Capabilities,
    /// `serverInfo` is not an object with a string `name` and a string `version`.
    #[error("serverInfo is not an object with a name and a version")]
    ServerInfo,
}

/// Why a message is refused.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::error::{Error, JsonrpcFault};
///
/// # let headers = "content-type: application/json\r\n";
/// # let server = Server::default().answer("tools/list", 200, headers, r#"{"jsonrpc":"2.0",}"#);
/// # let client = server.client().await?;
/// // The server's JSON has a comma too many.
/// let error = client.list_tools().await.unwrap_err();
/// assert_eq!(error, Error::InvalidJsonrpc(JsonrpcFault::Syntax { offset: 17 }));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonrpcFault {
    /// The bytes are not UTF-8.
    #[error("not UTF-8 at byte {offset}")]
    Utf8 {
        /// Offset of the first byte that cannot be.
        offset: usize,
    },
    /// The text is not JSON.
    #[error("not JSON at byte {offset}")]
    Syntax {
        /// Offset of the first byte that cannot be; the length, if the text ends too early.
        offset: usize,
    },
    /// The message is an array: batches are not part of MCP since 2025-06-18.
    #[error("an array is not a message")]
    Batch,
    /// The message is neither an object nor an array.
    #[error("the message is not an object")]
    NotObject,
    /// `jsonrpc` is not the string `2.0`.
    #[error("jsonrpc is not \"2.0\"")]
    Version,
    /// The message is no request, notification or response, or several of them at once.
    #[error("method, result and error do not make one message")]
    Shape,
    /// `method` is not a string.
    #[error("method is not a string")]
    Method,
    /// A request's `id` is neither an integer nor a string.
    #[error("a request's id is neither an integer nor a string")]
    RequestId,
    /// `params` is not an object.
    #[error("params is not an object")]
    Params,
    /// `result` is not an object.
    #[error("result is not an object")]
    ResultNotObject,
    /// `error` lacks an integer `code` or a string `message`.
    #[error("error lacks an integer code or a string message")]
    ErrorObject,
}

/// Why a tool catalogue is refused.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::error::{Error, ToolsFault};
///
/// # let server = Server::default().result("tools/list", r#"{"tools":[{"name":"a"}]}"#);
/// # let client = server.client().await?;
/// // The server offers a tool without an inputSchema.
/// let error = client.list_tools().await.unwrap_err();
/// assert_eq!(error, Error::InvalidTools(ToolsFault::InputSchema { index: 0 }));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsFault {
    /// `tools` is not a list.
    #[error("tools is not a list")]
    NotList,
    /// An entry is not an object.
    #[error("tool {index} is not an object")]
    NotObject {
        /// Position in the list, from 0.
        index: usize,
    },
    /// A name is missing, empty or not a string.
    #[error("tool {index} has no name")]
    Name {
        /// Position in the list, from 0.
        index: usize,
    },
    /// A description is not a string.
    #[error("the description of tool {index} is not a string")]
    Description {
        /// Position in the list, from 0.
        index: usize,
    },
    /// An input schema is missing or not an object.
    #[error("tool {index} has no inputSchema")]
    InputSchema {
        /// Position in the list, from 0.
        index: usize,
    },
    /// Two tools have one name.
    #[error("tool {index} has the name of an earlier one")]
    DuplicateName {
        /// Position in the list, from 0.
        index: usize,
    },
}

/// What failed below HTTP semantics.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::error::{Effect, Error, TransportFault};
///
/// # let url = format!("http://{}/", tokio::net::TcpListener::bind("127.0.0.1:0").await?.local_addr()?);
/// // Nobody listens there.
/// let error = mcp_assay_client::Client::builder(url).connect().await.unwrap_err();
/// assert_eq!(error, Error::HttpTransport { fault: TransportFault::Connect, effect: Effect::NotSent });
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportFault {
    /// No connection could be made.
    #[error("no connection could be made")]
    Connect,
    /// The TLS handshake failed.
    #[error("the TLS handshake failed")]
    Tls,
    /// The server chose another protocol than HTTP/1.1.
    #[error("the server chose another protocol than http/1.1")]
    Alpn,
    /// The connection ended or broke inside the exchange.
    #[error("the connection ended inside the exchange")]
    Disconnected,
    /// The response head is malformed or leaves open where the body ends.
    #[error("the response head is malformed")]
    Head,
    /// The body's framing is malformed or ended too early.
    #[error("the response body's framing is broken")]
    Body,
}
