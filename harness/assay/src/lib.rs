//! A conformance and interoperability harness for MCP clients over Streamable HTTP.

pub mod case;
pub mod clauses;
pub mod coverage;
pub mod exit;
pub mod report;
pub mod exchange;
pub mod judge;
pub mod returned;
pub mod revision;
pub mod source;
pub mod timeline;
mod tokens;
pub mod variant;
pub mod verdict;
