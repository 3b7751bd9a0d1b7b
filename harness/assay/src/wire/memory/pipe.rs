//! One direction of a memory wire.

use super::Between;
use bytes::{Buf as _, Bytes};
use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::ReadBuf;

/// From how many unread bytes on a writer waits, as with the buffers of a socket.
pub(super) const FULL: usize = 64 << 10;

/// Bytes on their way in one direction.
#[derive(Debug)]
pub(super) struct Pipe {
    segments: VecDeque<Bytes>,
    unread: usize,
    kind: Kind,
    state: State,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// A read takes as much as there is.
    Stream,
    /// A read takes from one write; `gap` is set while the reader still has to see nothing once.
    Segments { between: Between, gap: bool },
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Open,
    /// The writer has ended the stream.
    Ended,
    /// The writer has reset the connection.
    Reset,
    /// The reader is gone.
    Abandoned,
}

impl Pipe {
    pub(super) fn stream() -> Self {
        Self::new(Kind::Stream)
    }

    pub(super) fn segments(between: Between) -> Self {
        Self::new(Kind::Segments { between, gap: false })
    }

    fn new(kind: Kind) -> Self {
        Self { segments: VecDeque::new(), unread: 0, kind, state: State::Open, reader: None, writer: None }
    }

    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if into.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        if let Kind::Segments { gap: gap @ true, .. } = &mut self.kind {
            *gap = false;
            if self.segments.is_empty() && self.state == State::Open {
                self.reader = Some(cx.waker().clone());
            } else {
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        }
        if self.take(into) {
            if self.unread < FULL {
                wake(&mut self.writer);
            }
            return Poll::Ready(Ok(()));
        }
        match self.state {
            State::Ended => Poll::Ready(Ok(())),
            State::Reset => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            State::Open | State::Abandoned => {
                self.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Moves bytes as far as one read may; whether there were any.
    fn take(&mut self, into: &mut ReadBuf<'_>) -> bool {
        let mut any = false;
        while let Some(segment) = self.segments.front_mut().filter(|_| into.remaining() > 0) {
            let taken = segment.len().min(into.remaining());
            into.put_slice(&segment[..taken]);
            segment.advance(taken);
            self.unread -= taken;
            any = true;
            let whole = segment.is_empty();
            if whole {
                self.segments.pop_front();
            }
            if let Kind::Segments { between, gap } = &mut self.kind {
                *gap = whole && *between == Between::Pending;
                break;
            }
        }
        any
    }

    /// Takes all of `bytes` as one segment, however large, unless too much is unread already.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.state {
            State::Open if self.unread >= FULL => {
                self.writer = Some(cx.waker().clone());
                Poll::Pending
            }
            State::Open => {
                if !bytes.is_empty() {
                    self.segments.push_back(Bytes::copy_from_slice(bytes));
                    self.unread += bytes.len();
                    wake(&mut self.reader);
                }
                Poll::Ready(Ok(bytes.len()))
            }
            State::Ended | State::Reset | State::Abandoned => {
                Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
            }
        }
    }

    /// The writer ends the stream: the reader has what was written, then the end.
    pub(super) fn end(&mut self) {
        self.leave(State::Ended);
    }

    /// The writer resets the connection: the reader has what was written, then the error.
    pub(super) fn reset(&mut self) {
        self.leave(State::Reset);
    }

    /// The reader goes; whether it leaves bytes unread.
    pub(super) fn abandon(&mut self) -> bool {
        self.leave(State::Abandoned);
        let unread = self.unread > 0;
        self.segments.clear();
        self.unread = 0;
        unread
    }

    fn leave(&mut self, state: State) {
        // Of all ends only a stream's ordinary one can still turn into another: a reset.
        if self.state == State::Open || (self.state, state) == (State::Ended, State::Reset) {
            self.state = state;
        }
        wake(&mut self.reader);
        wake(&mut self.writer);
    }
}

/// The lock is held for a step of plain memory work, which leaves the pipe whole.
pub(super) fn lock(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
