//! A Model Context Protocol client over Streamable HTTP with hard bounds on time, memory and trust.

pub mod error;
mod fault;
pub mod limits;
pub mod policy;

pub use error::{Effect, Error};
pub use limits::Limits;
pub use policy::Policy;
