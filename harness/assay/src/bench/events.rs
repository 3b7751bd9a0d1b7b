//! Decoding event streams: the client's decoder, with its limits and its UTF-8 check on, against two crates.
//!
//! Each reads the same slices of the same stream by the fastest way its public API has: no copies of the input, no
//! executor, no waker that does anything.

use super::clock::Began;
use super::ratio::{Contestant, Work};
use futures_util::stream::{self, Stream};
use mcp_assay_client::sse::{Decoder, SseLimits};
use std::convert::Infallible;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Bytes of data in each event.
const EVENT: usize = 1_024;

/// The least processor time of a round, in seconds. A few milliseconds tell of the caches before rather than of the
/// decoder.
const ROUND: f64 = 0.05;

/// A stream as a socket gives it.
pub(super) struct Input {
    bytes: Vec<u8>,
    /// Bytes a read gives.
    read: usize,
    events: usize,
}

impl Input {
    /// `events` notifications of 1 KiB, in reads of `read` bytes.
    pub(super) fn new(events: usize, read: usize) -> Self {
        let head = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":""#;
        let text = "The quick brown fox jumps over the lazy dog. ".repeat(EVENT / 40);
        let tail = r#""}}"#;
        let (text, _) = text.split_at(EVENT - head.len() - tail.len());
        let event = format!("data: {head}{text}{tail}\n\n");
        Self { bytes: event.repeat(events).into_bytes(), read, events }
    }

    fn reads(&self) -> std::slice::Chunks<'_, u8> {
        self.bytes.chunks(self.read)
    }

    /// Decodes the stream again and again, for as long as a clock can tell.
    fn measure(&self, decode: impl Fn() -> Result<usize, String>) -> Result<Work, String> {
        let began = Began::now();
        let mut bytes = 0.0;
        loop {
            let events = decode()?;
            if events != self.events {
                return Err(format!("expected {} events, saw {events}", self.events));
            }
            bytes += self.bytes.len() as f64;
            let seconds = began.elapsed();
            if seconds >= ROUND {
                return Ok(Work { units: bytes, seconds });
            }
        }
    }

    /// The client's decoder and its peers, the client's first.
    pub(super) fn contestants(&self) -> Vec<Contestant<'_>> {
        let sse_stream =
            || drain(sse_stream::SseByteStream::new(self.stream()), |event| event.data.is_some());
        let eventsource =
            || drain(eventsource_stream::EventStream::new(self.stream()), |event| !event.data.is_empty());
        vec![
            Contestant::new("mcp-assay-client sse::Decoder", || self.measure(|| self.ours())),
            Contestant::new("sse-stream SseByteStream", move || self.measure(sse_stream)),
            Contestant::new("eventsource-stream EventStream", move || self.measure(eventsource)),
        ]
    }

    fn stream(&self) -> impl Stream<Item = Result<&[u8], Infallible>> {
        stream::iter(self.reads().map(Ok))
    }

    fn ours(&self) -> Result<usize, String> {
        let limits = SseLimits { max_response_bytes: self.bytes.len(), ..SseLimits::default() };
        let mut decoder = Decoder::new(limits);
        let mut events = 0;
        for mut read in self.reads() {
            while let Some(event) = decoder.next(&mut read).map_err(|e| e.to_string())? {
                black_box(event.data);
                events += 1;
            }
        }
        decoder.finish().map_err(|e| e.to_string())?;
        Ok(events)
    }
}

/// Counts the events of a stream that is always ready.
fn drain<T, E: std::fmt::Debug>(
    stream: impl Stream<Item = Result<T, E>>,
    has_data: impl Fn(&T) -> bool,
) -> Result<usize, String> {
    let mut stream = pin!(stream);
    let mut context = Context::from_waker(Waker::noop());
    let mut events = 0;
    loop {
        match stream.as_mut().poll_next(&mut context) {
            Poll::Ready(Some(Ok(event))) => {
                events += usize::from(has_data(&event));
                black_box(event);
            }
            Poll::Ready(Some(Err(error))) => return Err(format!("{error:?}")),
            Poll::Ready(None) => return Ok(events),
            Poll::Pending => return Err("expected a stream that is always ready".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ratio::alternate;
    use super::*;

    #[test]
    fn everyone_finds_every_event_at_any_read() {
        for read in [1, 7, 16_384] {
            let input = Input::new(40, read);
            assert_eq!(input.bytes.len(), 40 * (EVENT + 8));
            let rates = alternate(1, input.contestants()).unwrap();
            assert_eq!(rates.len(), 3);
        }
    }
}
