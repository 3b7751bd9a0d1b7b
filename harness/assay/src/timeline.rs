//! The timeline: the ordered record of one variant. Peer and driver append to it and decide nothing; the judge
//! reads it and nothing else.

mod room;

use crate::returned::Returned;
use bytes::Bytes;
use room::Room;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

pub use room::{EVENTS_MAX, RECORD_MAX};

/// One entry of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Microseconds of the variant's clock since its start. Only lower bounds are ever decided on it.
    pub at_us: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What can happen in a variant. Numbers of connections and requests start at 1 and count upwards.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// All steps settled or gave up: what comes later is the harness cleaning up, and never counts for the client.
    Teardown,
    /// A step began.
    StepBegan {
        /// The step's name (`as`, or `step-N`).
        step: String,
        /// Its verb: connect, list_tools, call_tool, cancel, reconnect, close, kill, release, linger, admin.
        verb: &'static str,
        /// The `client` the step drives.
        client: String,
    },
    /// A step settled. A step without this event before [`EventKind::Teardown`] is unsettled.
    StepEnded {
        /// The step's name.
        step: String,
        /// What the client's API returned.
        returned: Returned,
    },
    /// The peer accepted a connection.
    Accepted {
        /// The connection.
        conn: u32,
    },
    /// The peer read one whole request.
    Request(Arc<Request>),
    /// Bytes on a connection that are no request the peer can read (bad head, too large, cut short).
    BadRequest {
        /// The connection.
        conn: u32,
        /// The bytes as far as they were read.
        raw: Bytes,
        /// What was expected and what was seen.
        problem: String,
    },
    /// A rule holds its reply back until it is released.
    Held {
        /// The hold's name.
        name: String,
        /// The request.
        request: u32,
    },
    /// A hold was let go.
    Released {
        /// The hold's name.
        name: String,
    },
    /// The peer wrote (part of) a reply; stands where the writing ended.
    Replied(Arc<Reply>),
    /// A connection ended.
    Closed {
        /// The connection.
        conn: u32,
        /// Who closed first.
        by: Side,
        /// How.
        how: Close,
    },
    /// How much memory the client's process took, where a case asks for it: before its first step, before each step
    /// that it counts from, and before teardown. None: it has no process of its own, or the system does not tell.
    Memory(Option<Taken>),
    /// What an SDK server's own journal says, taken after the steps (second witness).
    Witness {
        /// The journal's entries, as the server printed them.
        journal: serde_json::Value,
    },
    /// The script of the peer could not be carried out (our fault, never the client's).
    HarnessError {
        /// What was expected, what was seen.
        problem: String,
    },
}

/// How much memory a process took, in bytes of resident size.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Taken {
    /// The most since it was asked before; at first, since it began.
    pub peak: u64,
    /// What the next peak counts from: what it takes now.
    pub now: u64,
}

/// A request as the peer read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The connection it came on.
    pub conn: u32,
    /// Its number in the variant.
    pub number: u32,
    /// Whether the connection had carried a request before.
    pub reused: bool,
    /// HTTP method.
    pub method: String,
    /// Request target.
    pub target: String,
    /// Header names in lower case and values (bytes above 0x7F as U+FFFD), in wire order.
    pub headers: Vec<(String, String)>,
    /// Raw head, through the blank line.
    pub head: Bytes,
    /// The body, transfer coding removed.
    pub body: Bytes,
    /// The body as JSON, where it is JSON.
    pub json: Option<serde_json::Value>,
    /// The rule that answers it: `case:0`, `polite:3`, or `default` (no rule matched).
    pub rule: String,
}

impl Request {
    /// What rules and checks match on: the JSON-RPC method of a POST, `reply` for a JSON-RPC response, `invalid`
    /// for a POST that is neither, else the HTTP method.
    #[must_use]
    pub fn on(&self) -> &str {
        if self.method != "POST" {
            return &self.method;
        }
        let Some(serde_json::Value::Object(body)) = &self.json else { return "invalid" };
        match body.get("method") {
            Some(serde_json::Value::String(method)) => method,
            None if body.contains_key("result") || body.contains_key("error") => "reply",
            _ => "invalid",
        }
    }

    /// Whether it is one that `on` of a rule or check names: what [`Request::on`] says, `any`, or `resume` for a GET
    /// that carries `Last-Event-ID`.
    #[must_use]
    pub fn is_on(&self, on: &str) -> bool {
        match on {
            "any" => true,
            "resume" => self.method == "GET" && self.header("last-event-id").next().is_some(),
            on => self.on() == on,
        }
    }

