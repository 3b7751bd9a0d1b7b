//! Runs: a profile's cases, every variant of them, on job slots.

pub mod jobs;
pub mod measure;
pub mod profile;
pub mod sources;
pub mod steps;
pub mod unit;
pub mod variant;

use crate::catalogue::{CaseFile, Catalogue};
use crate::judge::Offers;
use crate::profile::Profile;
use crate::receipt::catalog::Texts;
use crate::receipt::writer::VariantRun;
use crate::revision::Revision;
use crate::select::{Filter, Shard, Size};
use crate::variant::Wire;
use mcp_assay_client::Policy;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use unit::{Unit, UnitRun};
use variant::{Setup, Slot};

/// The seed of a run that names none. A constant, so that two runs are alike.
pub const DEFAULT_SEED: u64 = 37_556;

/// At most this many variants are on TCP at a time.
pub const TCP_IN_FLIGHT: usize = 16;

/// What the command line chooses of a profile.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Only cases and variants that one of these takes; all where there is none.
    pub filters: Vec<Filter>,
    /// Only this part of the cases.
    pub shard: Option<Shard>,
    /// Only this revision.
    pub revision: Option<Revision>,
    /// Only this wire.
    pub wire: Option<Wire>,
    /// This size in place of the profile's.
    pub size: Option<Size>,
    /// Job slots.
    pub jobs: usize,
    /// The seed of seeded plans.
    pub seed: u64,
    /// Multiplies the harness's own deadlines.
    pub deadline_scale: f64,
}

impl Choice {
    /// Everything that the profile says, with this many jobs.
    #[must_use]
    pub fn all(jobs: usize) -> Self {
        Self {
            filters: Vec::new(),
            shard: None,
            revision: None,
            wire: None,
            size: None,
            jobs,
            seed: DEFAULT_SEED,
            deadline_scale: 1.0,
        }
    }

    /// Why a run of this choice is not the whole profile, one reason each. Such a run compares only what ran.
    #[must_use]
    pub fn partial(&self, profile: &Profile) -> Vec<String> {
        let mut reasons = Vec::new();
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
        reasons
    }
}

/// A case with all its variants that ran.
pub struct CaseDone<'a> {
    /// The case.
    pub file: &'a CaseFile,
    /// Its variants, by variant id.
    pub variants: Vec<VariantRun>,
    /// Mistakes in the case that only showed on the wire.
    pub problems: Vec<String>,
}

/// All units of a profile under a choice, in case order.
#[must_use]
pub fn units<'a>(
    catalogue: &'a Catalogue,
    texts: &'a Texts,
    profile: &Profile,
    choice: &Choice,
) -> Vec<Unit<'a>> {
    let mut units = Vec::new();
    for file in catalogue.cases.values().filter(|file| profile.takes(&file.id)) {
        let filters: Vec<Filter> =
            choice.filters.iter().filter(|filter| filter.takes_case(&file.id)).cloned().collect();
        let filtered_out = !choice.filters.is_empty() && filters.is_empty();
        if filtered_out || choice.shard.is_some_and(|shard| !shard.takes(&file.id)) {
            continue;
        }
        let wanted = |revision: &Revision| choice.revision.is_none_or(|only| only == *revision);
        for revision in file.case.revisions.iter().copied().filter(wanted) {
            let (Some(polite), Some(polite_text)) =
                (catalogue.polite.get(&revision), texts.polite.get(&revision))
            else {
                continue;
            };
            if !profile.revisions.contains(&revision) {
                continue;
            }
            for wire in profile.wires.of(file.id.area()) {
                if choice.wire.is_none_or(|only| only == wire) {
                    let size = choice.size.unwrap_or(profile.size);
                    let filters = filters.clone();
                    units.push(Unit { file, polite, polite_text, revision, wire, size, filters });
                }
            }
        }
    }
    units
}

/// Runs units on job slots; `done` gets each case once all of its units have ended, `tick` each variant.
///
/// Units that rest on real waiting run alone, after all others.
///
/// # Errors
/// The system refuses a job slot its runtime or port.
pub fn run<'a>(
    units: Vec<Unit<'a>>,
    setup: &Setup<'_>,
    jobs: usize,
    stop: &AtomicBool,
    tick: &(dyn Fn() + Sync),
    mut done: impl FnMut(CaseDone<'a>),
) -> std::io::Result<()> {
    let tcp = units.iter().any(|unit| unit.wire == Wire::Tcp);
    let jobs = if tcp { jobs.min(TCP_IN_FLIGHT) } else { jobs };
    let mut left: BTreeMap<_, usize> = BTreeMap::new();
    for unit in &units {
        *left.entry(unit.file.id.clone()).or_default() += 1;
    }
    let mut parts: BTreeMap<_, CaseDone<'a>> = BTreeMap::new();
    let mut take = |ended: UnitRun<'a>| {
        let id = &ended.file.id;
        let part = parts.entry(id.clone()).or_insert_with(|| CaseDone {
            file: ended.file,
            variants: Vec::new(),
            problems: Vec::new(),
        });
        part.variants.extend(ended.variants);
        part.problems.extend(ended.problem);
        let open = left.get_mut(id).map_or(0, |open| {
            *open -= 1;
            *open
        });
        if open == 0
            && let Some(mut whole) = parts.remove(id)
        {
            whole.variants.sort_by(|a, b| a.variant.cmp(&b.variant));
            done(whole);
        }
    };
    let (alone, together): (Vec<_>, Vec<_>) = units.into_iter().partition(Unit::is_alone);
    let work = |slot: &mut Slot, unit: Unit<'a>| unit.run(slot, setup, tick);
    jobs::run(jobs, together, stop, || Slot::new(tcp), work, &mut take)?;
    jobs::run(1, alone, stop, || Slot::new(tcp), work, &mut take)
}

/// What the built-in client offers: everything.
#[must_use]
pub fn builtin_offers() -> Offers {
    Offers { limits: None, verbs: None }
}

/// The built-in client's policy of this name.
#[must_use]
pub fn policy(name: &str) -> Option<Policy> {
    (name == Policy::exagent().name).then(Policy::exagent)
}
