//! A conformance and interoperability harness for MCP clients over Streamable HTTP.

pub mod case;
pub mod catalogue;
pub mod clauses;
pub mod coverage;
mod document;
pub mod exchange;
pub mod exit;
pub mod judge;
mod near;
pub mod peer;
pub mod plan;
pub mod profile;
pub mod receipt;
pub mod render;
pub mod report;
pub mod returned;
pub mod revision;
pub mod schema;
pub mod sdk;
pub mod select;
pub mod source;
pub mod timeline;
mod tokens;
pub mod variant;
pub mod verdict;
pub mod wire;
