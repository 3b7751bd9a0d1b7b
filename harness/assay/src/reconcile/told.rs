//! What was unexpected, in words.

use super::{Class, Sighting};
use crate::verdict::Outcome;
use std::fmt;

/// One line about something unexpected, without the case and the check.
pub(super) struct Told<'a> {
    pub(super) class: Class,
    pub(super) sighting: &'a Sighting,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sighting { count, first, expected, actual } = self.sighting;
        match self.class {
            Class::Stale => write!(f, "listed as a deviation, but passed")?,
            Class::Gap(outcome) => write!(f, "{}, and not listed so: {actual}", word(outcome))?,
            _ => write!(f, "failed: expected {expected}; saw {actual}")?,
        }
        let variants = if *count == 1 { "variant" } else { "variants" };
        write!(f, " ({count} {variants}, first {first})")
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Unexercised => "unexercised",
        Outcome::Unsupported => "unsupported",
        Outcome::Inconclusive => "inconclusive",
        Outcome::Error => "harness error",
    }
}
