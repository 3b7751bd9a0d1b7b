//! How much one variant may record: a client that sends without end fills this room and nothing else.

use super::{Event, EventKind, Request};
use crate::json;
use crate::returned::Returned;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most bytes that one variant may read and record: what came over its connections, the peer's replies, and what
/// parsed JSON, headers, marks and cuts take.
///
/// Beyond it the timeline says so in an [`EventKind::HarnessError`], connections are closed, and nothing more is
/// recorded but teardown: every check of the variant is then `error`, since nobody saw the whole dialogue.
pub const RECORD_MAX: u64 = 256 << 20;

/// The most events that one variant may record; beyond it as beyond [`RECORD_MAX`]. The event that says so and
/// teardown come on top.
pub const EVENTS_MAX: usize = 100_000;

/// The room of one recording, and how much of it is taken.
#[derive(Debug)]
pub(super) struct Room {
    bytes: u64,
    events: usize,
    taken: AtomicU64,
    full: AtomicBool,
}

impl Room {
    pub(super) fn new(bytes: u64, events: usize) -> Self {
        Self { bytes, events, taken: AtomicU64::new(0), full: AtomicBool::new(false) }
    }

    /// Takes so many bytes; whether there was room for them.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let taken = self.taken.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        taken <= self.bytes
    }

    /// Whether there is room for an event of this weight behind so many others.
    pub(super) fn admits(&self, kind: &EventKind, behind: usize) -> bool {
        behind < self.events && self.take(weight(kind))
    }

    /// Notes that there is no room any more; whether this is the first time.
    pub(super) fn fill(&self) -> bool {
        !self.full.swap(true, Ordering::Relaxed)
    }

    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// What a full recording says of itself.
    pub(super) fn problem(&self) -> String {
        let Self { bytes, events, .. } = self;
        format!(
            "expected a dialogue of at most {bytes} bytes and {events} events, saw more: what came after them was not \
             recorded"
        )
    }
}

/// What an event takes beyond the bytes that came over a connection, which were counted as they came.
pub(super) fn weight(kind: &EventKind) -> u64 {
    let of = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
    let own = match kind {
        EventKind::Request(request) => of_request(request),
        EventKind::Replied(reply) => {
            let marks: usize = reply.marks.iter().map(|mark| size_of_val(mark) + mark.name.len()).sum();
            of(reply.bytes.len() + size_of_val(&reply.cuts[..]) + marks)
        }
        EventKind::StepEnded { step, returned } => of(step.len()) + of_returned(returned),
        EventKind::Witness { journal } => json::weight(journal),
        EventKind::StepBegan { step: text, .. }
        | EventKind::Held { name: text, .. }
        | EventKind::Released { name: text }
        | EventKind::BadRequest { problem: text, .. }
        | EventKind::HarnessError { problem: text } => of(text.len()),
        EventKind::Teardown
        | EventKind::Accepted { .. }
        | EventKind::Closed { .. }
        | EventKind::Memory(_) => 0,
    };
    own.saturating_add(of(size_of::<Event>()))
}

fn of_request(request: &Request) -> u64 {
    let of = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
    // A short text takes an allocation's least size.
    let lines: usize = request.headers.iter().map(|(name, value)| 96 + name.len() + value.len()).sum();
    let json = request.json.as_ref().map_or(0, json::weight);
    json.saturating_add(of(size_of::<Request>() + request.target.len() + lines))
}

fn of_returned(returned: &Returned) -> u64 {
    let of = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
    match returned {
        Returned::Ok { text, tools } => {
            let tools = tools.iter().flatten().map(json::weight);
            tools.fold(of(text.as_ref().map_or(0, String::len)), u64::saturating_add)
        }
        Returned::Error { message, text, .. } => of(message.len() + text.as_ref().map_or(0, String::len)),
        Returned::Unsupported { message } => of(message.len()),
    }
}
