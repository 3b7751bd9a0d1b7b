//! One unit of work: a case in one revision on one wire, and how its variants are run.

use super::estimate::open_stands_for;
use super::planned::Planned;
use super::problem::Problem;
use super::variant::Setup;
use crate::case::Case;
use crate::catalogue::CaseFile;
use crate::exchange::digest_index;
use crate::judge::index::Index;
use crate::judge::judge_index;
use crate::plan::is_open;
use crate::receipt::redact::redact;
use crate::receipt::writer::VariantRun;
use crate::revision::Revision;
use crate::select::{Filter, Size};
use crate::timeline::{Event, EventKind};
use crate::variant::{Variant, Wire};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What units run on.
pub trait Ground {
    /// Runs one variant of a unit to its end.
    ///
    /// # Errors
    /// The case cannot be put on the wire as it is written; the system refuses something; a client outlived the
    /// variant before.
    fn play(
        &mut self,
        setup: &Setup<'_>,
        unit: &Unit<'_>,
        case: &Case,
        variant: &Variant,
        limits: &BTreeMap<String, u64>,
    ) -> Result<Vec<Event>, Problem>;

    /// Why nothing can run on it any more: its variants say so then.
    fn broken(&mut self) -> Option<String> {
        None
    }
}

/// Whom the client faces in a unit.
#[derive(Clone, Copy, Debug)]
pub enum Facing<'a> {
    /// The scripted peer.
    Scripted {
        /// The polite peer of the revision.
        polite: &'a Case,
        /// Its text: what it spells is public.
        text: &'a str,
    },
    /// The SDK server of this id, behind the tap. Nothing that it says is public.
    Server(&'a str),
}

/// One unit of work.
#[derive(Clone, Debug)]
pub struct Unit<'a> {
    /// The case.
    pub file: &'a CaseFile,
    /// Whom the client faces.
    pub facing: Facing<'a>,
    /// The revision.
    pub revision: Revision,
    /// The wire.
    pub wire: Wire,
    /// How many variants are run.
    pub size: Size,
    /// In how many revisions the case runs, which share a sample.
    pub revisions: usize,
    /// The filters of the command line that take this case; none means all variants.
    pub filters: Vec<Filter>,
}

/// What became of a unit.
#[derive(Debug)]
pub struct UnitRun {
    /// The variants that ran.
    pub variants: Vec<VariantRun>,
    /// Why the unit, or the rest of it, could not be run.
    pub problem: Option<Problem>,
}

/// Who looks on while units run.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Once set, no further variant starts.
    pub stop: &'a AtomicBool,
    /// Hears of each variant that ended.
    pub tick: &'a (dyn Fn() + Sync),
}

impl<'a> Unit<'a> {
    /// Whether the unit rests on real waiting, so that it runs alone and once.
    #[must_use]
    pub fn is_once(&self) -> bool {
        let scripted = matches!(self.facing, Facing::Scripted { .. });
        self.file.case.timing && self.wire == Wire::Tcp && scripted
    }

