//! A conformance and interoperability harness for MCP clients over Streamable HTTP.

pub mod case;
pub mod receipt;
pub mod returned;
pub mod revision;
pub mod timeline;
pub mod variant;
pub mod verdict;
