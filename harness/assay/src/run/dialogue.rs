//! One dialogue of a variant, whatever the peer: steps, then what the checks still wait for, then teardown.

use super::steps::{Backstage, Stage, deadline, perform};
use super::variant::Setup;
use crate::case::Case;
use crate::driver::Driver;
use crate::judge::wants_more;
use crate::timeline::{Event, EventKind, Recorder};
use crate::variant::{Variant, Wire};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// What a dialogue is held with.
pub(super) struct Dialogue<'a> {
    pub(super) setup: &'a Setup<'a>,
    pub(super) case: &'a Case,
    pub(super) limits: &'a BTreeMap<String, u64>,
    pub(super) variant: &'a Variant,
    pub(super) url: &'a str,
    pub(super) driver: Arc<dyn Driver>,
    pub(super) peer: &'a dyn Backstage,
    pub(super) recorder: &'a Recorder,
}

/// How long the memory wire stays up after the last step: longer than a control message may take by default.
const QUIET: Duration = Duration::from_secs(2);

impl Dialogue<'_> {
    /// How long a step, or what comes after the last one, may take.
    pub(super) fn deadline(&self) -> Duration {
        deadline(self.case, self.limits).mul_f64(self.setup.deadline_scale)
    }

    /// Performs all steps, then waits until no check lacks an event that may still come (see [`wants_more`]), or the
    /// deadline passes.
    ///
    /// What the client does after its API has returned (closing a socket, posting a cancellation) takes a moment that
    /// no sleep could name. A missing event costs the whole deadline, and then the judge says so for good.
    pub(super) async fn perform(&self) {
        let stage = Stage {
            case: self.case,
            url: self.url,
            revision: self.variant.revision.as_str(),
            limits: self.limits,
            driver: self.driver.clone(),
            peer: self.peer,
            recorder: self.recorder,
            deadline: self.deadline(),
        };
        perform(&stage).await;
        let waiting = async {
            loop {
                let timeline = self.recorder.snapshot();
                if !self.wants_more(&timeline) {
                    return;
                }
                self.recorder.grown_past(timeline.len()).await;
            }
        };
        let _given_up = timeout(self.deadline(), waiting).await;
        if self.variant.wire == Wire::Memory {
            // The paused clock moves only once nobody has anything left to do, so this costs nothing, and a client
            // that cancels, answers or sends again a moment late is still seen. On TCP a case says `linger`.
            sleep(QUIET).await;
        }
    }

    pub(super) fn wants_more(&self, timeline: &[Event]) -> bool {
        wants_more(&self.setup.input(self.case, self.variant, timeline))
    }

    /// Marks teardown and ends the client.
    pub(super) fn end(&self) {
        self.recorder.push(EventKind::Teardown);
        self.driver.end();
    }
}

/// Whether a server's journal shows all requests of a timeline, and the tools of those that are not answered.
pub(super) fn shown(timeline: &[Event], journal: &[Value]) -> bool {
    let is = |entry: &Value, kind: &str| entry.get("kind").and_then(Value::as_str) == Some(kind);
    let answered: BTreeSet<u32> = timeline
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Replied(reply) if reply.complete => Some(reply.request),
            _ => None,
        })
        .collect();
    let requests = timeline.iter().filter_map(|event| match &event.kind {
        EventKind::Request(request) => Some(request),
        _ => None,
    });
    let mut passed = 0;
    for request in requests {
        passed += 1;
        if request.on() != "tools/call" || answered.contains(&request.number) {
            continue;
        }
        let of = |pointer: &str| request.json.as_ref().and_then(|json| json.pointer(pointer));
        let (tool, id) = (of("/params/name"), of("/id"));
        let runs = |entry: &&Value| is(entry, "tool") && entry.get("tool") == tool && entry.get("id") == id;
        if !journal.iter().any(|entry| runs(&entry)) {
            return false;
        }
    }
    journal.iter().filter(|entry| is(entry, "http")).count() >= passed
}
