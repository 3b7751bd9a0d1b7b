//! The judge: a pure function from a case and a timeline to the results of the case's checks.
//!
//! It does no IO and never panics, whatever the timeline holds, so a recording can be judged again later and
//! elsewhere with the same verdict. It is unmoved by the shift of all times and by events that no check is about.
//!
//! For each check that binds the variant, in this order:
//!
//! 1. `error`, if the harness failed; `inconclusive`, if the client's driver broke: what it kept from happening is
//!    no fault of the client, and what it kept from being seen no merit.
//! 2. `unsupported`, if the client does not offer what the check `needs`, or said so when a step asked for it.
//! 3. `unexercised`, if what is `given` did not happen.
//! 4. What its kind finds. A step that did not end is a failure where the peer did its script, else
//!    `inconclusive`; absence shows something only where the whole dialogue had its chance.

mod assign;
pub mod bound;
mod closed;
pub(crate) mod finding;
mod header;
pub(crate) mod index;
pub(crate) mod kind;
pub(crate) mod memory;
mod moment;
mod order;
pub(crate) mod outcome;
mod request;
pub(crate) mod requests;
pub(crate) mod script;
mod witness;

use crate::case::Case;
use crate::case::check::{Check, Given};
use crate::clauses::Clauses;
use crate::returned::Returned;
use crate::timeline::Event;
use crate::tokens::Tokens;
use crate::variant::Variant;
use crate::verdict::{CheckResult, Level};
use finding::{Finding, line, stable_line};
use index::Index;
use kind::Kind;
use std::collections::BTreeSet;

pub use moment::{BadMoment, Moment};

/// The verbs a driver may offer; every other name in a check's `needs` is a limit.
pub const VERBS: [&str; 8] =
    ["connect", "list_tools", "call_tool", "listen", "cancel", "reconnect", "close", "kill"];

/// What a client under test offers, as its driver says in `hello`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Offers {
    /// The limits it can set, by their public option names; none: all of them.
    pub limits: Option<BTreeSet<String>>,
    /// The verbs it can perform; none: all of them.
    pub verbs: Option<BTreeSet<String>>,
}

impl Offers {
    /// Whether the client offers this verb or limit.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let offered = if VERBS.contains(&name) { &self.verbs } else { &self.limits };
        offered.as_ref().is_none_or(|offered| offered.contains(name))
    }
}

/// All that a verdict rests on.
#[derive(Clone, Copy, Debug)]
pub struct JudgeInput<'a> {
    /// The case, instantiated for the variant.
    pub case: &'a Case,
    /// The variant that ran.
    pub variant: &'a Variant,
    /// The policy of the client; none: only checks without `policy` bind.
    pub policy: Option<&'a str>,
    /// What the client offers.
    pub offers: &'a Offers,
    /// The clauses, for levels and revisions.
    pub clauses: &'a Clauses,
    /// What happened.
    pub timeline: &'a [Event],
}

impl JudgeInput<'_> {
    fn binds(&self, check: &Check) -> bool {
        bound::binds(check, self.variant, self.policy, self.clauses)
    }
}

/// Judges one variant: one result for each check that binds it, in the case's order.
#[must_use]
pub fn judge(input: &JudgeInput<'_>) -> Vec<CheckResult> {
    judge_index(input, &Index::new(input.case, input.timeline))
}

/// The same, where the timeline has been arranged already.
pub(crate) fn judge_index(input: &JudgeInput<'_>, index: &Index<'_>) -> Vec<CheckResult> {
    let tokens = Tokens::with_sessions(unknown_sessions(index));
    input
        .case
        .check
        .iter()
        .filter(|check| input.binds(check))
        .map(|check| {
            let kind = Kind::of(check);
            let finding = match kind {
                Some(kind) => find(check, kind, index, input.offers),
                None => Finding::error("the check has not exactly one kind".to_owned()),
            };
            CheckResult {
                id: check.id.get_ref().clone(),
                level: level(check, input.clauses),
                outcome: finding.outcome,
                expected: line(&kind.map(Kind::expected).unwrap_or_default()),
                actual: stable_line(&finding.actual, &mut tokens.clone()),
            }
        })
        .collect()
}