    /// The values of one header (lower-case name), in wire order.
    pub fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// A reply as the peer wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The request it answers.
    pub request: u32,
    /// All bytes of the compiled reply, interim replies included.
    pub bytes: Bytes,
    /// Bytes of the body before framing: what a chunk plan cuts.
    pub content_len: usize,
    /// How many of `bytes` were written.
    pub written: usize,
    /// Where writes ended, as offsets into `bytes` (the last write left out).
    pub cuts: Vec<usize>,
    /// How many cuts are known to have been seen as cuts by the client.
    pub proven: u32,
    /// Named offsets, ascending.
    pub marks: Vec<Mark>,
    /// Whether the peer did its whole script for this reply (all bytes written, ending carried out or held).
    pub complete: bool,
}

/// A named offset into a reply.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mark {
    /// The mark's name: `head-end`, `terminal`, `event:3`, `inside-utf8`, `between-cr-lf`, `chunk-size-line`, or
    /// one the case gave.
    pub name: String,
    /// The offset: a cut here ends a write just before this byte.
    pub at: usize,
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The client under test.
    Client,
    /// The peer.
    Peer,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Close {
    /// End of stream.
    Fin,
    /// Reset.
    Rst,
}

/// The one writer's end of a timeline: cheap to clone, shared by the peer's tasks and the driver.
#[derive(Clone, Debug)]
pub struct Recorder {
    start: Instant,
    events: Arc<Mutex<Vec<Event>>>,
    grown: Arc<Notify>,
    room: Arc<Room>,
}

impl Recorder {
    /// Starts a timeline now, on the clock of the current tokio runtime.
    #[must_use]
    pub fn start() -> Self {
        Self::with_room(RECORD_MAX, EVENTS_MAX)
    }

    /// The same with room for so many bytes and events.
    pub(crate) fn with_room(bytes: u64, events: usize) -> Self {
        let room = Arc::new(Room::new(bytes, events));
        Self { start: Instant::now(), events: Arc::default(), grown: Arc::default(), room }
    }

    /// Appends an event, if there is room: see [`RECORD_MAX`] and [`EVENTS_MAX`]. Teardown always has some.
    pub fn push(&self, kind: EventKind) {
        let events = self.lock();
        let admitted = matches!(kind, EventKind::Teardown)
            || !self.room.is_full() && self.room.admits(&kind, events.len());
        if admitted {
            self.append(events, kind);
        } else {
            drop(events);
            self.overflow();
        }
    }

    /// Ends the record, once, with an event that says that there is no more room.
    fn overflow(&self) {
        let events = self.lock();
        if self.room.fill() {
            self.append(events, EventKind::HarnessError { problem: self.room.problem() });
        }
    }

    fn append(&self, mut events: MutexGuard<'_, Vec<Event>>, kind: EventKind) {
        let at_us = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        events.push(Event { at_us, kind });
        drop(events);
        self.grown.notify_waiters();
    }

    /// Counts bytes that came over a connection and may be recorded later; whether there is still room.
    pub(crate) fn came(&self, bytes: usize) -> bool {
        if !self.room.take(u64::try_from(bytes).unwrap_or(u64::MAX)) {
            self.overflow();
        }
        !self.room.is_full()
    }

    /// Whether nothing more is recorded, since there is no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.room.is_full()
    }

    /// Waits until an event has happened for which `wanted` is true; returns at once if one already has.
    #[cfg(test)]
    pub(crate) async fn wait_for(&self, mut wanted: impl FnMut(&EventKind) -> bool) {
        let mut seen = 0;
        loop {
            let events = self.snapshot();
            if events[seen..].iter().any(|event| wanted(&event.kind)) {
                return;
            }
            seen = events.len();
            self.grown_past(seen).await;
        }
    }

    /// Waits until there are more than `len` events.
    pub async fn grown_past(&self, len: usize) {
        loop {
            // It hears of all events from here on, also of one that comes right after the look.
            let grown = self.grown.notified();
            if self.lock().len() > len {
                return;
            }
            grown.await;
        }
    }

    /// The events so far. Cheap: what is large in them is shared.
    #[must_use]
    pub fn snapshot(&self) -> Vec<Event> {
        self.lock().clone()
    }

    /// Looks at the events so far, and says how many there were. Nothing can be recorded meanwhile, so `look` must
    /// be short and must not record.
    pub fn look<T>(&self, look: impl FnOnce(&[Event]) -> T) -> (usize, T) {
        let events = self.lock();
        (events.len(), look(&events))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        // A panicking writer leaves whole events behind, so a poisoned list is still a true record.
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
