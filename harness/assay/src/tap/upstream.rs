//! The tap's end of a connection to the server.

use crate::timeline::Close;
use bytes::BytesMut;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection to the server, and the bytes read from it that no answer has taken yet.
pub(super) struct Upstream {
    stream: TcpStream,
    pub(super) buffer: BytesMut,
    ended: Option<Close>,
}

impl Upstream {
    pub(super) async fn connect(server: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(server).await?;
        // Without it a request in two parts would wait for an acknowledgement.
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: BytesMut::new(), ended: None })
    }

    /// Sends a request. A server that takes no more of it may have answered already, so this tells nothing.
    pub(super) async fn send(&mut self, bytes: &[u8]) {
        let _refused = self.stream.write_all(bytes).await;
    }

    /// Waits for more bytes, or for the server's end.
    pub(super) async fn read(&mut self) -> Result<(), Close> {
        if let Some(close) = self.ended {
            return Err(close);
        }
        let close = match self.stream.read_buf(&mut self.buffer).await {
            Ok(0) => Close::Fin,
            Ok(_) => return Ok(()),
            Err(_) => Close::Rst,
        };
        self.ended = Some(close);
        Err(close)
    }
}
