//! A Model Context Protocol client over Streamable HTTP with hard bounds on time, memory and trust.
//!
//! Pick it for what it will not do: wait past a deadline, hold more than its options say, send anything twice, or repeat a
//! server's words in an error or a log.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_assay_client::{Arguments, CallOptions, Client, Limits};
//! use std::time::Duration;
//!
//! # let url = Server::default().listen().await?;
//! let client = Client::builder(url)
//!     .header("authorization", "Bearer token")
//!     .limits(Limits::default().timeout(Duration::from_secs(2)))
//!     .connect()
//!     .await?;
//! let options = CallOptions::new().timeout(Duration::from_millis(500));
//! let output = client.call_tool("echo", Arguments::from_json(r#"{"text":"hello"}"#)?, options).await?;
//! assert_eq!(output.text, "hello");
//! client.close().await?;
//! # Ok(()) }
//! ```
//!
//! # Time
//!
//! Each operation runs in a task of its own, which owns its deadline, its socket and its clean-up. The deadline holds
//! when nobody polls the future; progress renews nothing; waiting for a connection counts. Dropping the future gives the
//! operation up: the socket is closed and, for a call that has left, one `notifications/cancelled` is tried within
//! `control_timeout`. All time is tokio's.
//!
//! # Nothing is sent twice
//!
//! A request is written at most once, whatever fails. A connection is used again only after a response that was read
//! to its end and left nothing behind, and only if the peer has not closed it meanwhile as far as the runtime knows; if
//! its close crosses the request on the wire, the request fails with `http_transport_error` and [`Effect::Uncertain`]
//! ([`Effect::NotSent`] if not one byte was written). [`Error::effect`] answers the question for every error.
//!
//! # Memory
//!
//! Nothing a peer sends grows anything past [`Limits::memory_bound`], which states the formula. Response bodies are kept
//! as bytes; no tree is built of them. What the caller hands in, and results that wait for the caller, are the
//! caller's.
//!
//! # What a request is
//!
//! A POST with one JSON-RPC message, or the DELETE of a close, always with these headers in this order: `host`, `accept`,
//! `content-type`, from the handshake on `mcp-protocol-version` and, within a session, `mcp-session-id`, then the
//! configured ones, then `content-length`. There is no `accept-encoding` and no `user-agent`; a caller may configure them.
//! There are no redirects, no GET streams, no resumption, no cookies and no proxies.
//!
//! # What a response may be
//!
//! HTTP/1.1 by the letter. Refused as `http_transport_error`: a bare line feed or control byte in a head, white space
//! before a colon, folded lines, Transfer-Encoding beside Content-Length, several or malformed Content-Lengths, codings
//! other than `chunked`. Heads that pass the limits are `header_byte_limit`: names and values beyond `max_header_bytes`,
//! more than 256 lines, more than 16 interim responses, raw bytes beyond `max_header_bytes` + 4 a line + 512. The
//! outcome never depends on how the network cut the bytes. Bytes behind a framed body change no outcome; their connection
//! is closed.
//!
//! # Secrets
//!
//! No error, `Debug` or log event holds a header value, a session id, the URL's path or query, or a server's text; the
//! one server text an error can carry is behind [`Error::tool_text`]. Events go to `tracing` at DEBUG. The libraries
//! beneath tell nothing either: hyper and rustls are built without their logging features (a program that turns those
//! on itself gets what they log), and the platform's verifier, which logs why it refuses a certificate, is not asked
//! about one that bears another name.

mod alarm;
mod arguments;
mod builder;
mod call;
mod cancel;
mod catalogue;
mod client;
mod close;
mod connect;
mod content;
mod control;
mod dialogue;
mod endpoint;
mod engine;
pub mod error;
mod exchange;
mod fault;
mod generation;
mod habit;
mod handshake;
mod head;
mod headers;
mod initialize;
mod io;
mod json;
mod jsonrpc;
pub mod limits;
mod memory;
pub mod policy;
mod pool;
mod request;
mod response;
mod rule;
mod session;
pub mod sse;
mod stream;
#[cfg(feature = "mutants")]
pub mod switch;
mod tls;

pub use arguments::Arguments;
pub use builder::Builder;
pub use catalogue::Tool;
pub use client::{CallOptions, Client};
pub use connect::{Connect, ConnectFuture, Io, NetConnector};
pub use content::ToolOutput;
pub use endpoint::{Origin, Scheme};
pub use error::{Effect, Error};
pub use limits::Limits;
pub use policy::Policy;
pub use session::{State, Status};
pub use tls::{TlsConnector, TlsConnectorBuilder};
