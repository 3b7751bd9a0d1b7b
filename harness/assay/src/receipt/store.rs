//! Stored timelines: `timelines/<area>/<fault>.jsonl.gz`, every variant of a case in one file.
//!
//! JSON lines in one gzip member. First `{"case":…}`; then, for each variant, `{"variant":…}` and its events, each
//! `{"event":…}`; last `{"end":…}`. Byte strings, header lists, marks and JSON values repeat across the variants of a
//! case, so each distinct one stands once, as `{"blob":…}` before its first use, and is referred to by its number
//! from 0. Runs of a repeated unit of [`blob::LONG`] bytes or more are kept as unit and times, with the digest of the
//! whole.
//!
//! Reading is bounded ([`read::MAX_INFLATED`]) and total: whatever a file holds, the answer is events or a
//! [`Problem`](super::problem::Problem).

pub mod blob;
mod budget;
mod line;
pub mod read;
pub mod write;

pub use read::{StoredVariant, TimelineReader};
pub use write::TimelineWriter;

/// The name and version of the format.
pub const SCHEMA: &str = "mcp-assay/timelines/v1";

#[cfg(test)]
mod tests;
