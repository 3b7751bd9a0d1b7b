//! A Model Context Protocol client over Streamable HTTP with hard bounds on time, memory and trust.
#![expect(dead_code, unused_imports, reason = "the engine that calls the IO-free modules is not here yet")]

mod arguments;
mod catalogue;
mod content;
pub(crate) mod control;
pub(crate) mod endpoint;
pub mod error;
mod fault;
pub(crate) mod headers;
pub(crate) mod initialize;
mod json;
pub(crate) mod jsonrpc;
pub mod limits;
pub mod policy;
pub(crate) mod response;
mod session;
pub mod sse;

pub use arguments::Arguments;
pub use catalogue::Tool;
pub use content::ToolOutput;
pub use endpoint::{Origin, Scheme};
pub use error::{Effect, Error};
pub use limits::Limits;
pub use policy::Policy;
pub use session::{State, Status};
