//! An incremental decoder for `text/event-stream`.
//!
//! [`Decoder::next`] yields one event and leaves the rest of the input unread, so that what comes after the
//! event a caller waits for can neither fail nor cost anything. Whatever is not consumed stays the caller's.
//!
//! The grammar is the HTML standard's, with the reading of a protocol that must not guess:
//! - a line ends at LF, CR or CRLF. A CR ends it at once; an LF directly after it belongs to that end, and is
//!   consumed only if the decoder goes on;
//! - one byte order mark at the very start is dropped and belongs to no line;
//! - `data` lines are joined with LF. An empty `data` line makes an event with empty data; a block without a
//!   `data` line makes none. All other fields are ignored;
//! - bytes that are not UTF-8 are an error, not a replacement character, in comments too;
//! - an event that the end of the stream cuts off is not delivered.
//!
//! **The same bytes have the same outcome in every partition**: the same events, the same error, the same count
//! of consumed bytes. For that, each fault has its place: the line limit at the first byte too many, bad UTF-8
//! and then the event limit at the end of their line, the response limit before the first byte past it is looked
//! at.
//!
//! An event that lies whole in the input, on one `data` line, is borrowed from it. Anything else is copied into
//! buffers of the decoder, which hold at most one line and one event: it never keeps the caller's buffer alive.

mod data;
mod limits;
mod line;

pub use limits::SseLimits;

use crate::error::Error;
use crate::rule::{Rule, rule};
use data::{Data, DataState};
use std::ops::Range;

/// An event of the stream.
///
/// ```
/// use mcp_assay_client::sse::{Decoder, Event, SseLimits};
///
/// let mut decoder = Decoder::new(SseLimits::default());
/// let Some(Event { data, .. }) = decoder.next(&mut &b"data: a\ndata: b\n\n"[..])? else { panic!("it is whole") };
/// assert_eq!(data, "a\nb");
/// # Ok::<(), mcp_assay_client::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The data lines, joined with LF.
    pub data: &'a str,
}

/// A byte order mark, as UTF-8.
const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The state of one stream.
///
/// ```
/// use mcp_assay_client::sse::{Decoder, SseLimits};
///
/// let mut decoder = Decoder::new(SseLimits::default());
/// let mut events = Vec::new();
/// // Whatever way the network cuts the stream.
/// for mut chunk in [&b"data: o"[..], b"ne\n", b"\ndata: two\n\n"] {
///     while let Some(event) = decoder.next(&mut chunk)? {
///         events.push(event.data.to_owned());
///     }
/// }
/// assert_eq!(events, ["one", "two"]);
/// # Ok::<(), mcp_assay_client::Error>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    limits: SseLimits,
    consumed: usize,
    start: Start,
    /// The last byte was a CR that ended a line.
    after_cr: bool,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// The lengths at which the line may take a byte, if it does not end it, without another look at anything; those
    /// it took since are not in `consumed` yet.
    open: Range<usize>,
    data: Data,
    failed: Option<Error>,
}

/// What is known about the stream's first bytes.
#[derive(Debug, Clone, Copy)]
enum Start {
    /// This many bytes came, all of a byte order mark that is not yet complete.
    Mark(usize),
    /// Decided.
    Passed,
}

/// What a step over one line leads to.
enum Step<'a> {
    /// Go on.
    Next,
    /// The input is used up.
    Starved,
    /// An event, in the input or in the decoder's text.
    Event(Option<&'a str>),
}

impl Decoder {
    /// A decoder for a new stream.
    ///
    /// ```
    /// use mcp_assay_client::sse::{Decoder, SseLimits};
    ///
    /// assert_eq!(Decoder::new(SseLimits::default()).consumed(), 0);
    /// ```
    pub fn new(limits: SseLimits) -> Self {
        Self {
            limits,
            consumed: 0,
            start: Start::Mark(0),
            after_cr: false,
            line: Vec::new(),
            open: 0..0,
            data: Data::new(),
            failed: None,
        }
    }

