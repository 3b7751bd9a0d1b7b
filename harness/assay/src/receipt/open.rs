//! A finished run, opened for reading.

use super::claim::{self, Claim};
use super::problem::Problem;
use super::run::{CaseRecord, Run};
use super::store::{StoredVariant, TimelineReader};
use super::verify::{Folder, read_manifest};
use super::writer::{CATALOG, timelines_path};
use super::{canonical, catalog::Catalog};
use crate::variant::{CaseId, Variant};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A finished run: its manifest and its claims. Timelines are read when asked for.
///
/// Opening checks each file that is read against the manifest; whether the run is true is for
/// [`verify`](super::verify::verify) to say.
#[derive(Debug)]
pub struct OpenRun {
    /// Its folder.
    pub path: PathBuf,
    /// Its manifest.
    pub run: Run,
    /// Its claims.
    pub claims: BTreeMap<CaseId, Claim>,
    folder: Folder,
}

impl OpenRun {
    /// Opens the run in a folder.
    ///
    /// # Errors
    ///
    /// When it is no finished run, or a claim is not what the manifest says.
    pub fn open(path: &Path) -> Result<Self, Vec<Problem>> {
        let folder = Folder::open(path)?;
        let run = read_manifest(&folder)?;
        let mut claims = BTreeMap::new();
        let mut problems = Vec::new();
        for record in &run.cases {
            match read_claim(&folder, &run, record) {
                Ok((case, claim)) => _ = claims.insert(case, claim),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            Ok(Self { path: path.to_owned(), run, claims, folder })
        } else {
            Err(problems)
        }
    }

    /// The texts the run was judged by.
    ///
    /// # Errors
    ///
    /// When the file is not what the manifest says.
    pub fn catalog(&self) -> Result<Catalog, Problem> {
        canonical::from_bytes(&self.folder.read_recorded(CATALOG, self.run.catalog)?, CATALOG)
    }

    /// The timeline of one variant; none where the run has no such variant.
    ///
    /// # Errors
    ///
    /// When the file is not what the manifest says.
    pub fn timeline(&self, case: &CaseId, variant: &Variant) -> Result<Option<StoredVariant>, Problem> {
        let Some(record) = self.run.cases.iter().find(|record| record.case == case.as_str()) else {
            return Ok(None);
        };
        let bytes = self.folder.read_recorded(&timelines_path(case), record.timelines)?;
        let mut reader = TimelineReader::open(bytes.as_slice(), &self.run.head.profile, case)?;
        while let Some(stored) = reader.next_variant()? {
            if stored.variant == *variant {
                return Ok(Some(stored));
            }
        }
        Ok(None)
    }

    /// The bytes of a case's claim.
    pub(super) fn claim_bytes(&self, case: &CaseId) -> Result<Vec<u8>, Problem> {
        let path = claim::path(case);
        let record = self.run.cases.iter().find(|record| record.case == case.as_str());
        let record =
            record.ok_or_else(|| Problem::new(&path, "a case of the run", "none", "name one that ran"))?;
        self.folder.read_recorded(&path, record.claim)
    }
}

fn read_claim(folder: &Folder, run: &Run, record: &CaseRecord) -> Result<(CaseId, Claim), Problem> {
    let case: CaseId = record.case.parse().map_err(|e: crate::variant::BadCaseId| {
        Problem::new("run.json", "a case id", e.to_string(), "restore run.json")
    })?;
    let path = claim::path(&case);
    let bytes = folder.read_recorded(&path, record.claim)?;
    let claim = Claim::read(&bytes, &run.head.profile, &case, &path)?;
    Ok((case, claim))
}
