//! The connections of one generation: how many there may be, which wait to be used again, who gets the next.
//!
//! A connection is used again only after a response that was read to its end and left nothing behind. While it waits
//! it is watched, so that a peer's close or an unasked byte retires it at once; before it is handed out the runtime gets one
//! turn to notice what has arrived. What remains is the time a close needs to travel: a request written into it fails
//! with an uncertain effect and is never written again.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;

use crate::connect::{Connect, Io};
use crate::endpoint::Origin;
use crate::error::Error;
use crate::habit::{Habit, habit};
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
            .title_case_headers(habit(Habit::TitleCaseHeaders))
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
    /// Boxed: it moves with every step of a request.
    pub(crate) connection: Box<Connection>,
    /// Where it waited before, if it did.
    berth: Option<Berth>,
    _permit: OwnedSemaphorePermit,
}

/// At most `max_connections` connections to one origin.
pub(crate) struct Pool {
    connector: Arc<dyn Connect>,
    origin: Origin,
    max_header_bytes: usize,
    permits: Arc<Semaphore>,
    /// None once the pool is closed.
    idle: Mutex<Option<Vec<Berth>>>,
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
        while let Some(berth) = self.pop() {
            let Some(mut connection) = berth.leave() else { continue };
            // The runtime looks at its sockets before this task runs again.
            yield_now().await;
            if poll_fn(|cx| Poll::Ready(connection.is_idle(cx))).await {
                return Ok(Lease { connection, berth: Some(berth), _permit: permit });
            }
        }
        let io = self.connector.connect(&self.origin).await?;
        let connection = Box::new(Connection::open(io, self.max_header_bytes).await?);
        Ok(Lease { connection, berth: None, _permit: permit })
    }

    /// Keeps a connection for the next request if it is fit for one, else closes it.
    pub(crate) async fn give_back(&self, lease: Lease) {
        let Lease { mut connection, berth, _permit } = lease;
        if habit(Habit::ConnectionEach) || !poll_fn(|cx| Poll::Ready(connection.is_idle(cx))).await {
            return;
        }
        if let Some(idle) = lock(&self.idle).as_mut() {
            let berth = berth.unwrap_or_else(Berth::watched);
            berth.moor(connection);
            idle.push(berth);
        }
    }

    /// Closes every idle connection, and from now on each one that is given back.
    pub(crate) fn close(&self) {
        *lock(&self.idle) = None;
    }

    fn pop(&self) -> Option<Berth> {
        lock(&self.idle).as_mut().and_then(Vec::pop)
    }
}

/// Where a connection waits between two requests, in the sight of its watcher. Dropped, it closes the connection.
///
/// The watcher is a task that lives as long as the berth; a request takes the connection and brings it back without
/// waking it.
struct Berth(Arc<Mutex<Moored>>);

#[derive(Default)]
struct Moored {
    connection: Option<Box<Connection>>,
    watcher: Option<Waker>,
    abandoned: bool,
}

impl Berth {
    /// An empty berth with a watcher.
    fn watched() -> Self {
        let moored = Arc::new(Mutex::new(Moored::default()));
        let watched = moored.clone();
        tokio::spawn(poll_fn(move |cx| lock(&watched).poll_watch(cx)));
        Self(moored)
    }

    /// Lets a connection wait here.
    fn moor(&self, connection: Box<Connection>) {
        let mut moored = lock(&self.0);
        moored.connection = Some(connection);
        // A watcher that has not run yet will look by itself.
        if let Some(watcher) = moored.watcher.clone() {
            moored.look(&mut Context::from_waker(&watcher));
        }
    }

    /// Takes the connection, unless it has ended.
    fn leave(&self) -> Option<Box<Connection>> {
        lock(&self.0).connection.take()
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        let mut moored = lock(&self.0);
        moored.abandoned = true;
        moored.connection = None;
        let watcher = moored.watcher.take();
        drop(moored);
        if let Some(watcher) = watcher {
            watcher.wake();
        }
    }
}

impl Moored {
    /// Ready once there is nothing more to watch.
    fn poll_watch(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.abandoned {
            return Poll::Ready(());
        }
        if !self.watcher.as_ref().is_some_and(|watcher| watcher.will_wake(cx.waker())) {
            self.watcher = Some(cx.waker().clone());
        }
        self.look(cx);
        Poll::Pending
    }

    /// Drives the connection, and closes it if it has ended; else whatever comes on it wakes the watcher.
    fn look(&mut self, cx: &mut Context<'_>) {
        if self.connection.as_mut().is_some_and(|connection| connection.poll_drive(cx).is_ready()) {
            self.connection = None;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
