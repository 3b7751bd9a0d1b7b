//! A Model Context Protocol client over Streamable HTTP with hard bounds on time, memory and trust.

mod arguments;
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

pub use arguments::Arguments;
pub use endpoint::{Origin, Scheme};
pub use error::{Effect, Error};
pub use limits::Limits;
pub use policy::Policy;
pub use session::{State, Status};
