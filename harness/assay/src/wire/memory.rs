//! The memory wire: in-memory pipes on which it is certain what a cut does.
//!
//! Each write of the peer is one segment, and a read of the client never spans two. It takes no thread and no time:
//! on a current-thread runtime under a paused clock everything about it is deterministic.

mod connect;
mod pipe;

#[cfg(test)]
mod tests;

use crate::peer::{Cutter, Io, Peer};
use pipe::Pipe;
use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a reader sees between two segments.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Between {
    /// Nothing to read for one poll, then a wake-up: what two packets look like.
    #[default]
    Pending,
    /// The next segment at once: two packets that wait in the socket, read by short reads.
    Ready,
}

/// The memory wire of one variant: gives clients connections to its peer.
#[derive(Clone, Debug)]
pub struct MemoryWire {
    peer: Peer,
    between: Between,
}

impl MemoryWire {
    /// The URL of every peer on a memory wire. Its port is discard's: nothing would answer there.
    pub const URL: &'static str = "http://127.0.0.1:9/mcp";

    /// A wire to `peer`.
    #[must_use]
    pub fn new(peer: Peer) -> Self {
        Self { peer, between: Between::default() }
    }

    /// Sets what a reader sees between two segments.
    #[must_use]
    pub fn between(self, between: Between) -> Self {
        Self { between, ..self }
    }

    /// Connects to the peer, which serves the connection on a task of the current runtime.
    ///
    /// # Errors
    /// [`io::ErrorKind::ConnectionRefused`] once the peer is finished.
    pub fn open(&self) -> io::Result<Client> {
        if self.peer.is_finished() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (client, server) = pair(self.between);
        tokio::spawn(self.peer.serve(server, Segments));
        Ok(client)
    }
}

/// Two connected ends.
#[must_use]
pub fn pair(between: Between) -> (Client, Server) {
    let up = Arc::new(Mutex::new(Pipe::stream()));
    let down = Arc::new(Mutex::new(Pipe::segments(between)));
    let client = Client(End { reads: Arc::clone(&down), writes: Arc::clone(&up), reset: false });
    (client, Server(End { reads: up, writes: down, reset: false }))
}

/// The client's end. Dropped with bytes unread it resets the connection, as a socket does; else it ends the stream.
#[derive(Debug)]
pub struct Client(End);

/// The peer's end.
#[derive(Debug)]
pub struct Server(End);

impl Io for Server {
    fn reset(&mut self) {
        self.0.reset = true;
    }
}

/// On the memory wire every cut is one.
#[derive(Clone, Copy, Debug)]
struct Segments;

impl Cutter for Segments {
    fn settle(&mut self, _sent: u64) -> impl Future<Output = bool> + Send {
        ready(true)
    }
}

#[derive(Debug)]
struct End {
    reads: Arc<Mutex<Pipe>>,
    writes: Arc<Mutex<Pipe>>,
    reset: bool,
}

impl Drop for End {
    fn drop(&mut self) {
        let unread = pipe::lock(&self.reads).abandon();
        let mut writes = pipe::lock(&self.writes);
        if self.reset || unread { writes.reset() } else { writes.end() }
    }
}

/// Both ends read and write alike.
macro_rules! duplex {
    ($end:ident) => {
        impl AsyncRead for $end {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                into: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                pipe::lock(&self.0.reads).poll_read(cx, into)
            }
        }

        impl AsyncWrite for $end {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bytes: &[u8],
            ) -> Poll<io::Result<usize>> {
                pipe::lock(&self.0.writes).poll_write(cx, bytes)
            }

            fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                pipe::lock(&self.0.writes).end();
                Poll::Ready(Ok(()))
            }
        }
    };
}

duplex!(Client);
duplex!(Server);
