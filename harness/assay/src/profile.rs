//! Profiles: a client, a peer, revisions, cases, and what is expected of them, in one file.

mod file;
mod pace;
mod requires;
mod tiers;
mod validate;

use crate::revision::Revision;
use crate::select::{Pattern, Size};
use crate::variant::{CaseId, Variant, Wire};
use crate::verdict::Outcome;
use schemars::JsonSchema;
use serde::Deserialize;

pub use file::ProfileFile;
pub use pace::Pace;
pub use requires::Requires;
pub use tiers::{Part, Tier, Tiers, UnknownTier};

/// A profile.
///
/// ```toml
/// name      = "exagent"
/// title     = "The built-in client under the policy exagent"
/// client    = { builtin = "exagent" }
/// revisions = ["2025-06-18"]
/// cases     = ["*"]
/// exclude   = [{ cases = "listen/*", reason = "the policy opens no GET stream" }]
///
/// [wires]
/// memory = ["*"]
/// tcp    = ["splits", "suffix"]
///
/// [requires]
/// cases    = 160
/// variants = 20000
/// splits   = 4000
///
/// [tiers.smoke]
/// seconds = 30
/// cases   = ["smoke/*", "splits/call-*"]
/// size    = "sample"
///
/// [pace]
/// memory = 4500
/// tcp    = 2400
///
/// [[deviation]]
/// case     = "expiry/one-call"
/// check    = "new-session"
/// revision = "2025-06-18"
/// row      = "EX-SES-04"
/// reason   = "the policy leaves a new session to its caller"
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The profile's name: its file's, without the ending.
    pub name: String,
    /// What it puts to the test, in one line.
    pub title: String,
    /// Runs where no profile is named.
    #[serde(default)]
    pub default: bool,
    /// The client under test.
    pub client: Client,
    /// What it talks to; the scripted peer unless said.
    #[serde(default)]
    pub peer: Peer,
    /// The revisions it runs in. A case runs in those it has in common.
    pub revisions: Vec<Revision>,
    /// Patterns of case ids.
    pub cases: Vec<Pattern>,
    /// Cases left out again.
    #[serde(default)]
    pub exclude: Vec<Exclude>,
    /// How many variants of each case run, unless the command line says.
    #[serde(default)]
    pub size: Size,
    /// Which families run on which wire.
    #[serde(default)]
    pub wires: Wires,
    /// What a whole run must reach, else it is incomplete.
    #[serde(default)]
    pub requires: Requires,
    /// Parts of it that run where less time is to be spent.
    #[serde(default)]
    pub tiers: Tiers,
    /// How fast it runs. Only estimates rest on it.
    #[serde(default)]
    pub pace: Pace,
    /// Known failures.
    #[serde(default)]
    pub deviation: Vec<Deviation>,
    /// Takes over the deviations of the profile with this name, so far as they speak of what runs here too.
    #[serde(default)]
    pub deviations_of: Option<String>,
    /// Checks that are expected to say nothing.
    #[serde(default)]
    pub expect: Vec<Expect>,
}

impl Profile {
    /// Whether the profile runs the case: a pattern takes it and none leaves it out.
    #[must_use]
    pub fn takes(&self, case: &CaseId) -> bool {
        self.cases.iter().any(|pattern| pattern.matches(case.as_str())) && self.excluded(case).is_none()
    }

    /// Why the case is left out, if `exclude` names it.
    #[must_use]
    pub fn excluded(&self, case: &CaseId) -> Option<&str> {
        let exclude = self.exclude.iter().find(|exclude| exclude.cases.matches(case.as_str()))?;
        Some(&exclude.reason)
    }
}

/// The client under test.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Client {
    /// The built-in client under this policy.
    Builtin(String),
    /// The built-in client under this policy, as a process of its own that speaks the driver protocol.
    Process(String),
    /// The client of this driver below `fixtures/drivers`.
    Driver(String),
}

impl Client {
    /// The policy that binds it; none binds a client of others.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        match self {
            Self::Builtin(policy) | Self::Process(policy) => Some(policy),
            Self::Driver(_) => None,
        }
    }
}

/// What the client talks to.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Peer {
    /// The scripted peer.
    #[default]
    Scripted,
    /// These SDK servers behind the tap: their ids, such as `ts1-stateful-sse`.
    Servers(Vec<String>),
}

/// Cases that a profile leaves out.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Exclude {
    /// Pattern of case ids.
    pub cases: Pattern,
    /// Why.
    pub reason: String,
}

/// Patterns of families (areas) by wire.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Wires {
    /// What runs in memory: all unless said. SDK servers have real sockets only, and pass this over.
    pub memory: Vec<Pattern>,
    /// What runs on TCP: nothing unless said.
    pub tcp: Vec<Pattern>,
}

impl Default for Wires {
    fn default() -> Self {
        Self { memory: "*".parse().into_iter().collect(), tcp: Vec::new() }
    }
}

impl Wires {
    /// The wires that a family's cases run on.
    #[must_use]
    pub fn of(&self, area: &str) -> Vec<Wire> {
        let wires = [(Wire::Memory, &self.memory), (Wire::Tcp, &self.tcp)];
        let takes = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(area));
        wires.into_iter().filter(|(_, patterns)| takes(patterns)).map(|(wire, _)| wire).collect()
    }
}

/// A known failure: listed but passing is as wrong as failing but not listed.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// The case's id.
    pub case: String,
    /// The check's id.
    pub check: String,
    /// The revision.
    pub revision: Revision,
    /// Pattern of variant ids; all exercised ones unless said.
    #[serde(default)]
    pub variants: Option<Pattern>,
    /// How many of them fail.
    #[serde(default)]
    pub fails: Fails,
    /// What is seen in place of the expectation, word for word.
    #[serde(default)]
    pub actual: Option<String>,
    /// Why it is known and left so.
    pub reason: String,
    /// The policy row that decides it.
    #[serde(default)]
    pub row: Option<String>,
    /// Where it is reported: an URL.
    #[serde(default)]
    pub issue: Option<String>,
}

impl Deviation {
    /// Whether the deviation speaks of this check of this variant.
    #[must_use]
    pub fn covers(&self, case: &CaseId, check: &str, variant: &Variant) -> bool {
        self.case == case.as_str()
            && self.check == check
            && self.revision == variant.revision
            && self.variants.as_ref().is_none_or(|pattern| pattern.matches(&variant.to_string()))
    }
}

/// How many of a deviation's variants fail.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Fails {
    /// Every exercised one.
    #[default]
    All,
    /// At least one.
    Some,
}

/// Checks expected to say nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// What the judge says.
    pub outcome: Silent,
    /// Pattern of case ids.
    pub case: Pattern,
    /// Pattern of check ids.
    pub check: Pattern,
    /// The revision.
    pub revision: Revision,
    /// Why.
    pub reason: String,
}

impl Expect {
    /// Whether the entry expects this outcome of this check.
    #[must_use]
    pub fn covers(&self, case: &CaseId, check: &str, revision: Revision, outcome: Outcome) -> bool {
        self.outcome.outcome() == outcome
            && self.revision == revision
            && self.case.matches(case.as_str())
            && self.check.matches(check)
    }
}

/// An outcome that says nothing about the client, and is complete only where it is expected.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Silent {
    /// What the check is about did not happen.
    Unexercised,
    /// The client declared that it cannot do what the check needs.
    Unsupported,
}

impl Silent {
    /// The same as the judge's word.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Unexercised => Outcome::Unexercised,
            Self::Unsupported => Outcome::Unsupported,
        }
    }
}

#[cfg(test)]
mod tests;
