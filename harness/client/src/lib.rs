//! A Model Context Protocol client over Streamable HTTP with hard bounds on time, memory and trust.
