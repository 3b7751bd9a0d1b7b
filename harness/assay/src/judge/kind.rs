//! The kinds of checks: which one a check is, what it expects in words, what it looks at.

use super::finding::Finding;
use super::index::Index;
use super::{closed, header, memory, order, outcome, requests, witness};
use crate::case::check::{
    Check, ClosedCheck, Count, ErrorCheck, Gap, HeaderCheck, MemoryCheck, RequestMatch, ResultCheck, Wanted,
    WitnessCheck,
};

/// The one kind of a check.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'c> {
    Seen(&'c RequestMatch),
    Never(&'c RequestMatch),
    Count(&'c Count),
    Order(&'c [String]),
    Gap(&'c Gap),
    Header(&'c HeaderCheck),
    Result(&'c ResultCheck),
    Error(&'c ErrorCheck),
    Closed(&'c ClosedCheck),
    Memory(&'c MemoryCheck),
    Alive(&'c str),
    Witness(&'c WitnessCheck),
}

impl<'c> Kind<'c> {
    /// The kind of a check; none unless it has exactly one.
    pub(crate) fn of(check: &'c Check) -> Option<Self> {
        let kinds = [
            check.seen.as_ref().map(Self::Seen),
            check.never.as_ref().map(Self::Never),
            check.count.as_ref().map(Self::Count),
            check.order.as_deref().map(Self::Order),
            check.gap.as_ref().map(Self::Gap),
            check.header.as_ref().map(Self::Header),
            check.result.as_ref().map(Self::Result),
            check.error.as_ref().map(Self::Error),
            check.closed.as_ref().map(Self::Closed),
            check.memory.as_ref().map(Self::Memory),
            check.alive.as_deref().map(Self::Alive),
            check.witness.as_ref().map(Self::Witness),
        ];
        let mut kinds = kinds.into_iter().flatten();
        match (kinds.next(), kinds.next()) {
            (Some(kind), None) => Some(kind),
            _ => None,
        }
    }

    /// What is expected, in words.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Seen(wanted) => format!("{} is sent", requests::describe_match(wanted)),
            Self::Never(wanted) => format!("{} is never sent", requests::describe_match(wanted)),
            Self::Count(count) => requests::expected_count(count),
            Self::Order(entries) => order::expected_order(entries),
            Self::Gap(gap) => order::expected_gap(gap),
            Self::Header(check) => header::expected(check),
            Self::Result(check) => outcome::expected_result(check),
            Self::Error(check) => outcome::expected_error(check),
            Self::Closed(check) => closed::expected(check),
            Self::Memory(check) => memory::expected(check),
            Self::Alive(step) => format!("step `{step}` succeeds"),
            Self::Witness(check) => witness::expected(check),
        }
    }

    /// What is found.
    pub(super) fn judge(self, index: &Index<'_>) -> Finding {
        if let Some(finding) = self.wanted().and_then(|wanted| requests::since_missing(index, wanted)) {
            return finding;
        }
        match self {
            Self::Seen(wanted) => requests::seen(index, wanted),
            Self::Never(wanted) => requests::never(index, wanted),
            Self::Count(count) => requests::count(index, count),
            Self::Order(entries) => order::order(index, entries),
            Self::Gap(gap) => order::gap(index, gap),
            Self::Header(check) => header::header(index, check),
            Self::Result(check) => outcome::result(index, check),
            Self::Error(check) => outcome::error(index, check),
            Self::Closed(check) => closed::closed(index, check),
            Self::Memory(check) => memory::memory(index, check),
            Self::Alive(step) => outcome::alive(index, step),
            Self::Witness(check) => witness::witness(index, check),
        }
    }

    /// Whether an event that has not come yet could still make the expectation hold.
    pub(super) fn lacks(self, index: &Index<'_>) -> bool {
        let place = |text: &String| text.parse::<super::Moment>().ok().and_then(|moment| moment.place(index));
        match self {
            Self::Seen(wanted) => requests::matching(index, wanted).is_empty(),
            Self::Count(count) => {
                let least = count.is.or(count.min).unwrap_or(0);
                u64::try_from(requests::matching(index, &count.of).len()).is_ok_and(|seen| seen < least)
            }
            Self::Order(entries) => {
                order::entries(entries).iter().any(|moment| moment.place(index).is_none())
            }
            Self::Gap(gap) => place(&gap.from).is_some() && place(&gap.to).is_none(),
            Self::Closed(check) => closed::lacks(index, check),
            Self::Witness(check) => witness::lacks(index, check),
            // What is lacking is taken right before teardown.
            Self::Memory(_) => false,
            Self::Never(_) | Self::Header(_) | Self::Result(_) | Self::Error(_) | Self::Alive(_) => false,
        }
    }

    /// The requests it is about, for kinds that are about requests.
    pub(crate) fn wanted(self) -> Option<&'c RequestMatch> {
        match self {
            Self::Seen(wanted) | Self::Never(wanted) => Some(wanted),
            Self::Count(count) => Some(&count.of),
            Self::Header(check) => Some(&check.of),
            _ => None,
        }
    }

    /// The steps it looks at, by name.
    pub(crate) fn steps(self) -> Vec<String> {
        let of_moments = |moments: Vec<super::Moment>| {
            moments.iter().filter_map(|m| m.step().map(str::to_owned)).collect()
        };
        match self {
            Self::Result(ResultCheck { of, .. }) | Self::Error(ErrorCheck { of, .. }) => vec![of.clone()],
            Self::Alive(step) => vec![step.to_owned()],
            Self::Closed(check) => vec![check.request.clone()],
            Self::Memory(check) => check.since.iter().cloned().collect(),
            Self::Order(entries) => of_moments(order::entries(entries)),
            Self::Gap(gap) => {
                of_moments([&gap.from, &gap.to].into_iter().filter_map(|text| text.parse().ok()).collect())
            }
            Self::Seen(wanted) | Self::Never(wanted) => steps_of(wanted),
            Self::Count(count) => steps_of(&count.of),
            Self::Header(check) => {
                let session = match check.is.as_deref().map(Wanted::of) {
                    Some(Wanted::SessionOf(step)) => Some(step.to_owned()),
                    _ => None,
                };
                steps_of(&check.of).into_iter().chain(session).collect()
            }
            Self::Witness(_) => Vec::new(),
        }
    }
}

/// The steps a match names: `since`, and those whose request ids stand in the body.
pub(crate) fn steps_of(wanted: &RequestMatch) -> Vec<String> {
    fn ids(value: &serde_json::Value, out: &mut Vec<String>) {
        match value {
            serde_json::Value::String(text) => {
                if let Wanted::IdOf(step) = Wanted::of(text) {
                    out.push(step.to_owned());
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| ids(item, out)),
            serde_json::Value::Object(members) => members.values().for_each(|member| ids(member, out)),
            _ => {}
        }
    }
    let mut steps: Vec<String> = wanted.since.iter().cloned().collect();
    if let Some(body) = &wanted.body {
        ids(body, &mut steps);
    }
    steps
}
