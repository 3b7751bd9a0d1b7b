//! What a client should or may do and did not: told, and no failure.

use crate::verdict::Level;
use serde::Serialize;
use std::fmt;

/// A check of a case that asks for no more than a should or a may, and did not hold.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Note {
    /// The case.
    pub case: String,
    /// The check.
    pub check: String,
    /// Its level.
    pub level: Level,
    /// The clause it is tied to, if it is tied to one.
    pub clause: Option<String>,
    /// The rows it is tied to.
    pub rows: Vec<String>,
    /// What it expects.
    pub expected: String,
    /// What was seen in place of that, in the first of its variants.
    pub actual: String,
    /// In how many variants it did not hold.
    pub variants: u64,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, check, expected, actual, variants, .. } = self;
        write!(f, "{case} {check} ({}", self.level.as_str())?;
        for id in self.clause.iter().chain(&self.rows) {
            write!(f, ", {id}")?;
        }
        let word = if *variants == 1 { "variant" } else { "variants" };
        write!(f, "): expected {expected}; saw {actual} ({variants} {word})")
    }
}
