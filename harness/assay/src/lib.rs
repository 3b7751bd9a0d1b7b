//! A conformance and interoperability harness for MCP clients over Streamable HTTP.

pub mod source;