    /// Decodes up to and including the end of the next event, and advances `input` past what it consumed. `None`
    /// means that all of the input is consumed and no event has ended.
    ///
    /// # Errors
    ///
    /// `sse_line_limit`, `invalid_sse_utf8`, `sse_event_limit`, `response_byte_limit`. An error is final: every
    /// further step returns it again and consumes nothing.
    ///
    /// ```
    /// use mcp_assay_client::sse::{Decoder, SseLimits};
    ///
    /// let mut decoder = Decoder::new(SseLimits::default());
    /// let mut input: &[u8] = b"data: one\n\ndata: tw";
    /// assert_eq!(decoder.next(&mut input)?.map(|event| event.data), Some("one"));
    /// assert_eq!(decoder.next(&mut input)?, None);
    /// assert!(input.is_empty());
    /// # Ok::<(), mcp_assay_client::Error>(())
    /// ```
    #[inline]
    pub fn next<'e, 'i: 'e>(&'e mut self, input: &mut &'i [u8]) -> Result<Option<Event<'e>>, Error> {
        // A stream that trickles costs a byte's move a byte, and one length to count it by. Both line ends lie below
        // all printable text; a TAB takes the slow way.
        if let [byte] = **input
            && byte > b'\r'
            && self.line.len() < self.open.end
        {
            self.line.push(byte);
            *input = &[];
            return Ok(None);
        }
        self.decode(input)
    }

