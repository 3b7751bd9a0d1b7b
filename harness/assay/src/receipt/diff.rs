//! What differs between two claims, two runs, or a run and what was accepted, in plain sentences.

mod change;
mod exchange;
mod runs;

pub use change::{Change, Variants, claims};
pub(super) use change::{Within, word};
pub(crate) use exchange::unified;
pub(super) use runs::sets;
pub use runs::{CaseDiff, RunDiff, runs};

#[cfg(test)]
mod tests;
