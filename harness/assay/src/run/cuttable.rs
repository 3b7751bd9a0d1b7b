//! What an open slice plan cuts, as the uncut variant showed it.

use crate::case::reply::Region;
use crate::case::{Case, Rule};
use crate::timeline::{Event, EventKind, Reply};
use std::collections::BTreeMap;
use std::ops::Range;

/// A stretch of bytes that a plan cuts.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Cuttable {
    /// How long it is.
    pub(super) len: usize,
    /// Marks, counted from its start.
    pub(super) marks: Vec<usize>,
}

impl Cuttable {
    /// The shortest reply (or body) that the key `name` with this plan cuts.
    ///
    /// # Errors
    /// No rule that answered cuts by the plan.
    pub(super) fn find(case: &Case, name: &str, plan: &str, timeline: &[Event]) -> Result<Self, String> {
        let cut_here = |text: &Option<String>| text.as_deref() == Some(plan);
        let region = |rule: &Rule| match (cut_here(&rule.slice), cut_here(&rule.chunks)) {
            (true, _) => Some(Some(rule.slice_over)),
            (_, true) => Some(None),
            _ => None,
        };
        let rules: BTreeMap<String, Option<Region>> = case
            .peer
            .iter()
            .enumerate()
            .filter_map(|(index, rule)| Some((format!("case:{index}"), region(rule)?)))
            .chain(
                case.tap
                    .iter()
                    .enumerate()
                    .filter(|(_, rule)| cut_here(&rule.slice))
                    .map(|(index, rule)| (format!("tap:{index}"), Some(rule.slice_over))),
            )
            .collect();
        let mut regions = BTreeMap::new();
        let mut shortest: Option<Self> = None;
        for event in timeline {
            match &event.kind {
                EventKind::Request(request) => {
                    if let Some(region) = rules.get(&request.rule) {
                        regions.insert(request.number, *region);
                    }
                }
                EventKind::Replied(reply) => {
                    let Some(region) = regions.get(&reply.request) else { continue };
                    let cuttable = Self::of(reply, *region);
                    if shortest.as_ref().is_none_or(|s| cuttable.len < s.len) {
                        shortest = Some(cuttable);
                    }
                }
                _ => {}
            }
        }
        shortest.ok_or_else(|| {
            format!(
                "{name}: expected a reply that {plan} cuts, the uncut variant saw none; put \"${name}\" at `slice` or \
                 `chunks` of a rule that answers"
            )
        })
    }

    /// A region of the reply's bytes, or its body before framing.
    fn of(reply: &Reply, region: Option<Region>) -> Self {
        let Some(region) = region else {
            return Self { len: reply.content_len, marks: Vec::new() };
        };
        let len = reply.bytes.len();
        let mark = |name: &str| reply.marks.iter().rfind(|mark| mark.name == name).map(|mark| mark.at);
        let Range { start, end } = match region {
            Region::Reply => 0..len,
            Region::Head => 0..mark("head-end").unwrap_or(len),
            Region::Body => mark("head-end").unwrap_or(0)..len,
            Region::Suffix => mark("terminal").unwrap_or(len)..len,
        };
        let inside = |at: usize| (start..end).contains(&at).then(|| at - start);
        let marks = reply.marks.iter().filter_map(|mark| inside(mark.at)).collect();
        Self { len: end - start, marks }
    }
}
