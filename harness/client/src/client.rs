//! The handle of a client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::arguments::Arguments;
use crate::builder::Builder;
use crate::call::call;
use crate::catalogue::{self, Tool};
use crate::close::close;
use crate::content::{self, ToolOutput};
use crate::engine::Engine;
use crate::error::Error;
use crate::handshake::handshake;
use crate::jsonrpc;
use crate::session::Status;

/// A connection to one MCP server: cheap to clone, safe to share, usable from any task.
///
/// It needs a tokio runtime with IO and time enabled. Every operation runs in a task of its own: its deadline holds
/// even if its future is not polled, and dropping its future gives the operation up. Nothing is ever sent twice: after
/// an error, [`Error::effect`] tells whether the server may have acted.
///
/// When the last handle is dropped the client ends: tasks stop, sockets close, pending operations fail with
/// `closed`, and no DELETE is promised. [`Client::close`] ends it politely.
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
        self.engine.end();
    }
}

/// How one call differs from the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    timeout: Option<Duration>,
}

impl CallOptions {
    /// No difference.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The time this call has, instead of [`Limits::timeout`](crate::Limits#structfield.timeout). It starts with the
    /// call's admission; waiting for a connection counts, progress renews nothing. Zero times out at once, unsent; at most
    /// [`MAX_TIMEOUT`](crate::limits::MAX_TIMEOUT) is used.
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
    pub async fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        let encode = jsonrpc::list_tools;
        call(&self.owner.engine, encode, None, |result, config| {
            catalogue::read(result, config.policy.pages, config.limits.max_tools)
        })
        .await
    }

    /// Calls a tool and returns its text.
    ///
    /// # Errors
    ///
    /// `invalid_request` for an empty name; `tool_error` when the tool itself failed, with
    /// its text behind [`Error::tool_text`]; `unsupported_tool_content`, `invalid_tool_result` (rows EX-TR-01 to EX-TR-06);
    /// and what any request may meet: see [`Error`].
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
    pub async fn close(&self) -> Result<(), Error> {
        close(&self.owner.engine).await
    }

    /// A look at the client's standing. It holds no secret.
    #[must_use]
    pub fn status(&self) -> Status {
        self.owner.engine.status()
    }

    /// The protocol version in use, such as `2025-06-18`.
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
