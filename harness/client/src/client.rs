//! The handle of a client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::arguments::Arguments;
use crate::builder::Builder;
use crate::call::{call, get};
use crate::catalogue::{self, Tool};
use crate::close::close;
use crate::content::{self, ToolOutput};
use crate::engine::Engine;
use crate::error::Error;
use crate::handshake::handshake;
use crate::jsonrpc;
use crate::rule::{Rule, rule};
use crate::session::Status;

/// A connection to one MCP server: cheap to clone, safe to share, usable from any task.
///
/// It needs a tokio runtime with IO and time enabled. Every operation runs in a task of its own: its deadline holds
/// even if its future is not polled, and dropping its future gives the operation up. Nothing is ever sent twice: after
/// an error, [`Error::effect`] tells whether the server may have acted.
///
/// When the last handle is dropped the client ends: tasks stop, sockets close, pending operations fail with
/// `closed`, and no DELETE is promised. [`Client::close`] ends it politely.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::{Client, State};
///
/// # let server = Server::default();
/// let client = Client::builder("http://localhost:8080/mcp")
/// #   .connector(server)
///     .connect()
///     .await?;
/// let other = client.clone();
/// let listing = tokio::spawn(async move { other.list_tools().await });
/// assert_eq!(listing.await??.len(), 1);
/// client.close().await?;
/// assert_eq!(client.status().state, State::Closed);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client {
    owner: Arc<Owner>,
}

/// Ends the engine when the last handle goes.
struct Owner {
    engine: Arc<Engine>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if rule(Rule::LastHandleEnds) && rule(Rule::HandshakeCanBeDropped) {
            self.engine.end();
        }
    }
}

/// How one call differs from the others.
///
/// ```
/// use mcp_assay_client::CallOptions;
/// use std::time::Duration;
///
/// let hurried = CallOptions::new().timeout(Duration::from_millis(500));
/// assert_ne!(hurried, CallOptions::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    timeout: Option<Duration>,
}

impl CallOptions {
    /// No difference.
    ///
    /// ```
    /// use mcp_assay_client::CallOptions;
    ///
    /// assert_eq!(CallOptions::new(), CallOptions::default());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The time this call has, instead of [`Limits::timeout`](crate::Limits#structfield.timeout). It starts with the
    /// call's admission; waiting for a connection counts, progress renews nothing. Zero times out at once, unsent; at most
    /// [`MAX_TIMEOUT`](crate::limits::MAX_TIMEOUT) is used.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Arguments, CallOptions, Effect};
    /// use std::time::Duration;
    ///
    /// # let client = Server::default().client().await?;
    /// let options = CallOptions::new().timeout(Duration::ZERO);
    /// let error = client.call_tool("echo", Arguments::empty(), options).await.unwrap_err();
    /// assert_eq!((error.kind(), error.effect()), ("timeout", Effect::NotSent));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout.min(crate::limits::MAX_TIMEOUT));
        self
    }
}

