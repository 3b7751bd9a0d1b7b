//! A result that was not expected, as a person sees it.

use super::variant::Setup;
use crate::catalogue::CaseFile;
use crate::receipt::writer::VariantRun;
use crate::render::{Failure, View};
use crate::timeline::EventKind;
use crate::verdict::{CheckResult, Outcome};
use std::fmt;

/// One result of one variant. Shown, it is the rendered failure.
#[derive(Clone, Copy)]
pub struct Sighting<'a> {
    /// How the program is called, for the commands.
    pub program: &'a str,
    /// The profile as the person named it.
    pub profile: &'a str,
    /// What the variant was run with.
    pub setup: &'a Setup<'a>,
    /// The case.
    pub file: &'a CaseFile,
    /// The variant.
    pub ran: &'a VariantRun,
    /// The result.
    pub result: &'a CheckResult,
}

/// One variant for each check of a case, of all those in which its result was not expected: one in which the check
/// failed before one in which it said nothing, then the one whose wire is cut the least.
#[must_use]
pub fn simplest<'a>(seen: &[(&'a VariantRun, &'a CheckResult)]) -> Vec<(&'a VariantRun, &'a CheckResult)> {
    let silent = |result: &CheckResult| !matches!(result.outcome, Outcome::Fail | Outcome::Error);
    let rank = |(ran, result): &(&VariantRun, &CheckResult)| (silent(result), pieces(ran));
    let mut simplest: Vec<(&VariantRun, &CheckResult)> = Vec::new();
    for found in seen {
        match simplest.iter_mut().find(|(_, result)| result.id == found.1.id) {
            Some(known) if rank(found) < rank(known) => *known = *found,
            Some(_) => {}
            None => simplest.push(*found),
        }
    }
    simplest
}

/// In how many pieces the peer's replies came: cuts between its writes, and chunks.
fn pieces(ran: &VariantRun) -> usize {
    let replies = ran.timeline.iter().map(|event| match &event.kind {
        EventKind::Replied(reply) => {
            let chunks = reply.marks.iter().filter(|mark| mark.name == "chunk-size-line").count();
            reply.cuts.len() + chunks
        }
        _ => 0,
    });
    replies.sum()
}

impl fmt::Display for Sighting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, profile, setup, file, ran, result } = *self;
        match file.instantiate(&ran.variant.keys) {
            Ok(case) => {
                let input = setup.input(&case, &ran.variant, &ran.timeline);
                let (case_id, seed, view) = (&file.id, setup.seed, View::Window);
                Failure { program, profile, case_id, input, result, seed, receipt: None, view }.fmt(f)
            }
            // It ran, so it could be instantiated before; if not any more, that is what must be seen.
            Err(error) => f.write_str(&error.rendered()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{Event, Mark, Reply};
    use crate::variant::{Variant, Wire};
    use crate::verdict::Level;
    use std::sync::Arc;

    /// A variant whose only reply is cut so often, in so many chunks.
    fn ran(slice: &str, cuts: usize, chunks: usize) -> VariantRun {
        let mark = |at| Mark { name: "chunk-size-line".to_owned(), at };
        let reply = Reply {
            request: 1,
            bytes: "x".repeat(9).into(),
            content_len: 9,
            written: 9,
            marks: (0..chunks).map(mark).collect(),
            cuts: (0..cuts).collect(),
            proven: 0,
            complete: true,
        };
        let keys = vec![("slice".to_owned(), slice.to_owned())];
        let revision = "2025-06-18".parse().unwrap();
        VariantRun {
            variant: Variant { revision, server: None, keys, wire: Wire::Memory },
            timeline: vec![Event { at_us: 0, kind: EventKind::Replied(Arc::new(reply)) }],
            checks: Vec::new(),
            exchange: None,
            seconds: 0.0,
        }
    }

    fn result(id: &str, outcome: Outcome) -> CheckResult {
        let id = id.to_owned();
        CheckResult { id, level: Level::Must, outcome, expected: "a".to_owned(), actual: "b".to_owned() }
    }

    #[test]
    fn the_variant_with_the_fewest_cuts_stands_for_a_check() {
        let every = ran("at-marks", 129, 129);
        let one = ran("each-cut@3", 1, 3);
        let whole = ran("whole", 0, 3);
        let (failed, other) = (result("a", Outcome::Fail), result("b", Outcome::Fail));
        let silent = result("a", Outcome::Inconclusive);
        let seen = [(&every, &failed), (&every, &other), (&one, &failed), (&whole, &silent)];
        let found = simplest(&seen);
        let told: Vec<(&str, &str)> =
            found.iter().map(|(ran, result)| (ran.variant.keys[0].1.as_str(), &*result.id)).collect();
        // What failed says more than what said nothing.
        assert_eq!(told, [("each-cut@3", "a"), ("at-marks", "b")]);
        assert_eq!(simplest(&[(&one, &failed), (&whole, &failed)])[0].0.variant, whole.variant);
    }
}
