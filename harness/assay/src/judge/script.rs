//! Whether the peer did its script, and so whether silence is the client's.

use super::finding::Finding;
use super::index::{Index, RequestRecord, StepRecord, items};
use super::moment::Moment;
use crate::case::reply::Then;
use crate::timeline::Side;

impl Index<'_> {
    /// What a step that did not end before teardown means for a check about it.
    pub(crate) fn unsettled(&self, step: &StepRecord<'_>) -> Finding {
        let name = &step.name;
        if step.began.is_none() {
            return Finding::inconclusive(format!("step `{name}` never began"));
        }
        if !self.whole {
            return Finding::inconclusive("the recording ends before teardown".to_owned());
        }
        if matches!(step.verb, "release" | "linger" | "admin") {
            return Finding::inconclusive(format!("step `{name}` of the harness did not end"));
        }
        match self.owed(step) {
            None => Finding::fail(format!("step `{name}` returned nothing within the deadline")),
            Some(owed) => Finding::inconclusive(format!("the peer did not do its script: {owed}")),
        }
    }

    /// What a request or event that did not come means: a failure, unless something else kept it from coming.
    pub(crate) fn missing(&self, actual: String) -> Finding {
        match self.obstacle() {
            None => Finding::fail(actual),
            Some(why) => Finding::inconclusive(why),
        }
    }

    /// Why nothing can be said from absence, if so: the whole dialogue must have had its chance.
    pub(crate) fn unfinished(&self) -> Option<String> {
        self.obstacle().or_else(|| {
            let step = self.steps.iter().find(|step| step.verb != "await" && step.began.is_none())?;
            Some(format!("step `{}` never began", step.name))
        })
    }

    /// What other than the client kept the dialogue from going on.
    fn obstacle(&self) -> Option<String> {
        if !self.whole {
            return Some("the recording ends before teardown".to_owned());
        }
        let mut stuck = false;
        for step in self.steps.iter().filter(|step| step.verb != "await") {
            if step.began.is_none() {
                if stuck || self.waits_in_vain(step) {
                    stuck = true;
                    continue;
                }
                return Some(format!("step `{}` never began", step.name));
            }
            if step.ended.is_none() {
                if let Some(owed) = self.owed(step) {
                    return Some(format!("the peer did not do its script: {owed}"));
                }
                stuck = true;
            }
        }
        None
    }

    /// Whether the step waits for something that the client never did.
    fn waits_in_vain(&self, step: &StepRecord<'_>) -> bool {
        let moment = step.named.step.after.as_deref().and_then(|after| after.parse::<Moment>().ok());
        moment.is_some_and(|moment| moment.place(self).is_none())
    }

    /// What the peer still owed to a step's own requests at teardown.
    fn owed(&self, step: &StepRecord<'_>) -> Option<String> {
        step.requests
            .iter()
            .filter_map(|at| self.requests.get(*at))
            .find(|record| !self.script_done(record))
            .map(|record| format!("{} got no whole reply", describe(record)))
    }

    /// Whether the peer did all that its script says for a request: wrote the whole reply, holds it for good, or
    /// could not go on because the client left.
    pub(crate) fn script_done(&self, record: &RequestRecord<'_>) -> bool {
        let number = record.request.number;
        let replied = self.replies.get(&number).is_some_and(|r| {
            // A drip writes until the connection ends, which may be at teardown.
            let drips = self.rule_of(record.request).is_some_and(|rule| rule.then == Then::Drip);
            r.reply.complete && (r.before_teardown || drips)
        });
        let withheld = self.tap_of(record.request).is_some_and(|rule| rule.withhold);
        replied || withheld || self.held_for_good(number) || self.left_by_client(record)
    }

    /// Whether the client closed the connection before the reply could end: then nothing is owed to it.
    fn left_by_client(&self, record: &RequestRecord<'_>) -> bool {
        let close = self.closes.get(&record.request.conn);
        close.is_some_and(|close| close.by == Side::Client && close.place > record.place)
    }

    fn held_for_good(&self, number: u32) -> bool {
        self.holds
            .iter()
            .any(|hold| hold.request == number && hold.released.is_none() && !self.releases(hold.name))
    }

    /// Whether the case ever lets go of this hold.
    fn releases(&self, name: &str) -> bool {
        self.case.step.iter().any(|step| step.release.as_deref() == Some(name))
            || self.case.peer.iter().any(|rule| rule.release.as_deref() == Some(name))
    }

    /// Whether the peer means to keep the request's connection open: after the reply, or by waiting before its end.
    ///
    /// What an SDK server means is what it did: it kept a connection whose request it never answered to the end.
    pub(crate) fn keeps_open(&self, record: &RequestRecord<'_>) -> bool {
        let waits = self.rule_of(record.request).is_some_and(|rule| {
            rule.hold.is_some()
                || rule.delay_ms.is_some()
                || items(rule).iter().any(|item| item.hold.is_some() || item.pause_ms.is_some())
        });
        let unanswered = || {
            let reply = self.replies.get(&record.request.number);
            reply.is_none_or(|reply| !reply.reply.complete || !reply.before_teardown)
        };
        waits
            || self.stays_open(record.request)
            || (self.case.servers.is_some() && self.tap_of(record.request).is_none() && unanswered())
    }
}

/// A request in one word or two: `tools/call #2`.
pub(crate) fn describe(record: &RequestRecord<'_>) -> String {
    match record.nth {
        1 => record.request.on().to_owned(),
        nth => format!("{} #{nth}", record.request.on()),
    }
}