    fn decode<'e, 'i: 'e>(&'e mut self, input: &mut &'i [u8]) -> Result<Option<Event<'e>>, Error> {
        self.consumed += self.uncounted();
        self.open = 0..0;
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        match self.advance(input) {
            Ok(Step::Event(borrowed)) => Ok(Some(Event { data: borrowed.unwrap_or(&self.data.text) })),
            Ok(Step::Next | Step::Starved) => Ok(None),
            Err(error) => {
                self.failed = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Ends the stream.
    ///
    /// # Errors
    ///
    /// `incomplete_sse` if it ends inside a line, or inside a block with data.
    ///
    /// ```
    /// use mcp_assay_client::sse::{Decoder, SseLimits};
    ///
    /// let mut decoder = Decoder::new(SseLimits::default());
    /// decoder.next(&mut &b"data: cut of"[..])?;
    /// assert_eq!(decoder.finish().unwrap_err().kind(), "incomplete_sse");
    /// # Ok::<(), mcp_assay_client::Error>(())
    /// ```
    pub fn finish(&self) -> Result<(), Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let inside_line = !self.line.is_empty() || matches!(self.start, Start::Mark(1..));
        if inside_line || self.data.state == DataState::Some { Err(Error::IncompleteSse) } else { Ok(()) }
    }

    /// The bytes consumed since the start of the stream: comments, line ends and all.
    ///
    /// ```
    /// use mcp_assay_client::sse::{Decoder, SseLimits};
    ///
    /// let mut decoder = Decoder::new(SseLimits::default());
    /// decoder.next(&mut &b": a comment\n"[..])?;
    /// assert_eq!(decoder.consumed(), 12);
    /// # Ok::<(), mcp_assay_client::Error>(())
    /// ```
    pub fn consumed(&self) -> u64 {
        (self.consumed + self.uncounted()) as u64
    }

    /// What the line took since anything was looked at.
    fn uncounted(&self) -> usize {
        if self.open.is_empty() { 0 } else { self.line.len() - self.open.start }
    }

    fn advance<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, Error> {
        if self.data.state == DataState::Delivered {
            self.data.text.clear();
            self.data.state = DataState::None;
        }
        // The only data line of an event, as long as it may be borrowed.
        let mut single: Option<&'a str> = None;
        loop {
            match self.step(input, &mut single)? {
                Step::Next => {}
                Step::Starved => {
                    if let Some(value) = single {
                        self.data.keep(value);
                    }
                    // Only the response limit leaves input behind.
                    if input.is_empty() {
                        return Ok(Step::Starved);
                    }
                    return Err(Error::ResponseByteLimit { limit: self.limits.max_response_bytes });
                }
                event @ Step::Event(_) => return Ok(event),
            }
        }
    }

    /// Goes over one line, or what there is of it.
    fn step<'a>(&mut self, input: &mut &'a [u8], single: &mut Option<&'a str>) -> Result<Step<'a>, Error> {
        let budget = self.limits.max_response_bytes - self.consumed;
        let window: &'a [u8] = input.get(..budget).unwrap_or(input);
        let Some(&first) = window.first() else { return Ok(Step::Starved) };
        if !rule(Rule::ReturnEndsAtOnce) && self.line.last() == Some(&b'\r') {
            self.consume(input, usize::from(first == b'\n'));
            self.line.pop();
            return if self.line.is_empty() {
                self.whole_line(&[], single)
            } else {
                self.carried_line(&[], single)
            };
        }
        if self.after_cr {
            self.after_cr = false;
            if rule(Rule::ReturnAndFeedAreOne) && first == b'\n' {
                self.consume(input, 1);
                return Ok(Step::Next);
            }
        }
        if let Start::Mark(seen) = self.start {
            let torn = window.len() < BOM.len() && seen == 0 && !rule(Rule::MarkIsJoined);
            if rule(Rule::MarkIsDropped) && !torn {
                return self.step_mark(input, first, seen);
            }
            self.start = Start::Passed;
        }
        // The line may have this many bytes more, and then its end.
        let room = self.limits.max_line_bytes.saturating_sub(self.line.len());
        let searched = window.get(..=room).unwrap_or(window);
        let end = match first {
            b'\n' | b'\r' if rule(Rule::ReturnEndsLine) => Some(0),
            _ if !rule(Rule::ReturnEndsLine) => memchr::memchr(b'\n', searched),
            _ => memchr::memchr2(b'\n', b'\r', searched),
        };
        // The broken rule waits for what follows the carriage return.
        let end = end.filter(|at| {
            rule(Rule::ReturnEndsAtOnce) || window.get(*at) != Some(&b'\r') || at + 1 < window.len()
        });
        let Some(end) = end else {
            self.consume(input, searched.len());
            if searched.len() > room && (rule(Rule::OpenLinesAreBounded) && !self.is_free_comment(window)) {
                return Err(Error::SseLineLimit { limit: self.limits.max_line_bytes });
            }
            self.line.extend_from_slice(searched);
            let free = room.saturating_sub(searched.len()).min(budget - searched.len());
            self.open = self.line.len()..self.line.len().saturating_add(free);
            return Ok(if searched.len() == window.len() { Step::Starved } else { Step::Next });
        };
        let (tail, _) = window.split_at(end);
        let too_long = |length: usize| length > self.limits.max_line_bytes;
        if !rule(Rule::OpenLinesAreBounded) && too_long(self.line.len() + tail.len()) {
            return Err(Error::SseLineLimit { limit: self.limits.max_line_bytes });
        }
        self.after_cr = window.get(end) == Some(&b'\r');
        self.consume(input, end + 1);
        if self.line.is_empty() { self.whole_line(tail, single) } else { self.carried_line(tail, single) }
    }

    /// The first bytes of the stream, one at a time, until it is clear whether they are a byte order mark.
    fn step_mark<'a>(&mut self, input: &mut &'a [u8], first: u8, seen: usize) -> Result<Step<'a>, Error> {
        if BOM.get(seen) == Some(&first) {
            self.consume(input, 1);
            self.start = if seen + 1 == BOM.len() { Start::Passed } else { Start::Mark(seen + 1) };
            return Ok(Step::Next);
        }
        self.start = Start::Passed;
        self.line.extend_from_slice(BOM.get(..seen).unwrap_or_default());
        if seen > self.limits.max_line_bytes {
            return Err(Error::SseLineLimit { limit: self.limits.max_line_bytes });
        }
        Ok(Step::Next)
    }

    fn consume(&mut self, input: &mut &[u8], bytes: usize) {
        *input = input.get(bytes..).unwrap_or_default();
        self.consumed += bytes;
    }
}

#[cfg(test)]
mod tests;