impl Client {
    /// Prepares a client for the server at `url`: `http` or `https`, at most 8 192 bytes, without user info and
    /// fragment. Nothing is checked and nothing is sent before [`Builder::connect`].
    ///
    /// What is no text is no URL:
    ///
    /// ```compile_fail
    /// // Row EX-CFG-11.
    /// mcp_assay_client::Client::builder(7);
    /// ```
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::Client;
    ///
    /// # let server = Server::default();
    /// let client = Client::builder("http://localhost:8080/mcp?tenant=a")
    /// #   .connector(server.clone())
    ///     .connect()
    ///     .await?;
    /// assert!(server.heard("POST /mcp?tenant=a HTTP/1.1\r\n"));
    /// # Ok(()) }
    /// ```
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder::new(url.into())
    }

    pub(crate) async fn connect(engine: Arc<Engine>) -> Result<Self, Error> {
        let client = Self { owner: Arc::new(Owner { engine }) };
        client.reconnect().await?;
        Ok(client)
    }

    /// The server's tools, in its order. One page of at most `max_tools` tools; `inputSchema` is kept whole and no
    /// `$ref` in it is followed.
    ///
    /// # Errors
    ///
    /// `pagination_unsupported`, `discovery_limit`, `invalid_tools` (rows EX-TL-01 to EX-TL-07), and what any request may
    /// meet: see [`Error`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = Server::default().client().await?;
    /// let names: Vec<String> = client.list_tools().await?.into_iter().map(|tool| tool.name).collect();
    /// assert_eq!(names, ["echo"]);
    /// # Ok(()) }
    /// ```
    pub async fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        let encode = jsonrpc::list_tools;
        let tools = call(&self.owner.engine, encode, None, |result, config| {
            catalogue::read(result, config.policy.pages, config.limits.max_tools)
        })
        .await?;
        if !rule(Rule::ReferencesAreLeft) && tools.iter().any(|tool| tool.input_schema.get().contains("$ref"))
        {
            get(&self.owner.engine).await;
        }
        Ok(tools)
    }

    /// Calls a tool and returns its text.
    ///
    /// # Errors
    ///
    /// `invalid_request` for an empty name; `tool_error` when the tool itself failed, with
    /// its text behind [`Error::tool_text`]; `unsupported_tool_content`, `invalid_tool_result` (rows EX-TR-01 to EX-TR-06);
    /// and what any request may meet: see [`Error`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Arguments, CallOptions};
    ///
    /// # let client = Server::default().client().await?;
    /// let arguments = Arguments::from_json(r#"{"text":"hello"}"#)?;
    /// let output = client.call_tool("echo", arguments, CallOptions::new()).await?;
    /// assert_eq!(output.text, "hello");
    /// # Ok(()) }
    /// ```
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Into<Arguments>,
        options: CallOptions,
    ) -> Result<ToolOutput, Error> {
        let arguments = arguments.into();
        let encode = |id, limit| jsonrpc::call_tool(id, name, &arguments, limit);
        call(&self.owner.engine, encode, options.timeout, |result, config| {
            content::read(result, config.policy.content)
        })
        .await
    }

    /// Makes a new session after `session_expired`, by a handshake of its own. Nothing of the old session is sent again.
    ///
    /// # Errors
    ///
    /// `not_available` while the session is ready, `busy` while a handshake is running, `closed` after
    /// [`Client::close`]; and what a handshake may meet. After an error the client can try again.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::default().answer("tools/list", 404, "", "");
    /// # let client = server.client().await?;
    /// // The server has forgotten the session.
    /// let error = client.list_tools().await.unwrap_err();
    /// assert_eq!(error.kind(), "session_expired");
    /// client.reconnect().await?;
    /// assert_eq!(client.status().generation, 2);
    /// # Ok(()) }
    /// ```
    pub async fn reconnect(&self) -> Result<(), Error> {
        handshake(&self.owner.engine).await
    }

    /// Ends the client: pending operations fail with `closed`, their sockets are closed without any cancellation, and a
    /// session is deleted within `control_timeout`. After it every operation fails with `closed`.
    ///
    /// # Errors
    ///
    /// `closed` if it was closed before; what came of the DELETE (rows EX-CL-01 to EX-CL-06). The client has ended
    /// in any case.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::default();
    /// # let client = server.client().await?;
    /// client.close().await?;
    /// assert!(server.heard("DELETE /mcp HTTP/1.1\r\n"));
    /// assert_eq!(client.list_tools().await.unwrap_err().kind(), "closed");
    /// # Ok(()) }
    /// ```
    pub async fn close(&self) -> Result<(), Error> {
        close(&self.owner.engine).await
    }

    /// A look at the client's standing. It holds no secret.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::State;
    ///
    /// # let client = Server::default().client().await?;
    /// let status = client.status();
    /// assert_eq!((status.state, status.pending, status.has_session), (State::Ready, 0, true));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn status(&self) -> Status {
        self.owner.engine.status()
    }

    /// The protocol version in use, such as `2025-06-18`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = Server::default().client().await?;
    /// assert_eq!(client.protocol_version(), "2025-06-18");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn protocol_version(&self) -> &str {
        self.owner.engine.config.version
    }
}

/// Shows the [`Status`] and nothing of the configuration.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("status", &self.status()).finish_non_exhaustive()
    }
}
