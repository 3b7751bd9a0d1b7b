//! Verifying a run from its folder alone: every file, every digest, every verdict.
//!
//! Stages run in order, and the first that finds problems ends the verification with all of them:
//!
//! 1. `run.json` is a whole, canonical manifest of a finished run whose sources did not change.
//! 2. The folder holds the files of the manifest and nothing else: no link, no further folder; each has its size and
//!    digest. Paths are computed from case ids, never read from a file.
//! 3. Catalogue, claims and observations are canonical, of their formats, and agree with each other; roots are
//!    recomputed.
//! 4. Every timeline is judged again; the claim that follows must be the stored one byte for byte, and so must
//!    everything that can be counted. The results are held against the profile: the run's exit must be at least as
//!    grave as what they amount to, which for a whole run takes in the floors of the profile.

mod cases;
mod files;
mod manifest;

use super::catalog::Catalog;
use super::claim::Judged;
use super::problem::Problem;
use super::run::RunHead;
use crate::digest::Digest;
use crate::profile::Profile;
use crate::timeline::Event;
use crate::variant::{CaseId, Variant};
use serde::Serialize;
use std::path::Path;

pub(super) use files::Folder;
pub(super) use manifest::read as read_manifest;

/// Judges stored timelines again. The judge itself knows nothing of receipts; this is where it is plugged in.
pub trait Rejudge {
    /// Takes up the texts of a run; called once, before everything else.
    ///
    /// # Errors
    ///
    /// When a text cannot be read as what it is.
    fn open(&mut self, head: &RunHead, catalog: &Catalog) -> Result<(), Vec<Problem>>;

    /// The run's profile, by which results are expected or not; none where nothing is to be said about the exit.
    fn profile(&self) -> Option<&Profile>;

    /// SHA-256 over RFC 8785 of the parsed case file.
    ///
    /// # Errors
    ///
    /// When the case is unknown.
    fn digest(&self, case: &CaseId) -> Result<Digest, Problem>;

    /// Judges a timeline.
    ///
    /// # Errors
    ///
    /// When the case is unknown or has no such variant.
    fn judge(&self, case: &CaseId, variant: &Variant, timeline: &[Event]) -> Result<Judged, Problem>;

    /// The exchange of a timeline as text, for people to compare; none where exchanges are not compared.
    fn exchange(&self, case: &CaseId, variant: &Variant, timeline: &[Event]) -> Option<String>;
}

/// What a verified run says.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct VerifyReport {
    /// The profile's name.
    pub profile: String,
    /// Cases judged again.
    pub cases: u64,
    /// Variants judged again.
    pub variants: u64,
    /// Check results compared.
    pub checks: u64,
    /// Files hashed, the manifest not counted.
    pub files: u64,
    /// The root over the claims.
    pub claims_root: Digest,
    /// The root over the observations.
    pub observations_root: Digest,
    /// The exit code that the run ended with.
    pub exit: u8,
    /// Why the run is partial; empty when it is whole.
    pub partial: Vec<String>,
}

impl VerifyReport {
    /// The report in one sentence. A run that failed verifies like any other: the sentence says how it ended.
    #[must_use]
    pub fn sentence(&self) -> String {
        let scope = if self.partial.is_empty() { "whole" } else { "partial" };
        format!(
            "verified: {scope} run of {}, {} cases, {} variants, {} checks judged again, exit {} by its profile, claims {}, observations {}",
            self.profile,
            self.cases,
            self.variants,
            self.checks,
            self.exit,
            self.claims_root,
            self.observations_root
        )
    }
}

/// Verifies the run in a folder.
///
/// # Errors
///
/// All problems of the first stage that found some, at most a hundred.
pub fn verify(run: &Path, rejudge: &mut dyn Rejudge) -> Result<VerifyReport, Vec<Problem>> {
    let folder = Folder::open(run)?;
    let run = manifest::read(&folder)?;
    folder.check_files(&run)?;
    let parts = manifest::parts(&folder, &run)?;
    rejudge.open(&run.head, &parts.catalog)?;
    cases::check(&folder, &run, &parts, rejudge)?;
    Ok(VerifyReport {
        profile: run.head.profile.clone(),
        cases: run.counts.cases,
        variants: run.counts.executed,
        checks: run.counts.checks.values().sum(),
        files: run.cases.len() as u64 * 3 + 1,
        claims_root: run.claims.root,
        observations_root: run.observations.root,
        exit: run.summary.exit,
        partial: run.head.scope.partial,
    })
}

/// The most problems that are listed.
const LISTED: usize = 100;

/// Ends a stage: nothing if it found no problem.
fn stage(mut problems: Vec<Problem>) -> Result<(), Vec<Problem>> {
    problems.truncate(LISTED);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

#[cfg(test)]
mod tests;
