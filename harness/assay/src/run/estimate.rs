//! What is known of a run before it begins: how many variants its units have, and about how long they take.
//!
//! An estimate rests on the pace that the profile states and on two expectations for what only shows on the wire. It
//! is told to people and written nowhere that is compared.

use super::unit::Unit;
use crate::clauses::Clauses;
use crate::judge::bound::binds_variant;
use crate::profile::{Pace, Profile};
use crate::select::Size;
use std::fmt;

/// Seconds that a variant takes which runs alone: it rests on real waiting, or its client is measured.
const ALONE: f64 = 1.0;

/// What a combination with an open slice plan stands for, on average over the project's cases: variants.
#[must_use]
pub fn open_stands_for(size: Size) -> usize {
    match size {
        Size::Full => 150,
        Size::Sample => 10,
    }
}

/// How many variants a unit has, as far as that is known before it runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Count {
    /// Those whose plans are as they stand in the case.
    pub closed: usize,
    /// Combinations with a plan that stands for a number of variants which only a reply tells.
    pub open: usize,
}

impl Unit<'_> {
    /// Counts the unit's variants in which some check binds a client of this policy, or of none.
    #[must_use]
    pub fn count(&self, policy: Option<&str>, clauses: &Clauses) -> Count {
        if self.is_once() {
            return Count { closed: 1, open: 0 };
        }
        let mut count = Count::default();
        for keys in self.file.combinations() {
            if keys.iter().any(|(_, value)| self.is_open(value)) {
                count.open += 1;
            } else if binds_variant(&self.file.case, &self.variant(keys), policy, clauses) {
                count.closed += 1;
            }
        }
        count
    }
}

/// About how long a run takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    seconds: f64,
}

impl Estimate {
    /// Of these units of a profile; none where the profile states no pace for a wire that they run on.
    #[must_use]
    pub fn of(units: &[Unit<'_>], profile: &Profile, clauses: &Clauses) -> Option<Self> {
        let policy = profile.client.policy();
        let mut seconds = 0.0;
        for unit in units {
            seconds += one(unit, unit.count(policy, clauses), &profile.pace)?;
        }
        Some(Self { seconds })
    }

    /// Seconds, rounded to what an estimate is good for: never none, above ten to five, above a minute to ten.
    #[must_use]
    pub fn seconds(self) -> u64 {
        let step = match self.seconds {
            ..10.0 => 1.0,
            ..60.0 => 5.0,
            _ => 10.0,
        };
        // Below two to the 53rd, as each figure it is made of, and never negative.
        ((self.seconds / step).round() * step).max(1.0) as u64
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "about {} s", self.seconds())
    }
}

/// Seconds of one unit.
fn one(unit: &Unit<'_>, count: Count, pace: &Pace) -> Option<f64> {
    if unit.is_alone() {
        return Some(ALONE * expected(unit, count) as f64);
    }
    let rate = pace.on(unit.wire)?.get();
    Some(expected(unit, count) as f64 / f64::from(rate))
}

/// About how many variants a unit runs.
fn expected(unit: &Unit<'_>, Count { closed, open }: Count) -> usize {
    let variants = closed.saturating_add(open.saturating_mul(open_stands_for(unit.size)));
    unit.size.kept(variants, unit.revisions)
}

#[cfg(test)]
mod tests;
