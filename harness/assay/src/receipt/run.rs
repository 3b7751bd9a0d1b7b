//! `run.json`: what ran, with which outcome, and every file of the run with its size and digest.

use super::claim::{Client, EvidenceClass};
use crate::digest::Digest;
use crate::profile::Tier;
use crate::revision::Revision;
use crate::variant::Wire;
use crate::verdict::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of the format.
pub const SCHEMA: &str = "mcp-assay/run/v1";

/// The name of the trees' rule: RFC 6962 section 2.1 with SHA-256, whole files as leaves, in the order of case ids.
pub const TREE: &str = "rfc6962-sha256";

/// The manifest of a run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: String,
    /// What ran, as it was known at the start.
    pub head: RunHead,
    /// What came of it.
    pub summary: Summary,
    /// What was counted.
    pub counts: Counts,
    /// The tree over the claims: two runs that agree have the same root.
    pub claims: Tree,
    /// The tree over the observations.
    pub observations: Tree,
    /// The file `catalog.json`.
    pub catalog: FileRecord,
    /// The files of each case, in the order of case ids. Paths are computed from the id, never read.
    pub cases: Vec<CaseRecord>,
}

/// What is known of a run before it begins.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RunHead {
    /// The profile's name.
    pub profile: String,
    /// SHA-256 of the profile's file.
    #[schemars(with = "String")]
    pub profile_sha256: Digest,
    /// What kind of evidence the run is.
    pub evidence: EvidenceClass,
    /// The client under test, as its claims name it.
    pub client: Client,
    /// The client's policy, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What the client offers.
    pub offers: Offered,
    /// The very client: how it was identified beyond name and version (binary digest, lock digest, start command).
    pub subject: Identity,
    /// The peers it spoke with.
    pub peers: Vec<Identity>,
    /// The harness.
    pub harness: Identity,
    /// The version of the catalogue.
    pub catalogue: String,
    /// SHA-256 over the catalogue.
    #[schemars(with = "String")]
    pub catalogue_sha256: Digest,
    /// SHA-256 over the sources that decide the outcome, before the run.
    #[schemars(with = "String")]
    pub sources_before: Digest,
    /// The exact command line, word by word: the program without the folder it lies in, the arguments as given.
    pub command: Vec<String>,
    /// The seed, in decimal: it may exceed what JSON holds exactly.
    pub seed: String,
    /// What was chosen to run.
    pub scope: Scope,
    /// When the run began, in UTC: `2026-11-30T13:28:58Z`.
    pub started: String,
}

/// Something that took part, and what pins it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The package, program or mode.
    pub name: String,
    /// Its exact version.
    pub version: String,
    /// SHA-256 of its binary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub sha256: Option<Digest>,
    /// SHA-256 of its lock file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub lock_sha256: Option<Digest>,
    /// How it is started, without machine paths; empty where it runs in the harness.
    pub command: Vec<String>,
}

impl Identity {
    /// Something that nothing but its name and version pins.
    #[must_use]
    pub fn unpinned(name: &str, version: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            sha256: None,
            lock_sha256: None,
            command: Vec::new(),
        }
    }
}

/// What the client can do; none means all.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    /// The limits it can set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Vec<String>>,
    /// The verbs it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbs: Option<Vec<String>>,
}

/// What was chosen to run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The tier of the profile. `full` is left out: it is the profile itself.
    #[serde(default, skip_serializing_if = "Scope::is_of_all")]
    pub tier: Tier,
    /// The revisions.
    pub revisions: Vec<Revision>,
    /// The wires.
    pub wires: Vec<Wire>,
    /// The size: `full` or `sample`.
    pub size: String,
    /// How many variants ran side by side.
    pub jobs: u32,
    /// Why the run is partial, one reason a choice (`tier smoke`, `filter`, `shard`, another `seed`); empty when it is
    /// not. A partial run is never accepted.
    pub partial: Vec<String>,
}

impl Scope {
    /// What [`Self::partial`] says of a tier: nothing of the one that is all of the profile.
    #[must_use]
    pub fn part(tier: Tier) -> Option<String> {
        (tier != Tier::Full).then(|| format!("{TIER}{tier}"))
    }

    /// What [`Self::partial`] says of tiers.
    pub(super) fn parts(&self) -> Vec<&str> {
        self.partial.iter().map(String::as_str).filter(|reason| reason.starts_with(TIER)).collect()
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_of_all(tier: &Tier) -> bool {
        *tier == Tier::Full
    }
}

/// How a reason begins that names a tier.
const TIER: &str = "tier ";

/// What came of a run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// SHA-256 over the sources after the run; another one than before voids it.
    #[schemars(with = "String")]
    pub sources_after: Digest,
    /// The exit code of the run by its profile. What comparing it with accepted claims says is no part of a run.
    pub exit: u8,
    /// Variants of the selected cases that the profile excluded.
    pub excluded: u64,
    /// How often variants ran again beyond their first time.
    pub repetitions: u64,
    /// What the run does not qualify, in sentences: excluded rows, unsupported, wires and sizes not run.
    pub not_qualified: Vec<String>,
    /// Real time in microseconds.
    pub micros: u64,
}

/// What the receipts add up to.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Cases with at least one variant.
    pub cases: u64,
    /// Variants that ran.
    pub executed: u64,
    /// Variants of each family.
    pub families: BTreeMap<String, u64>,
    /// Variants on each wire.
    pub wires: BTreeMap<Wire, u64>,
    /// Results of checks by outcome; each check of each variant counts once.
    pub checks: BTreeMap<Outcome, u64>,
}

/// A tree over files.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// [`TREE`].
    pub rule: String,
    /// The number of leaves.
    pub size: u64,
    /// The root.
    #[schemars(with = "String")]
    pub root: Digest,
}

/// A file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256.
    #[schemars(with = "String")]
    pub sha256: Digest,
}

impl FileRecord {
    /// The record of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self { size: bytes.len() as u64, sha256: Digest::of(bytes) }
    }
}

/// The files of a case.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CaseRecord {
    /// The case's id.
    pub case: String,
    /// How many variants ran.
    pub variants: u64,
    /// Its claim.
    pub claim: FileRecord,
    /// Its observation.
    pub observation: FileRecord,
    /// Its timelines.
    pub timelines: FileRecord,
}
