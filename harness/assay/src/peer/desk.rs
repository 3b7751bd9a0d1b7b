//! What every peer keeps for a variant: the timeline it writes, numbers, and when all of it is over.

use super::request::Parsed;
use crate::json;
use crate::timeline::{EventKind, Recorder, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::watch;

/// The most memory that a body may take as JSON, in bytes.
///
/// One that would take more is not read as JSON. That is no fault of the client's, so the timeline tells that the
/// harness could not.
pub(crate) const JSON_MAX: u64 = 32 << 20;

/// A body so short that it takes less, whatever stands in it.
const JSON_SHORT: usize = 64 << 10;

/// The desk of one variant. Cheap to clone; all clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub(crate) recorder: Recorder,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    conns: AtomicU32,
    requests: AtomicU32,
    finished: watch::Sender<bool>,
    active: watch::Sender<usize>,
}

impl Desk {
    pub(crate) fn new(recorder: Recorder) -> Self {
        let shared = Shared {
            conns: AtomicU32::new(0),
            requests: AtomicU32::new(0),
            finished: watch::Sender::default(),
            active: watch::Sender::default(),
        };
        Self { recorder, shared: Arc::new(shared) }
    }

    /// Records an event. Once there is no room for more, all connections are closed and none is taken any more.
    pub(crate) fn record(&self, kind: EventKind) {
        self.recorder.push(kind);
        self.close_if_full();
    }

    /// Counts bytes that came over a connection; whether more may come.
    pub(crate) fn came(&self, bytes: usize) -> bool {
        let room = self.recorder.came(bytes);
        if !room {
            self.close_if_full();
        }
        room
    }

    fn close_if_full(&self) {
        if self.recorder.is_full() {
            self.shared.finished.send_if_modified(|finished| !std::mem::replace(finished, true));
        }
    }

    /// What the timeline says about a request, but for the rule. It has the next number.
    pub(crate) fn request(&self, parsed: Parsed, conn: u32, reused: bool) -> Request {
        let Parsed { method, target, headers, head, body, raw: _, close: _ } = parsed;
        let number = self.next_request();
        let json = if body.len() > JSON_SHORT && json::weigh(&body, JSON_MAX).is_err() {
            let problem = format!(
                "expected request {number} to take at most {JSON_MAX} bytes as JSON, it would take more and was not \
                 read; let the case ask for less"
            );
            self.record(EventKind::HarnessError { problem });
            None
        } else {
            serde_json::from_slice(&body).ok()
        };
        Request { conn, number, reused, method, target, headers, head, body, json, rule: String::new() }
    }

    /// Records a connection: its number, and what counts it as active.
    pub(crate) fn accept(&self) -> (u32, Active) {
        let number = self.shared.conns.fetch_add(1, Ordering::Relaxed) + 1;
        self.record(EventKind::Accepted { conn: number });
        self.shared.active.send_modify(|active| *active += 1);
        (number, Active(Arc::clone(&self.shared)))
    }

    /// The number of the next request.
    pub(crate) fn next_request(&self) -> u32 {
        self.shared.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Turns true once the variant is over.
    pub(crate) fn finished(&self) -> &watch::Sender<bool> {
        &self.shared.finished
    }

    /// Says that the variant is over, and waits until no connection is active.
    pub(crate) async fn finish(&self) {
        self.shared.finished.send_replace(true);
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.shared.active.subscribe().wait_for(|active| *active == 0).await;
    }
}

/// Counts a connection as active until its future ends or is dropped.
#[derive(Debug)]
pub(crate) struct Active(Arc<Shared>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.send_modify(|active| *active -= 1);
    }
}