/// Whether some check that binds the variant still lacks an event which the client or the peer may bring about
/// after all steps have settled: a close, a cancellation on its way.
///
/// A runner waits while this is true, within a bound of its own, before it marks teardown; so such an event is
/// recorded on its right side. It is no verdict: judged with teardown, the same timeline may well pass or fail.
#[must_use]
pub fn wants_more(input: &JudgeInput<'_>) -> bool {
    let index = Index::new(input.case, input.timeline);
    let given = |check: &Check| check.given.as_ref().is_none_or(|given| not_given(given, &index).is_none());
    !index.whole
        && index.harness_error.is_none()
        && index.driver_broke.is_none()
        && input.case.check.iter().filter(|check| input.binds(check)).any(|check| {
            Kind::of(check).is_some_and(|kind| {
                kind.lacks(&index) && unsupported(check, kind, &index, input.offers).is_none() && given(check)
            })
        })
}

/// The check's own level, else its clause's, else must.
fn level(check: &Check, clauses: &Clauses) -> Level {
    check.level.unwrap_or_else(|| {
        let clause = check.clause.as_ref().and_then(|id| clauses.get(id.get_ref()));
        clause.map_or(Level::Must, |clause| clause.keyword.level())
    })
}

fn find(check: &Check, kind: Kind<'_>, index: &Index<'_>, offers: &Offers) -> Finding {
    if let Some(problem) = index.harness_error {
        return Finding::error(format!("the harness failed: {problem}"));
    }
    if let Some(step) = index.driver_broke {
        return Finding::inconclusive(format!("the client's driver broke in step `{step}`"));
    }
    unsupported(check, kind, index, offers)
        .or_else(|| check.given.as_ref().and_then(|given| not_given(given, index)))
        .unwrap_or_else(|| kind.judge(index))
}

/// What the client says it cannot do, of all that the check rests on.
fn unsupported(check: &Check, kind: Kind<'_>, index: &Index<'_>, offers: &Offers) -> Option<Finding> {
    if let Some(need) = check.needs.iter().find(|need| !offers.has(need)) {
        return Some(Finding::unsupported(format!("the client does not offer {need}")));
    }
    let declined = |step: &index::StepRecord<'_>| {
        matches!(step.ended, Some((_, Returned::Unsupported { .. })))
            .then(|| Finding::unsupported(format!("the client says it cannot do step `{}`", step.name)))
    };
    // Nothing can be told of a client that could not be connected.
    if let Some(finding) = index.steps.iter().filter(|step| step.verb == "connect").find_map(declined) {
        return Some(finding);
    }
    let given = check.given.iter().flat_map(|given| {
        let named = [&given.ended, &given.ok, &given.replied].into_iter().flatten().cloned();
        named.chain(given.seen.iter().flat_map(kind::steps_of))
    });
    if let Some(finding) =
        kind.steps().into_iter().chain(given).find_map(|name| index.step(&name).and_then(declined))
    {
        return Some(finding);
    }
    // Requests that stand for a verb, where the client declined every step with that verb.
    let verb = match kind.wanted()?.on.as_str() {
        "tools/list" => "list_tools",
        "tools/call" => "call_tool",
        "notifications/cancelled" => "cancel",
        "DELETE" => "close",
        _ => return None,
    };
    let mut steps = index.steps.iter().filter(|step| step.verb == verb);
    let first = steps.next().and_then(declined)?;
    steps.all(|step| declined(step).is_some()).then_some(first)
}

/// What of `given` did not happen.
fn not_given(given: &Given, index: &Index<'_>) -> Option<Finding> {
    let missing = |text: String| Some(Finding::unexercised(text));
    let ended = |name: &str| index.step(name).and_then(|step| step.ended);
    if let Some(name) = given.ended.as_ref().filter(|name| ended(name).is_none()) {
        return missing(format!("step `{name}` did not end"));
    }
    if let Some(name) = given.ok.as_ref()
        && !matches!(ended(name), Some((_, Returned::Ok { .. })))
    {
        return missing(format!("step `{name}` did not succeed"));
    }
    if let Some(wanted) = given.seen.as_ref().filter(|wanted| requests::matching(index, wanted).is_empty()) {
        return missing(format!("{} was not sent", requests::describe_match(wanted)));
    }
    let replied = |name: &str| {
        let number = index.request_of(name).map(|record| record.request.number);
        number.and_then(|number| index.replies.get(&number)).is_some_and(|reply| reply.reply.complete)
    };
    if let Some(name) = given.replied.as_ref().filter(|name| !replied(name)) {
        return missing(format!("the reply to step `{name}` was not sent to its end"));
    }
    None
}

/// The session ids whose text the case does not fix; those differ between runs.
fn unknown_sessions<'a>(index: &Index<'a>) -> impl Iterator<Item = &'a str> {
    let case = index.case;
    index
        .sessions()
        .filter(move |session| !case.peer.iter().any(|rule| rule.session.as_deref() == Some(*session)))
}

#[cfg(test)]
pub(crate) mod scene;
#[cfg(test)]
mod tests;
