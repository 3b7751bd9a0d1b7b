//! Claims: what a case showed, free of everything that differs from run to run.

use super::canonical;
use super::fold;
use super::problem::Problem;
use crate::digest::Digest;
use crate::variant::{CaseId, Variant};
use crate::verdict::CheckResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The name and version of the format.
pub const SCHEMA: &str = "mcp-assay/claim/v1";

/// A claim: one file a case. Two runs of one client against one peer write the same bytes, whatever the number of
/// jobs, the order in which variants ended, the machine or the day.
///
/// It holds no clock, port, pid, path, session id, subject, harness or lock digest.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// [`SCHEMA`].
    pub schema: String,
    /// The profile's name.
    pub profile: String,
    /// The case's id.
    pub case: String,
    /// SHA-256 over RFC 8785 of the parsed case file.
    #[schemars(with = "String")]
    pub digest: Digest,
    /// The client under test.
    pub client: Client,
    /// What kind of evidence this is.
    pub evidence: EvidenceClass,
    /// Each different result of a check, once, in the order in which the groups name them first.
    pub results: Vec<CheckResult>,
    /// The variants, those with equal results together.
    pub groups: Vec<Group>,
}

/// The client under test, as a claim names it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its exact version.
    pub version: String,
}

/// What kind of evidence a claim is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceClass {
    /// The built-in client against the scripted peer.
    Scripted,
    /// A client against an SDK server behind the tap.
    SdkServer,
    /// A client of others, driven by a process.
    ForeignClient,
}

/// Variants with equal results.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The variants, folded (see [`fold`]).
    pub variants: Vec<String>,
    /// How many variants that is.
    pub count: u64,
    /// The result of each check, in the case's order: its place in [`Claim::results`], from 0.
    pub checks: Vec<usize>,
    /// The exchange digest; only where the evidence is [`EvidenceClass::Scripted`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<String>,
}

/// The judgement of one variant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Judged {
    /// The result of each check, in the case's order.
    pub checks: Vec<CheckResult>,
    /// The exchange digest.
    pub exchange: Option<String>,
}

/// What all claims of a run share.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The profile's name.
    pub profile: &'a str,
    /// The client under test.
    pub client: &'a Client,
    /// What kind of evidence the run is.
    pub evidence: EvidenceClass,
}

impl Claim {
    /// Makes the claim of a case from the judgements of its variants.
    ///
    /// # Errors
    ///
    /// When there is no variant, or a result holds what canonical JSON cannot.
    pub fn new(
        about: About<'_>,
        case: &CaseId,
        digest: Digest,
        judged: &BTreeMap<Variant, Judged>,
    ) -> Result<Self, Problem> {
        let place = path(case);
        if judged.is_empty() {
            return Err(Problem::new(
                place,
                "at least one variant",
                "none",
                "leave cases that did not run out",
            ));
        }
        let mut equal: BTreeMap<Vec<u8>, (&Judged, BTreeSet<Variant>)> = BTreeMap::new();
        for (variant, judged) in judged {
            let key = canonical::to_bytes(&(&judged.checks, &judged.exchange), &place)?;
            equal.entry(key).or_insert_with(|| (judged, BTreeSet::new())).1.insert(variant.clone());
        }
        let mut sets: Vec<(&Judged, BTreeSet<Variant>)> = equal.into_values().collect();
        sets.sort_by(|(_, a), (_, b)| a.first().cmp(&b.first()));
        let mut results = Vec::new();
        let group = |(judged, variants): (&Judged, BTreeSet<Variant>)| Group {
            variants: fold::fold(&variants),
            count: variants.len() as u64,
            checks: judged.checks.iter().map(|check| place_in(&mut results, check)).collect(),
            exchange: judged.exchange.clone(),
        };
        let groups = sets.into_iter().map(group).collect();
        Ok(Self {
            schema: SCHEMA.to_owned(),
            profile: about.profile.to_owned(),
            case: case.to_string(),
            digest,
            client: about.client.clone(),
            evidence: about.evidence,
            results,
            groups,
        })
    }

    /// Reads a claim strictly and checks what it says about itself. `place` names the file in problems.
    ///
    /// # Errors
    ///
    /// When it is not canonical, of another format, case or profile, or contradicts itself.
    pub fn read(bytes: &[u8], profile: &str, case: &CaseId, place: &str) -> Result<Self, Problem> {
        let claim: Self = canonical::from_bytes(bytes, place)?;
        let expected = format!("{SCHEMA} of {case} in {profile}");
        let seen = format!("{} of {} in {}", claim.schema, claim.case, claim.profile);
        if seen != expected {
            return Err(Problem::new(place, expected, seen, "put the file back where it belongs"));
        }
        claim.judged(place)?;
        Ok(claim)
    }

    /// The result of each check of a group, in the case's order.
    ///
    /// # Errors
    ///
    /// When the group names a place that [`Claim::results`] has not.
    pub fn results_of(&self, group: &Group, place: &str) -> Result<Vec<CheckResult>, Problem> {
        let result = |at: &usize| {
            self.results.get(*at).cloned().ok_or_else(|| {
                let expected = format!("places in `results` below {}", self.results.len());
                Problem::new(place, expected, at.to_string(), REMEDY)
            })
        };
        group.checks.iter().map(result).collect()
    }

    /// The judgement of each variant.
    ///
    /// # Errors
    ///
    /// When a fold cannot be read, a count or a place of a result is wrong, or a variant stands twice.
    pub fn judged(&self, place: &str) -> Result<BTreeMap<Variant, Judged>, Problem> {
        let mut all = BTreeMap::new();
        for group in &self.groups {
            let before = all.len();
            let checks = self.results_of(group, place)?;
            for text in &group.variants {
                for variant in fold::unfold(text)? {
                    if all.len() >= fold::MAX_VARIANTS {
                        return Err(Problem::new(place, "at most a million variants", "more", REMEDY));
                    }
                    let judged = Judged { checks: checks.clone(), exchange: group.exchange.clone() };
                    if let Some(_twice) = all.insert(variant.clone(), judged) {
                        return Err(Problem::new(place, "each variant once", variant.to_string(), REMEDY));
                    }
                }
            }
            let seen = (all.len() - before) as u64;
            if seen != group.count {
                let expected = format!("a group of {} variants", group.count);
                return Err(Problem::new(place, expected, seen.to_string(), REMEDY));
            }
        }
        Ok(all)
    }
}

const REMEDY: &str = "restore the file as the harness wrote it";

/// The place of a result among those told so far; a new one comes last.
fn place_in(results: &mut Vec<CheckResult>, check: &CheckResult) -> usize {
    results.iter().position(|known| known == check).unwrap_or_else(|| {
        results.push(check.clone());
        results.len() - 1
    })
}

/// Where the claim of a case lies in a run.
#[must_use]
pub fn path(case: &CaseId) -> String {
    format!("claims/{case}.json")
}

#[cfg(test)]
mod tests;
