//! The judge, plugged into the verification of runs.

use super::catalog::Catalog;
use super::claim::{EvidenceClass, Judged};
use super::problem::Problem;
use super::run::{Offered, RunHead};
use super::verify::Rejudge;
use super::writer::CATALOG;
use crate::case::{Case, CaseFile};
use crate::clauses::Clauses;
use crate::digest::Digest;
use crate::exchange::{digest_index, exchange_text};
use crate::judge::index::Index;
use crate::judge::{JudgeInput, Offers, judge_index};
use crate::profile::{Profile, ProfileFile};
use crate::source::SourceError;
use crate::timeline::Event;
use crate::variant::{CaseId, Variant};
use std::collections::BTreeMap;

/// Judges the timelines of a run by the texts of that run alone: nothing is read from the checkout.
#[derive(Debug, Default)]
pub struct CatalogJudge {
    files: BTreeMap<CaseId, CaseFile>,
    profile: Option<Profile>,
    clauses: Clauses,
    policy: Option<String>,
    offers: Offers,
    /// Whether claims of the run hold exchanges.
    exchanges: bool,
}

impl CatalogJudge {
    fn file(&self, case: &CaseId) -> Result<&CaseFile, Problem> {
        let missing = || Problem::new(CATALOG, "the text of each case", format!("none of {case}"), REMEDY);
        self.files.get(case).ok_or_else(missing)
    }

    fn case(&self, case: &CaseId, variant: &Variant) -> Result<Case, Problem> {
        self.file(case)?.instantiate(&variant.keys).map_err(|error| {
            let expected = format!("a variant of {case}");
            Problem::new(super::writer::timelines_path(case), expected, format!("{variant}: {error}"), REMEDY)
        })
    }
}

const REMEDY: &str =
    "restore the run from a copy, or verify it with the version of the harness that wrote it";

impl Rejudge for CatalogJudge {
    fn open(&mut self, head: &RunHead, catalog: &Catalog) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        let mut files = BTreeMap::new();
        for (id, text) in &catalog.cases {
            let parsed = id
                .parse::<CaseId>()
                .map_err(|error| vec![Problem::new(CATALOG, "case ids", error.to_string(), REMEDY)]);
            let file = parsed.and_then(|id| {
                let path = format!("fixtures/cases/{id}.toml");
                CaseFile::parse(id, path, &text.text)
                    .map_err(|errors| errors.iter().map(unreadable).collect())
            });
            match file {
                Ok(file) => _ = files.insert(file.id.clone(), file),
                Err(errors) => problems.extend(errors),
            }
        }
        let texts = catalog.texts.clauses.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let clauses = Clauses::from_texts(texts).map_err(|error| problems.push(unreadable(&error)));
        let profile = ProfileFile::from_texts(&head.profile, &catalog.texts.profiles);
        let profile = profile.map_err(|error| problems.push(unreadable(&error)));
        if let Ok(file) = &profile
            && Digest(file.digest) != head.profile_sha256
        {
            let expected = format!("the text of the profile {}, {}", head.profile, head.profile_sha256);
            problems.push(Problem::new(CATALOG, expected, Digest(file.digest).to_string(), REMEDY));
        }
        let (Ok(clauses), Ok(profile), true) = (clauses, profile, problems.is_empty()) else {
            return Err(problems);
        };
        *self = Self {
            files,
            profile: Some(profile.profile),
            clauses,
            policy: head.policy.clone(),
            offers: head.offers.clone().into(),
            exchanges: head.evidence == EvidenceClass::Scripted,
        };
        Ok(())
    }

    fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    fn digest(&self, case: &CaseId) -> Result<Digest, Problem> {
        self.file(case).map(|file| Digest(file.digest))
    }

    fn judge(&self, case: &CaseId, variant: &Variant, timeline: &[Event]) -> Result<Judged, Problem> {
        let case = self.case(case, variant)?;
        let (policy, offers, clauses) = (self.policy.as_deref(), &self.offers, &self.clauses);
        let index = Index::new(&case, timeline);
        let input = JudgeInput { case: &case, variant, policy, offers, clauses, timeline };
        let checks = judge_index(&input, &index);
        let exchange = self.exchanges.then(|| digest_index(&index));
        Ok(Judged { checks, exchange })
    }

    fn exchange(&self, case: &CaseId, variant: &Variant, timeline: &[Event]) -> Option<String> {
        let case = self.case(case, variant).ok()?;
        self.exchanges.then(|| exchange_text(&case, timeline))
    }
}

impl From<Offered> for Offers {
    fn from(offered: Offered) -> Self {
        let set = |list: Option<Vec<String>>| list.map(|list| list.into_iter().collect());
        Self { limits: set(offered.limits), verbs: set(offered.verbs) }
    }
}

impl From<&Offers> for Offered {
    fn from(offers: &Offers) -> Self {
        Self {
            limits: offers.limits.as_ref().map(|set| set.iter().cloned().collect()),
            verbs: offers.verbs.as_ref().map(|set| set.iter().cloned().collect()),
        }
    }
}

fn unreadable(error: &SourceError) -> Problem {
    Problem::new(CATALOG, "texts that this version of the harness reads", error.to_string(), REMEDY)
}

#[cfg(test)]
mod tests;
