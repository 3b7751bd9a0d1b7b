//! One dialogue of a variant, whatever the peer: steps, then what the checks still wait for, then teardown.

use super::patience::patient;
use super::steps::{Backstage, Stage, deadline, perform, take_memory};
use super::variant::Setup;
use crate::case::Case;
use crate::driver::Driver;
use crate::judge::wants_more;
use crate::returned::{DRIVER_END, Returned};
use crate::timeline::{Event, EventKind, Recorder, Request};
use crate::variant::{Variant, Wire};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// What a dialogue is held with.
pub(super) struct Dialogue<'a> {
    pub(super) setup: &'a Setup<'a>,
    pub(super) case: &'a Case,
    /// The limits of the case.
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

    /// The limits that the client is told. Time is paused on the memory wire; and a foreign client's own patience is no
    /// setting of a case.
    fn client_limits(&self) -> BTreeMap<String, u64> {
        if self.variant.wire == Wire::Tcp && !self.setup.client.is_foreign() {
            patient(self.limits, self.setup.deadline_scale)
        } else {
            self.limits.clone()
        }
    }

    /// Performs all steps, then waits until no check lacks an event that may still come (see [`wants_more`]), or the
    /// deadline passes.
    ///
    /// What the client does after its API has returned (closing a socket, posting a cancellation) takes a moment that
    /// no sleep could name. A missing event costs the whole deadline, and then the judge says so for good.
    pub(super) async fn perform(&self) {
        let limits = &self.client_limits();
        let stage = Stage {
            case: self.case,
            url: self.url,
            revision: self.variant.revision.as_str(),
            limits,
            driver: self.driver.clone(),
            peer: self.peer,
            recorder: self.recorder,
            deadline: self.deadline(),
        };
        perform(&stage).await;
        let waiting = async {
            loop {
                let (len, wants_more) = self.recorder.look(|timeline| self.wants_more(timeline));
                if !wants_more {
                    return;
                }
                self.recorder.grown_past(len).await;
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
    pub(super) async fn end(&self) {
        if self.case.measures_memory() {
            take_memory(&*self.driver, self.recorder);
        }
        self.recorder.push(EventKind::Teardown);
        if let Err(problem) = self.driver.end().await {
            let returned = Returned::broken(problem);
            self.recorder.push(EventKind::StepEnded { step: DRIVER_END.to_owned(), returned });
        }
    }
}

/// Whether a server's journal shows all requests of a timeline, and the tools of those that still wait.
pub(super) fn shown(timeline: &[Event], journal: &[Value]) -> bool {
    let is = |entry: &Value, kind: &str| entry.get("kind").and_then(Value::as_str) == Some(kind);
    let mut requests = BTreeMap::new();
    let mut passed = 0;
    for event in timeline {
        match &event.kind {
            EventKind::Request(request) => {
                passed += 1;
                requests.insert(request.number, request);
            }
            EventKind::Replied(reply) => {
                requests.remove(&reply.request);
            }
            EventKind::Closed { conn, .. } => requests.retain(|_, request| request.conn != *conn),
            _ => {}
        }
    }
    let works = |request: &Request| {
        let of = |pointer: &str| request.json.as_ref().and_then(|json| json.pointer(pointer));
        let (tool, id) = (of("/params/name"), of("/id"));
        let runs = |entry: &Value| is(entry, "tool") && entry.get("tool") == tool && entry.get("id") == id;
        journal.iter().any(runs)
    };
    requests.values().filter(|request| request.on() == "tools/call").all(|request| works(request))
        && journal.iter().filter(|entry| is(entry, "http")).count() >= passed
}
