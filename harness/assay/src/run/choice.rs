//! What is chosen of a profile: a tier, and what the command line narrows it to.

use super::{DEFAULT_SEED, default_jobs};
use crate::profile::{Client, Profile, Tier};
use crate::receipt::run::Scope;
use crate::revision::Revision;
use crate::select::{Filter, Shard, Size};
use crate::variant::{CaseId, Wire};

/// What the command line chooses of a profile.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Only this tier of it. What else is chosen narrows it further.
    pub tier: Tier,
    /// Only cases and variants that one of these takes; all where there is none.
    pub filters: Vec<Filter>,
    /// Only this part of the cases.
    pub shard: Option<Shard>,
    /// Only this revision.
    pub revision: Option<Revision>,
    /// Only this wire.
    pub wire: Option<Wire>,
    /// This size in place of the profile's and the tier's.
    pub size: Option<Size>,
    /// Job slots; none: see [`default_jobs`].
    pub jobs: Option<usize>,
    /// The seed of seeded plans.
    pub seed: u64,
    /// Multiplies the harness's own deadlines.
    pub deadline_scale: f64,
    /// Leaves out the cases that ask how much the client's process grew: a client in-process has none of its own.
    pub without_memory: bool,
}

/// Everything that a profile says.
impl Default for Choice {
    fn default() -> Self {
        Self {
            tier: Tier::Full,
            filters: Vec::new(),
            shard: None,
            revision: None,
            wire: None,
            size: None,
            jobs: None,
            seed: DEFAULT_SEED,
            deadline_scale: 1.0,
            without_memory: false,
        }
    }
}

impl Choice {
    /// Everything that the profile says, with this many jobs.
    #[must_use]
    pub fn all(jobs: usize) -> Self {
        Self { jobs: Some(jobs), ..Self::default() }
    }

    /// The job slots of a profile with this client.
    #[must_use]
    pub fn jobs(&self, client: &Client) -> usize {
        self.jobs.unwrap_or_else(|| default_jobs(client))
    }

    /// Whether cases of this id are chosen of the profile. A tier that the profile does not declare has none.
    #[must_use]
    pub fn takes(&self, profile: &Profile, case: &CaseId) -> bool {
        let in_tier = match profile.tiers.get(self.tier) {
            Some(part) => part.cases.iter().any(|pattern| pattern.matches(case.as_str())),
            None => self.tier == Tier::Full,
        };
        in_tier
            && profile.takes(case)
            && (self.filters.is_empty() || self.filters.iter().any(|filter| filter.takes_case(case)))
            && self.shard.is_none_or(|shard| shard.takes(case))
    }

    /// Whether this wire is chosen, where the profile has it.
    #[must_use]
    pub fn takes_wire(&self, profile: &Profile, wire: Wire) -> bool {
        let part = profile.tiers.get(self.tier);
        let mut only = self.wire.into_iter().chain(part.and_then(|part| part.wire));
        only.all(|only| only == wire)
    }

    /// The size of a run: what the command line says before the tier, and the tier before the profile.
    #[must_use]
    pub fn size(&self, profile: &Profile) -> Size {
        let part = profile.tiers.get(self.tier);
        self.size.or_else(|| part?.size).unwrap_or(profile.size)
    }

    /// Why a run of this choice is not the whole profile, one reason each. Such a run compares only what ran.
    #[must_use]
    pub fn partial(&self, profile: &Profile) -> Vec<String> {
        let mut reasons: Vec<String> = Scope::part(self.tier).into_iter().collect();
        let mut add = |given: bool, reason: &str| {
            if given {
                reasons.push(reason.to_owned());
            }
        };
        add(!self.filters.is_empty(), "filter");
        add(self.shard.is_some(), "shard");
        add(self.revision.is_some(), "revision");
        add(self.wire.is_some(), "wire");
        add(self.size.is_some_and(|size| size != profile.size), "size");
        add(self.seed != DEFAULT_SEED, "seed");
        add(self.without_memory, "twin");
        reasons
    }
}

#[cfg(test)]
mod tests;
