//! The switch of the feature `mutants`: what is different about the client of this process.
//!
//! With the feature a program can break one rule of the client, move one limit by one, or give it one other lawful habit,
//! to see that a test notices the first two and not the third. There is one switch for the process, and it holds one change.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use crate::habit::Habit;
use crate::limits::Limits;
pub use crate::rule::Rule;

/// What only a binary built with the feature holds, so that others can be shown to be built without it.
pub const MARKER: &str = "this mcp-assay-client can be told to break its own rules";

/// One change of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It breaks a rule.
    Breaks(Rule),
    /// One of its limits is off by one.
    Moves(&'static str, Side),
    /// It has another lawful habit.
    Has(Habit),
}

/// Which way a limit is off by one: a millisecond, a byte, a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// One less is allowed.
    Less,
    /// One more is allowed.
    More,
}

impl Side {
    pub(crate) fn size(self, size: usize) -> usize {
        match self {
            Self::Less => size.saturating_sub(1),
            Self::More => size.saturating_add(1),
        }
    }

    pub(crate) fn time(self, time: Duration) -> Duration {
        const STEP: Duration = Duration::from_millis(1);
        match self {
            Self::Less => time.saturating_sub(STEP),
            Self::More => time.saturating_add(STEP),
        }
    }
}

/// None: 0. Else the kind of the change in the upper half, its number in the lower one.
static SWITCH: AtomicU32 = AtomicU32::new(0);

/// Makes `change` the one change of every client in this process, from now on; none ends it.
pub fn switch(change: Option<Change>) {
    SWITCH.store(change.map_or(0, code), Ordering::SeqCst);
}

/// Whether this is the change in force.
pub(crate) fn is(change: Change) -> bool {
    SWITCH.load(Ordering::Relaxed) == code(change)
}

/// The limits as the change in force has them.
pub(crate) fn limits(limits: Limits) -> Limits {
    for &name in Limits::NAMES {
        for side in [Side::Less, Side::More] {
            if is(Change::Moves(name, side)) {
                return limits.moved(name, side);
            }
        }
    }
    limits
}

fn code(change: Change) -> u32 {
    match change {
        Change::Breaks(rule) => 0x1_0000 | rule as u32,
        Change::Moves(name, Side::Less) => 0x2_0000 | place(name),
        Change::Moves(name, Side::More) => 0x3_0000 | place(name),
        Change::Has(habit) => 0x4_0000 | habit as u32,
    }
}

/// The number of a limit, from 1; 0 for a name that no limit has.
fn place(name: &str) -> u32 {
    Limits::NAMES.iter().zip(1..).find(|(known, _)| **known == name).map_or(0, |(_, number)| number)
}

/// Writes a name in CamelCase as the table of mutants has it, in kebab-case.
pub(crate) fn kebab(name: &dyn fmt::Debug) -> String {
    let mut text = String::new();
    for c in format!("{name:?}").chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_has_a_code_of_its_own() {
        let rules = Rule::ALL.iter().map(|rule| Change::Breaks(*rule));
        let habits = Habit::ALL.iter().map(|habit| Change::Has(*habit));
        let moves = Limits::NAMES
            .iter()
            .flat_map(|name| [Side::Less, Side::More].map(|side| Change::Moves(name, side)));
        let codes: Vec<u32> = rules.chain(habits).chain(moves).map(code).collect();
        let distinct: std::collections::BTreeSet<u32> = codes.iter().copied().collect();
        assert_eq!(distinct.len(), codes.len());
        assert!(!distinct.contains(&0));
    }

    #[test]
    fn names_are_kebab_case() {
        assert_eq!(kebab(&Side::Less), "less");
        assert_eq!(kebab(&Rule::IdsUnique), "ids-unique");
    }

    #[test]
    fn a_limit_moves_by_one_of_its_own_unit() {
        let limits = Limits::default();
        assert_eq!(limits.clone().moved("max_tools", Side::More).max_tools, 257);
        assert_eq!(limits.clone().moved("timeout", Side::Less).timeout, Duration::from_millis(4_999));
        assert_eq!(limits.clone().moved("max_luck", Side::Less), limits);
    }
}
