//! A conformance and interoperability harness for MCP clients over Streamable HTTP.

pub mod case;
pub mod catalogue;
pub mod clauses;
mod document;
mod near;
pub mod plan;
pub mod profile;
pub mod returned;
pub mod revision;
pub mod schema;
pub mod select;
pub mod source;
pub mod timeline;
pub mod variant;
pub mod verdict;