    /// Whether the unit runs alone: nothing else is to take the client's time, or the machine's memory.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        let scripted = matches!(self.facing, Facing::Scripted { .. });
        self.is_once() || (self.file.case.measures_memory() && self.wire == Wire::Tcp && scripted)
    }

    /// Whether the value of a key is a plan that stands for a number of variants which only a reply tells.
    #[must_use]
    pub fn is_open(&self, value: &str) -> bool {
        value.parse().is_ok_and(|plan| self.size.opens(&plan))
    }

    /// About how many variants the unit runs: what an open slice plan stands for is not known before it runs.
    #[must_use]
    pub fn weight(&self) -> u64 {
        let open = u64::try_from(open_stands_for(self.size)).unwrap_or(u64::MAX);
        let weight = |keys: Vec<(String, String)>| {
            if keys.iter().any(|(_, value)| self.is_open(value)) { open } else { 1 }
        };
        self.file.combinations().map(weight).sum()
    }

    /// Runs the unit.
    pub fn run(&self, ground: &mut impl Ground, setup: &Setup<'_>, watch: Watch<'_>) -> UnitRun {
        let mut variants = Vec::new();
        let mut problem = self.attempt(ground, setup, watch, &mut variants).err();
        if problem.is_some()
            && let Some(broken) = ground.broken()
        {
            // No mistake of the case: its variants, as far as they are known, tell what went wrong.
            problem = self.give_up(&broken, setup, &mut variants).err();
        }
        UnitRun { variants, problem }
    }

    fn attempt(
        &self,
        ground: &mut impl Ground,
        setup: &Setup<'_>,
        watch: Watch<'_>,
        variants: &mut Vec<VariantRun>,
    ) -> Result<(), Problem> {
        for planned in self.plan(ground, setup)? {
            if watch.stop.load(Ordering::Relaxed) {
                break;
            }
            variants.push(self.one(ground, setup, planned)?);
            (watch.tick)();
        }
        Ok(())
    }

    /// Runs one variant; of an open slice plan among `keys` its first cut.
    ///
    /// # Errors
    /// A mistake in the case that only shows on the wire, or keys that the case does not have.
    pub fn run_one(
        &self,
        ground: &mut impl Ground,
        setup: &Setup<'_>,
        keys: &[(String, String)],
    ) -> Result<VariantRun, Problem> {
        let planned = self.plan_combination(ground, setup, keys)?.into_iter().next();
        let none = || Problem::Case("expected a variant, the slice plan stands for none".to_owned());
        self.one(ground, setup, planned.ok_or_else(none)?)
    }

    /// Runs, redacts and judges one variant.
    fn one(
        &self,
        ground: &mut impl Ground,
        setup: &Setup<'_>,
        planned: Planned,
    ) -> Result<VariantRun, Problem> {
        let Planned { variant, limits } = planned;
        let case = &self.instantiate(&variant.keys)?;
        let limits = match &limits {
            Ok(limits) => limits,
            Err(why) => return Ok(self.not_run(setup, case, variant, why)),
        };
        let began = Instant::now();
        let timeline = ground.play(setup, self, case, &variant, limits)?;
        let timeline = match self.facing {
            Facing::Scripted { text, .. } => redact(timeline, &[&self.file.text, text]),
            Facing::Server(_) => redact(timeline, &[]),
        };
        Ok(self.judged(setup, case, variant, timeline, began.elapsed().as_secs_f64()))
    }

    /// Stands for all variants that have not run, uncut ones for those of an open plan.
    fn give_up(&self, why: &str, setup: &Setup<'_>, variants: &mut Vec<VariantRun>) -> Result<(), Problem> {
        for mut keys in self.file.combinations() {
            for (_, value) in &mut keys {
                if is_open(value) {
                    "whole".clone_into(value);
                }
            }
            let variant = self.variant(keys);
            let filtered_out =
                !self.filters.is_empty() && !self.filters.iter().any(|filter| filter.takes_variant(&variant));
            if filtered_out
                || !self.binds(setup, &variant)
                || variants.iter().any(|ran| ran.variant == variant)
            {
                continue;
            }
            let case = self.instantiate(&variant.keys)?;
            variants.push(self.not_run(setup, &case, variant, why));
        }
        Ok(())
    }

    /// Stands for a variant that could not be run: an error of the harness, never one of the client.
    fn not_run(&self, setup: &Setup<'_>, case: &Case, variant: Variant, why: &str) -> VariantRun {
        let problem = EventKind::HarnessError { problem: why.to_owned() };
        let timeline = vec![Event { at_us: 0, kind: problem }, Event { at_us: 0, kind: EventKind::Teardown }];
        self.judged(setup, case, variant, redact(timeline, &[]), 0.0)
    }

    fn judged(
        &self,
        setup: &Setup<'_>,
        case: &Case,
        variant: Variant,
        timeline: Vec<Event>,
        seconds: f64,
    ) -> VariantRun {
        let index = Index::new(case, &timeline);
        let checks = judge_index(&setup.input(case, &variant, &timeline), &index);
        let exchange = match self.facing {
            Facing::Scripted { .. } if !setup.client.is_foreign() => Some(digest_index(&index)),
            Facing::Scripted { .. } | Facing::Server(_) => None,
        };
        VariantRun { variant, timeline, checks, exchange, seconds }
    }

    pub(super) fn instantiate(&self, keys: &[(String, String)]) -> Result<Case, Problem> {
        self.file.instantiate(keys).map_err(|error| Problem::Case(error.rendered()))
    }

    /// The variant of the unit with these values of the `vary` keys.
    pub(crate) fn variant(&self, keys: Vec<(String, String)>) -> Variant {
        let server = match self.facing {
            Facing::Scripted { .. } => None,
            Facing::Server(id) => Some(id.to_owned()),
        };
        Variant { revision: self.revision, server, keys, wire: self.wire }
    }
}
