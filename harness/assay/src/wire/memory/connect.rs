//! The one place where the wire knows the built-in client: its connector.

use super::MemoryWire;
use mcp_assay_client::{Connect, ConnectFuture, Io, Origin};

impl Connect for MemoryWire {
    /// Every origin is this wire's peer.
    fn connect(&self, _origin: &Origin) -> ConnectFuture {
        let opened = self.open();
        Box::pin(async move { opened.map(|client| Box::new(client) as Box<dyn Io>) })
    }
}
