//! The connections of one generation: how many there may be, which wait to be used again, who gets the next.
//!
//! A connection is used again only after a response that was read to its end and left nothing behind. While it waits
//! it is watched, so that a peer's close or an unasked byte retires it at once; before it is handed out the runtime gets one
//! turn to notice what has arrived. What remains is the time a close needs to travel: a request written into it fails
//! with an uncertain effect and is never written again.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::connect::{Connect, Io};
use crate::endpoint::Origin;
use crate::error::Error;
use crate::head::{LINE_ALLOWANCE, MAX_HEADER_LINES, STATUS_ALLOWANCE};
use crate::io::{Gauge, Wire};

/// hyper's least read buffer.
const HYPER_FLOOR: usize = 8_192;

/// The size hyper's read buffer may reach: every head that [`crate::head::HeadReader`] lets pass fits.
pub(crate) fn read_buffer_bytes(max_header_bytes: usize) -> usize {
    max_header_bytes
        .saturating_add(LINE_ALLOWANCE * (MAX_HEADER_LINES as usize + 1))
        .saturating_add(STATUS_ALLOWANCE)
        .max(HYPER_FLOOR)
}

/// A connection as hyper drives it. Dropping it closes the socket.
pub(crate) struct Connection {
    pub(crate) sender: http1::SendRequest<Full<Bytes>>,
    driver: http1::Connection<Wire, Full<Bytes>>,
    pub(crate) gauge: Gauge,
    max_header_bytes: usize,
    over: bool,
}

impl Connection {
    async fn open(io: Box<dyn Io>, max_header_bytes: usize) -> io::Result<Self> {
        let gauge = Gauge::new(max_header_bytes);
        let (sender, driver) = http1::Builder::new()
            .max_headers(MAX_HEADER_LINES as usize)
            .max_buf_size(read_buffer_bytes(max_header_bytes))
            .handshake(Wire::new(io, gauge.clone()))
            .await
            .map_err(io::Error::other)?;
        Ok(Self { sender, driver, gauge, max_header_bytes, over: false })
    }

    /// The error of a response head that is too large.
    pub(crate) fn header_byte_limit(&self) -> Error {
        Error::HeaderByteLimit { limit: self.max_header_bytes }
    }

    /// Lets the connection read and write what it can; ready once it is over.
    pub(crate) fn poll_drive(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.over && Pin::new(&mut self.driver).poll(cx).is_ready() {
            self.over = true;
        }
        if self.over { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Whether another request may be written: the last exchange is over on both sides and nothing is left of it.
    fn is_idle(&mut self, cx: &mut Context<'_>) -> bool {
        self.poll_drive(cx).is_pending() && self.sender.is_ready()
    }
}

/// The right to one connection, and the connection.
pub(crate) struct Lease {
    pub(crate) connection: Connection,
    _permit: OwnedSemaphorePermit,
}

/// Asks the watcher of an idle connection for it.
type Claim = oneshot::Sender<oneshot::Sender<Connection>>;

/// At most `max_connections` connections to one origin.
pub(crate) struct Pool {
    connector: Arc<dyn Connect>,
    origin: Origin,
    max_header_bytes: usize,
    permits: Arc<Semaphore>,
    /// None once the pool is closed.
    idle: Mutex<Option<Vec<Claim>>>,
}

impl Pool {
    pub(crate) fn new(
        connector: Arc<dyn Connect>,
        origin: Origin,
        max_connections: usize,
        max_header_bytes: usize,
    ) -> Self {
        let permits = Arc::new(Semaphore::new(max_connections.min(Semaphore::MAX_PERMITS)));
        Self { connector, origin, max_header_bytes, permits, idle: Mutex::new(Some(Vec::new())) }
    }

    /// A connection nobody else uses: waits for the right to one in the order of asking, then takes the one used last or
    /// opens a new one.
    pub(crate) async fn lease(&self) -> io::Result<Lease> {
        let permit = self.permits.clone().acquire_owned().await.map_err(io::Error::other)?;
        while let Some(claim) = self.pop() {
            let (hand, taken) = oneshot::channel();
            if claim.send(hand).is_ok()
                && let Ok(connection) = taken.await
            {
                return Ok(Lease { connection, _permit: permit });
            }
        }
        let io = self.connector.connect(&self.origin).await?;
        let connection = Connection::open(io, self.max_header_bytes).await?;
        Ok(Lease { connection, _permit: permit })
    }

    /// Keeps a connection for the next request if it is fit for one, else closes it.
    pub(crate) async fn give_back(&self, lease: Lease) {
        let Lease { mut connection, _permit } = lease;
        if poll_fn(|cx| Poll::Ready(connection.is_idle(cx))).await {
            let (claim, claimed) = oneshot::channel();
            if let Some(idle) = self.lock().as_mut() {
                tokio::spawn(watch(connection, claimed));
                idle.push(claim);
            }
        }
    }

    /// Closes every idle connection, and from now on each one that is given back.
    pub(crate) fn close(&self) {
        *self.lock() = None;
    }

    fn pop(&self) -> Option<Claim> {
        self.lock().as_mut().and_then(Vec::pop)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Vec<Claim>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Holds an idle connection until it is claimed, ends, or the pool forgets it.
async fn watch(mut connection: Connection, claimed: oneshot::Receiver<oneshot::Sender<Connection>>) {
    let hand = tokio::select! {
        biased;
        () = poll_fn(|cx| connection.poll_drive(cx)) => return,
        claim = claimed => match claim {
            Ok(hand) => hand,
            Err(_) => return,
        },
    };
    // The runtime looks at its sockets before this task runs again.
    tokio::task::yield_now().await;
    if poll_fn(|cx| Poll::Ready(connection.is_idle(cx))).await {
        // A receiver that is gone hands the connection back here, where it is closed.
        drop(hand.send(connection));
    }
}
