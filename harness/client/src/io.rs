//! The adapter between hyper and a byte stream: what hyper reads and writes passes here and is looked at.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connect::Io;
use crate::error::Effect;
use crate::head::{HeadFault, HeadReader};

/// Bytes one read takes from the stream at most.
pub(crate) const READ_BYTES: usize = 8_192;

/// Whether any byte of a request has been handed to the stream: from then on the server may have seen it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departure(Arc<AtomicBool>);

impl Departure {
    /// True once a byte has left.
    pub(crate) fn has_left(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// What a failure without an answer says about the request.
    pub(crate) fn effect(&self) -> Effect {
        if self.has_left() { Effect::Uncertain } else { Effect::NotSent }
    }
}

/// What the exchange asks of the adapter while hyper owns it.
#[derive(Clone, Debug)]
pub(crate) struct Gauge(Arc<Mutex<Measures>>);

#[derive(Debug)]
struct Measures {
    head: HeadReader,
    fault: Option<HeadFault>,
    departure: Departure,
    frozen: bool,
}

impl Gauge {
    pub(crate) fn new(max_header_bytes: usize) -> Self {
        Self(Arc::new(Mutex::new(Measures {
            head: HeadReader::new(max_header_bytes),
            fault: None,
            departure: Departure::default(),
            frozen: false,
        })))
    }

    /// Starts to measure the next request and its response.
    pub(crate) fn begin(&self, departure: Departure) {
        let mut measures = self.lock();
        measures.head.restart();
        measures.departure = departure;
    }

    /// What was wrong with a head, if something was.
    pub(crate) fn fault(&self) -> Option<HeadFault> {
        self.lock().fault
    }

    /// While frozen, nothing more is taken from the stream.
    pub(crate) fn freeze(&self, frozen: bool) {
        self.lock().frozen = frozen;
    }

    fn lock(&self) -> MutexGuard<'_, Measures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A byte stream as hyper wants it, measured.
pub(crate) struct Wire {
    io: Box<dyn Io>,
    gauge: Gauge,
    scratch: Box<[u8]>,
}

impl Wire {
    pub(crate) fn new(io: Box<dyn Io>, gauge: Gauge) -> Self {
        Self { io, gauge, scratch: vec![0; READ_BYTES].into_boxed_slice() }
    }

    /// Notes that `result` bytes of the request have left.
    fn written(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(result, Poll::Ready(Ok(n)) if n > 0) {
            self.gauge.lock().departure.0.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let mut measures = this.gauge.lock();
        if measures.frozen {
            // No waker is kept: whoever freezes polls again after the thaw.
            return Poll::Pending;
        }
        let room = buf.remaining().min(this.scratch.len());
        let (scratch, _) = this.scratch.split_at_mut(room);
        let mut read = ReadBuf::new(scratch);
        ready!(AsyncRead::poll_read(Pin::new(&mut this.io), cx, &mut read))?;
        if let Err(fault) = measures.head.read(read.filled()) {
            measures.fault = Some(fault);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "response head refused")));
        }
        buf.put_slice(read.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = AsyncWrite::poll_write(Pin::new(&mut this.io), cx, buf);
        this.written(result)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_flush(Pin::new(&mut self.get_mut().io), cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_shutdown(Pin::new(&mut self.get_mut().io), cx)
    }

    /// Always true: hyper then queues the body beside the head instead of copying it.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = AsyncWrite::poll_write_vectored(Pin::new(&mut this.io), cx, bufs);
        this.written(result)
    }
}
