//! What a file may unfold to: short lines may stand for very much, so all that is built from them is counted first.

use super::line::Blob;
use crate::timeline::{EVENTS_MAX, RECORD_MAX};
use std::collections::HashMap;

/// The most memory, in bytes, that one timeline may take beside the byte strings it points to: cuts, parsed JSON,
/// events. A recording has at most [`RECORD_MAX`], and tokens may be longer than what they stand for.
pub(super) const MAX_TIMELINE: u64 = 2 * RECORD_MAX;

/// The same over all timelines of a file, where each is counted although only one is held.
pub(super) const MAX_UNFOLDED: u64 = 16 << 30;

/// The most events of one timeline: those of a recording, the one that says it is full, and teardown.
pub(super) const MAX_EVENTS: u64 = EVENTS_MAX as u64 + 2;

/// Counts what one file unfolds to.
#[derive(Debug, Default)]
pub(super) struct Budget {
    timeline: u64,
    unfolded: u64,
    /// What byte strings take as JSON, so that each is weighed once.
    weights: HashMap<Blob, u64>,
}

/// More than a file may unfold to: what was expected.
#[derive(Debug)]
pub(super) struct Beyond(pub(super) String);

impl Budget {
    /// A timeline begins; the one before it is not held any more.
    pub(super) fn next_timeline(&mut self) {
        self.timeline = 0;
    }

    /// Counts memory that is about to be taken.
    pub(super) fn take(&mut self, bytes: u64) -> Result<(), Beyond> {
        self.timeline = self.timeline.saturating_add(bytes);
        self.unfolded = self.unfolded.saturating_add(bytes);
        if self.timeline > MAX_TIMELINE {
            return Err(Beyond(format!("a timeline that unfolds to at most {MAX_TIMELINE} bytes")));
        }
        if self.unfolded > MAX_UNFOLDED {
            return Err(Beyond(format!("timelines that unfold to at most {MAX_UNFOLDED} bytes")));
        }
        Ok(())
    }

    /// Counts a byte string that is about to be parsed as JSON; `weigh` tells what it then takes, at most so much.
    pub(super) fn take_json(
        &mut self,
        blob: Blob,
        weigh: impl FnOnce(u64) -> Option<u64>,
    ) -> Result<(), Beyond> {
        let weight = match self.weights.get(&blob) {
            Some(weight) => *weight,
            None => {
                // What weighs more is beyond the budget in any case.
                let weight = weigh(MAX_TIMELINE).unwrap_or(MAX_TIMELINE.saturating_add(1));
                self.weights.insert(blob, weight);
                weight
            }
        };
        self.take(weight)
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, MAX_TIMELINE, MAX_UNFOLDED};

    #[test]
    fn each_timeline_has_the_room_that_the_one_before_had_up_to_that_of_the_file() {
        let mut budget = Budget::default();
        for _ in 0..MAX_UNFOLDED / MAX_TIMELINE {
            budget.next_timeline();
            budget.take(MAX_TIMELINE).unwrap();
            assert!(budget.timeline == MAX_TIMELINE);
        }
        budget.next_timeline();
        assert!(budget.take(1).unwrap_err().0.starts_with("timelines that unfold"));
    }

    #[test]
    fn a_byte_string_is_weighed_once_and_counted_each_time() {
        let mut budget = Budget::default();
        budget.take_json(3, |_| Some(MAX_TIMELINE / 2)).unwrap();
        budget.take_json(3, |_| panic!("it is known")).unwrap();
        assert!(budget.take_json(3, |_| panic!("it is known")).is_err());
        budget.next_timeline();
        assert!(budget.take_json(4, |most| Some(most).filter(|_| false)).is_err());
    }
}
