//! Tiers: named parts of a profile, by what a run of them may cost.

use crate::select::{Pattern, Size};
use crate::variant::Wire;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// How much of a profile runs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// What saving a file may cost.
    Smoke,
    /// What a change on its way into the main branch may cost.
    Pr,
    /// The profile itself, which needs no declaration.
    #[default]
    Full,
}

impl Tier {
    /// All tiers, the smallest first.
    pub const ALL: [Self; 3] = [Self::Smoke, Self::Pr, Self::Full];

    /// The tier as files and flags name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Pr => "pr",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(s: &str) -> Result<Self, UnknownTier> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == s).ok_or_else(|| UnknownTier(s.to_owned()))
    }
}

/// A text that names no tier.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is no tier: expected smoke, pr or full")]
pub struct UnknownTier(pub String);

/// The tiers that a profile declares.
///
/// ```
/// use mcp_assay::profile::{Tier, Tiers};
///
/// let tiers: Tiers = toml::from_str("smoke = { seconds = 30, cases = ['smoke/*', 'sse/bom-*'] }").unwrap();
/// assert_eq!(tiers.get(Tier::Smoke).unwrap().seconds.get(), 30);
/// assert!(tiers.get(Tier::Pr).is_none());
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Tiers {
    /// What saving a file may cost: half a minute, as a rule.
    #[serde(default)]
    pub smoke: Option<Part>,
    /// What a change on its way into the main branch may cost: five minutes, as a rule.
    #[serde(default)]
    pub pr: Option<Part>,
}

impl Tiers {
    /// What is declared of a tier. [`Tier::Full`] is never declared: it is the profile.
    #[must_use]
    pub fn get(&self, tier: Tier) -> Option<&Part> {
        match tier {
            Tier::Smoke => self.smoke.as_ref(),
            Tier::Pr => self.pr.as_ref(),
            Tier::Full => None,
        }
    }

    /// Whether a tier can be run.
    #[must_use]
    pub fn has(&self, tier: Tier) -> bool {
        tier == Tier::Full || self.get(tier).is_some()
    }

    /// The declared tiers, the smallest first.
    pub fn declared(&self) -> impl Iterator<Item = (Tier, &Part)> {
        Tier::ALL.into_iter().filter_map(|tier| Some((tier, self.get(tier)?)))
    }
}

/// What of a profile a tier runs: never more than the profile does.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// How long a run of it may take. One that takes longer is told so; it decides nothing.
    pub seconds: NonZeroU32,
    /// Patterns of case ids: those of the profile's cases that run.
    pub cases: Vec<Pattern>,
    /// How many variants of each run; the profile's size unless said.
    #[serde(default)]
    pub size: Option<Size>,
    /// The only wire that they run on; those of the profile unless said.
    #[serde(default)]
    pub wire: Option<Wire>,
}
