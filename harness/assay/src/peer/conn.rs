//! One connection of the peer: everything it does, it does with an eye on the client's end.

use super::Io;
use super::desk::Desk;
use super::request::BUFFER_MAX;
use crate::timeline::Close;
use bytes::BytesMut;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::ReadBuf;
use tokio::time::timeout;

/// Why the peer stops what it does on a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Gone {
    /// The client closed its end.
    Client(Close),
    /// The variant is over.
    Finished,
}

/// How reading on went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Filled {
    /// There are more bytes.
    More,
    /// The buffer holds as much as any request may have.
    Full,
    /// Nothing more comes.
    Gone(Gone),
}

/// A connection and the bytes read from it that no request has taken yet.
pub(crate) struct Conn<I> {
    pub(crate) number: u32,
    pub(crate) buffer: BytesMut,
    /// Bytes written so far.
    pub(crate) sent: u64,
    io: I,
    desk: Desk,
    ended: Option<Close>,
    finished: Finished,
}

/// Resolves when the variant is over; `None` once it has.
type Finished = Option<Pin<Box<dyn Future<Output = ()> + Send>>>;

impl<I: Io> Conn<I> {
    pub(crate) fn new(io: I, number: u32, desk: &Desk) -> Self {
        let mut finished = desk.finished().subscribe();
        let finished: Finished = Some(Box::pin(async move {
            // A peer that is gone is over, too.
            let _ = finished.wait_for(|finished| *finished).await;
        }));
        Self { number, buffer: BytesMut::new(), sent: 0, io, desk: desk.clone(), ended: None, finished }
    }

    /// Reads on until there is more than before.
    pub(crate) async fn fill(&mut self) -> Filled {
        let before = self.buffer.len();
        poll_fn(|cx| {
            if before >= BUFFER_MAX {
                return Poll::Ready(Filled::Full);
            }
            let gone = self.poll_gone(cx);
            // What came before the end is looked at before the end.
            if self.buffer.len() > before {
                return Poll::Ready(Filled::More);
            }
            gone.map(Filled::Gone)
        })
        .await
    }

    /// Does something else while watching for the client's end, which wins.
    pub(crate) async fn watch<F: Future>(&mut self, doing: F) -> Result<F::Output, Gone> {
        let mut doing = pin!(doing);
        poll_fn(|cx| match self.poll_gone(cx) {
            Poll::Ready(gone) => Poll::Ready(Err(gone)),
            Poll::Pending => doing.as_mut().poll(cx).map(Ok),
        })
        .await
    }

    /// Whether the client's end has been seen by now.
    pub(crate) async fn gone_by_now(&mut self) -> Option<Gone> {
        self.watch(async {}).await.err()
    }

    /// Writes one piece; how much of it went out, and why no more.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> (usize, Result<(), Gone>) {
        let mut written = 0;
        while written < bytes.len() {
            let step = poll_fn(|cx| {
                if let Poll::Ready(gone) = self.poll_gone(cx) {
                    return Poll::Ready(Err(gone));
                }
                match ready!(Pin::new(&mut self.io).poll_write(cx, &bytes[written..])) {
                    Ok(len) if len > 0 => Poll::Ready(Ok(len)),
                    // Nothing can be written any more, and reading has not told why: the other side is gone.
                    Ok(_) | Err(_) => {
                        let close = *self.ended.get_or_insert(Close::Rst);
                        Poll::Ready(Err(Gone::Client(close)))
                    }
                }
            })
            .await;
            match step {
                Ok(len) => {
                    written += len;
                    self.sent += len as u64;
                }
                Err(gone) => return (written, Err(gone)),
            }
        }
        (written, Ok(()))
    }

    /// Ends the stream, then takes and drops what the client still sends until it closes its end, too: a socket
    /// closed with bytes unread would be reset, which could take back what was written.
    pub(crate) async fn fin(mut self) {
        poll_fn(|cx| Pin::new(&mut self.io).poll_shutdown(cx)).await.unwrap_or_default();
        poll_fn(|cx| {
            loop {
                self.buffer.clear();
                let gone = self.poll_gone(cx);
                if gone.is_ready() || self.buffer.is_empty() {
                    return gone.map(|_| ());
                }
            }
        })
        .await;
    }

    /// Holds back what is written from now on until [`Conn::fin`].
    pub(crate) fn hold_for_end(&mut self) {
        self.io.hold_for_end();
    }

    /// Whether the client sends on within this time.
    pub(crate) async fn sends_within(&mut self, time: Duration) -> Result<bool, Gone> {
        let before = self.buffer.len();
        match timeout(time, self.fill()).await {
            Ok(Filled::Gone(gone)) => Err(gone),
            Ok(Filled::More | Filled::Full) => Ok(true),
            Err(_) => Ok(before > 0),
        }
    }

    /// Resets the connection.
    pub(crate) fn rst(mut self) {
        self.io.reset();
    }

    /// Reads as far as possible; ready once the client's end was seen or the variant is over.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Gone> {
        while self.ended.is_none() && self.buffer.len() < BUFFER_MAX {
            match self.poll_read(cx) {
                Poll::Ready(Ok(0)) => self.ended = Some(Close::Fin),
                // Without room for more the variant is over.
                Poll::Ready(Ok(len)) if !self.desk.came(len) => break,
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(_)) => self.ended = Some(Close::Rst),
                Poll::Pending => break,
            }
        }
        if let Some(close) = self.ended {
            return Poll::Ready(Gone::Client(close));
        }
        if let Some(finished) = &mut self.finished {
            ready!(finished.as_mut().poll(cx));
            self.finished = None;
        }
        Poll::Ready(Gone::Finished)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut space = [0; 4096];
        let mut space = ReadBuf::new(&mut space);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut space))?;
        self.buffer.extend_from_slice(space.filled());
        Poll::Ready(Ok(space.filled().len()))
    }
}
