//! Verdict words: what the judge says about one check of one variant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the judge found for one check.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The expectation held.
    Pass,
    /// A violation was seen.
    Fail,
    /// What the check is about (`given`) did not happen.
    Unexercised,
    /// The client declared that it cannot do what the check needs.
    Unsupported,
    /// The stimulus or the observation did not happen, so nothing can be said.
    Inconclusive,
    /// The harness failed.
    Error,
}

impl Outcome {
    /// The outcome's word, as in receipts and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unexercised => "unexercised",
            Self::Unsupported => "unsupported",
            Self::Inconclusive => "inconclusive",
            Self::Error => "error",
        }
    }
}

/// How strongly a clause or row binds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// A broken must is a failure.
    Must,
    /// A broken should is a note; a failure with `--strict` or where the profile lists it.
    Should,
    /// A note.
    May,
}

impl Level {
    /// The level's word, as in cases, clauses and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
        }
    }
}

/// The result of one check on one variant.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CheckResult {
    /// The check's id in its case.
    pub id: String,
    /// The check's level.
    pub level: Level,
    /// What the judge found.
    pub outcome: Outcome,
    /// What was expected, in one line without clock, port, pid or path.
    pub expected: String,
    /// What was seen, in one line without clock, port, pid or path.
    pub actual: String,
}
