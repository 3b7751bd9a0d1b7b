//! Receipts: the hashed record of a run, and what can be done with it.
//!
//! A run is a folder `<out>/<profile>/<run id>/` with `run.json`, `catalog.json` and three files a case:
//! `claims/<area>/<fault>.json` (what must reproduce byte for byte), `observations/<area>/<fault>.json` (what clock and
//! machine did) and `timelines/<area>/<fault>.jsonl.gz` (everything both sides saw, redacted).

pub mod accept;
pub mod canonical;
pub mod catalog;
pub mod claim;
pub mod diff;
pub mod fold;
pub mod merkle;
pub mod observation;
pub mod open;
pub mod problem;
pub mod redact;
pub mod rejudge;
pub mod run;
pub mod show;
mod staging;
pub mod store;
#[cfg(test)]
mod testing;
pub mod verify;
pub mod writer;

pub use crate::digest::Digest;
pub use claim::Judged;
pub use open::OpenRun;
pub use problem::Problem;
pub use redact::redact;
pub use rejudge::CatalogJudge;
pub use run::RunHead;
pub use verify::{Rejudge, verify};
pub use writer::{CaseRun, RunWriter, VariantRun};
