//! The TCP wire: real sockets on 127.0.0.1, with cuts that are proven where the system tells.
//!
//! A listener belongs to a job for all its variants: one bound for each would soon meet its predecessors' ports.

#[cfg(test)]
mod tests;

use super::sockdiag::{SockDiag, Taken};
use crate::peer::{Cutter, Io, Peer};
use crate::tap::Tap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, sleep};

/// How long the peer waits at most for the client to have taken what was sent.
pub const PROOF_MAX: Duration = Duration::from_millis(200);

/// How long a client in another process may take to send on after it has taken a whole reply.
const GRACE: Duration = Duration::from_millis(20);

/// How long it waits where nothing can be asked.
const BLIND: Duration = Duration::from_millis(1);

/// How often it asks at once before it asks every millisecond. A client in another process needs the processor that the
/// asking takes.
const QUICK: u32 = 64;

/// What can have a slot: it takes connections until it is finished.
pub trait Host: Clone + Send + Sync + 'static {
    /// Serves one connection to its end. It is accepted from the moment of the call.
    fn serve<C: Cutter>(&self, stream: TcpStream, cutter: C) -> impl Future<Output = ()> + Send + 'static;

    /// Closes every connection, and waits until all of them have ended.
    fn finish(&self) -> impl Future<Output = ()> + Send;
}

impl Host for Peer {
    fn serve<C: Cutter>(&self, stream: TcpStream, cutter: C) -> impl Future<Output = ()> + Send + 'static {
        Self::serve(self, stream, cutter)
    }

    async fn finish(&self) {
        Self::finish(self).await;
    }
}

impl Host for Tap {
    fn serve<C: Cutter>(&self, stream: TcpStream, cutter: C) -> impl Future<Output = ()> + Send + 'static {
        Self::serve(self, stream, cutter)
    }

    async fn finish(&self) {
        Self::finish(self).await;
    }
}

/// One listener, lent to one variant at a time.
#[derive(Debug)]
pub struct TcpSlot {
    listener: std::net::TcpListener,
    address: SocketAddrV4,
    url: String,
    diag: Option<Arc<SockDiag>>,
    strays: u64,
    grace: Option<Duration>,
}

impl TcpSlot {
    /// Binds a free port of 127.0.0.1.
    ///
    /// # Errors
    /// No port or no socket left.
    pub fn bind() -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = match listener.local_addr()? {
            SocketAddr::V4(address) => address,
            SocketAddr::V6(_) => return Err(io::ErrorKind::AddrNotAvailable.into()),
        };
        let diag = SockDiag::open().map(Arc::new);
        Ok(Self { listener, address, url: format!("http://{address}/mcp"), diag, strays: 0, grace: None })
    }

    /// Says whether the clients to come run beside the peer, in processes of their own.
    pub fn clients_apart(&mut self, apart: bool) {
        self.grace = apart.then_some(GRACE);
    }

    /// The URL of the peer that has the slot.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lends the slot to a peer: from now on it is served every connection, on tasks of the current runtime, until
    /// [`Loan::end`].
    ///
    /// # Errors
    /// No socket left.
    pub fn lend<H: Host>(&mut self, peer: H) -> io::Result<Loan<'_, H>> {
        self.turn_away();
        let listener = TcpListener::from_std(self.listener.try_clone()?)?;
        let accepting =
            tokio::spawn(accept(listener, peer.clone(), self.address, self.diag.clone(), self.grace));
        Ok(Loan { slot: self, peer, accepting })
    }

    /// How many connections have come since the last call while nobody had the slot. They were closed unread, and
    /// count against the variant before.
    pub fn take_strays(&mut self) -> u64 {
        self.turn_away();
        std::mem::take(&mut self.strays)
    }

    fn turn_away(&mut self) {
        while self.listener.accept().is_ok() {
            self.strays += 1;
        }
    }
}

/// A slot in the hands of one variant.
#[derive(Debug)]
pub struct Loan<'a, H> {
    slot: &'a mut TcpSlot,
    peer: H,
    accepting: JoinHandle<()>,
}

impl<H: Host> Loan<'_, H> {
    /// The URL of the peer.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.slot.url
    }

    /// Stops accepting, [finishes](Host::finish) the peer, and returns once all its sockets are closed.
    pub async fn end(mut self) {
        self.accepting.abort();
        // It ends by being aborted; how is of no interest.
        let _ = (&mut self.accepting).await;
        self.peer.finish().await;
        self.slot.turn_away();
    }
}

impl<H> Drop for Loan<'_, H> {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept<H: Host>(
    listener: TcpListener,
    peer: H,
    address: SocketAddrV4,
    diag: Option<Arc<SockDiag>>,
    grace: Option<Duration>,
) {
    loop {
        match listener.accept().await {
            Ok((stream, SocketAddr::V4(client))) => {
                // Without it a cut might wait for an acknowledgement; a socket too dead for it will show that soon.
                let _ = stream.set_nodelay(true);
                let cutter = Proof { diag: diag.clone(), client, peer: address, grace };
                tokio::spawn(peer.serve(stream, cutter));
            }
            Ok(_) => {}
            // Out of sockets, or the connection is gone already.
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}

impl Io for TcpStream {
    fn reset(&mut self) {
        // A socket that refuses is closed already.
        let _ = self.set_zero_linger();
    }

    #[cfg(target_os = "linux")]
    fn hold_for_end(&mut self) {
        // Else bytes and end arrive one after the other, as they would elsewhere.
        let _ = rustix::net::sockopt::set_tcp_cork(&*self, true);
    }
}

/// Proves cuts of one connection.
#[derive(Debug)]
struct Proof {
    diag: Option<Arc<SockDiag>>,
    client: SocketAddrV4,
    peer: SocketAddrV4,
    grace: Option<Duration>,
}

impl Cutter for Proof {
    fn grace(&self) -> Option<Duration> {
        self.grace
    }

    async fn settle(&mut self, sent: u64) -> bool {
        let start = Instant::now();
        let mut asked = 0;
        // A client on this thread reads in this pause; asked before it, the answer would always be no.
        yield_now().await;
        while let Some(diag) = &self.diag {
            match diag.taken(self.client, self.peer, sent) {
                Taken::All => return true,
                Taken::NotYet if start.elapsed() >= PROOF_MAX => return false,
                Taken::NotYet if self.grace.is_none() && asked < QUICK => yield_now().await,
                Taken::NotYet => sleep(BLIND).await,
                Taken::Unknown => break,
            }
            asked += 1;
        }
        sleep(BLIND).await;
        false
    }
}
