//! One unit of work: a case in one revision on one wire. Open slice plans expand here, once the uncut variant has
//! shown lengths and marks; measured limits are measured here.

use super::cuttable::Cuttable;
use super::measure::resolve;
use super::problem::Problem;
use super::variant::Setup;
use crate::case::{Case, Limit};
use crate::catalogue::CaseFile;
use crate::driver::{ClientUnderTest, Sitting};
use crate::exchange::exchange_digest;
use crate::judge::judge;
use crate::plan::Plan;
use crate::receipt::observation::ProcessRecord;
use crate::receipt::redact::redact;
use crate::receipt::writer::VariantRun;
use crate::revision::Revision;
use crate::select::{Filter, Size};
use crate::timeline::{Event, EventKind};
use crate::variant::{Variant, Wire};
use crate::verdict::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The most variants of a case on one wire that need no `max_variants`.
pub const USUAL_VARIANTS: u32 = 1_500;

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
pub struct UnitRun<'a> {
    /// The case.
    pub file: &'a CaseFile,
    /// The variants that ran.
    pub variants: Vec<VariantRun>,
    /// Why the unit, or the rest of it, could not be run.
    pub problem: Option<Problem>,
    /// The client's processes that took part.
    pub processes: Vec<ProcessRecord>,
}

/// Who looks on while units run.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Once set, no further variant starts.
    pub stop: &'a AtomicBool,
    /// Hears of each variant that ended.
    pub tick: &'a (dyn Fn() + Sync),
}

/// A variant that is to run, with its limits.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The variant.
    pub variant: Variant,
    /// The client's limits as numbers; or why those that are measured could not be, so that nothing can be said.
    pub limits: Result<BTreeMap<String, u64>, String>,
}

impl<'a> Unit<'a> {
    /// Whether the unit rests on real waiting, so that it runs alone and once.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        let scripted = matches!(self.facing, Facing::Scripted { .. });
        self.file.case.timing && self.wire == Wire::Tcp && scripted
    }

    /// About how many variants the unit runs: what an open slice plan stands for is not known before it runs.
    #[must_use]
    pub fn weight(&self) -> u64 {
        let open = match self.size {
            Size::Full => 150,
            Size::Sample => 10,
        };
        let is_open = |value: &str| value.parse::<Plan>().is_ok_and(|plan| plan.is_open());
        let weight = |keys: Vec<(String, String)>| {
            if keys.iter().any(|(_, value)| is_open(value)) { open } else { 1 }
        };
        self.file.combinations().map(weight).sum()
    }

    /// Runs the unit.
    pub fn run(&self, ground: &mut impl Ground, setup: &Setup<'_>, watch: Watch<'_>) -> UnitRun<'a> {
        let mut variants = Vec::new();
        let sitting = setup.client.sit();
        let seated: &dyn ClientUnderTest = match &sitting {
            Some(sitting) => &**sitting,
            None => setup.client,
        };
        let setup = &Setup { client: seated, ..*setup };
        let mut problem = self.attempt(ground, setup, watch, &mut variants).err();
        if problem.is_some()
            && let Some(broken) = ground.broken()
        {
            // No mistake of the case: its variants, as far as they are known, tell what went wrong.
            problem = self.give_up(&broken, setup, &mut variants).err();
        }
        let processes = sitting.map_or_else(Vec::new, Sitting::leave);
        UnitRun { file: self.file, variants, problem, processes }
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

    /// All variants that the unit runs, in order. Uncut variants run for it where lengths or sizes must be known.
    ///
    /// # Errors
    /// A mistake in the case that only shows on the wire; the system refuses what an uncut variant needs.
    pub fn plan(&self, ground: &mut impl Ground, setup: &Setup<'_>) -> Result<Vec<Planned>, Problem> {
        let mut planned = Vec::new();
        let mut known = BTreeSet::new();
        for keys in self.file.combinations() {
            let combination = self.plan_combination(ground, setup, &keys)?;
            planned.extend(combination.into_iter().filter(|planned| known.insert(planned.variant.clone())));
            if self.is_alone() && !planned.is_empty() {
                planned.truncate(1);
                break;
            }
        }
        let most = self.file.case.max_variants.unwrap_or(USUAL_VARIANTS);
        if !u32::try_from(planned.len()).is_ok_and(|planned| planned <= most) {
            return Err(Problem::Case(format!(
                "expected at most {most} variants, the plans stand for {}; name the number as max_variants if it is \
                 meant",
                planned.len()
            )));
        }
        let mut planned = self.size.keep(planned, self.revisions);
        if !self.filters.is_empty() {
            planned.retain(|p| self.filters.iter().any(|filter| filter.takes_variant(&p.variant)));
        }
        Ok(planned)
    }

    fn plan_combination<G: Ground>(
        &self,
        ground: &mut G,
        setup: &Setup<'_>,
        keys: &[(String, String)],
    ) -> Result<Vec<Planned>, Problem> {
        let plans: Vec<(usize, Plan)> = keys
            .iter()
            .enumerate()
            .filter_map(|(index, (_, value))| Some((index, value.parse::<Plan>().ok()?)))
            .filter(|(_, plan)| plan.is_open() || (self.size == Size::Sample && *plan == Plan::EveryByte))
            .collect();
        let mut uncut = keys.to_vec();
        for (index, _) in &plans {
            "whole".clone_into(&mut uncut[*index].1);
        }
        let whole = self.instantiate(&uncut)?;
        let variant = self.variant(uncut);
        let mut limits = unmeasured(&whole);
        let run = |ground: &mut G, limits: &BTreeMap<String, u64>| {
            ground.play(setup, self, &whole, &variant, limits)
        };
        if whole.limits.len() > limits.len() {
            let timeline = run(ground, &limits)?;
            match resolve(&whole, &timeline) {
                Ok(measured) => limits = measured,
                // With limits that nobody set, the variant would show something else than its case asks.
                Err(problem) => {
                    let limits = Err(problem.clone());
                    return alone(setup, &whole, Planned { variant, limits }, &timeline, problem);
                }
            }
        }
        if plans.is_empty() {
            return Ok(vec![Planned { variant, limits: Ok(limits) }]);
        }
        let timeline = run(ground, &limits)?;
        let case = self.instantiate(keys)?;
        let mut combinations = vec![keys.to_vec()];
        for (index, plan) in &plans {
            let (name, text) = &keys[*index];
            let cut = match Cuttable::find(&case, name, text, &timeline) {
                Ok(cut) => cut,
                Err(problem) => {
                    let limits = Ok(limits);
                    return alone(setup, &whole, Planned { variant, limits }, &timeline, problem);
                }
            };
            let run = self
                .size
                .plans(plan, cut.len, &cut.marks, setup.seed)
                .map_err(|e| Problem::Case(format!("{name}: {e}")))?;
            combinations = combinations
                .iter()
                .flat_map(|keys| {
                    run.iter().map(|plan| {
                        let mut keys = keys.clone();
                        keys[*index].1 = plan.to_string();
                        keys
                    })
                })
                .collect();
        }
        let planned = |keys| Planned { variant: self.variant(keys), limits: Ok(limits.clone()) };
        Ok(combinations.into_iter().map(planned).collect())
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
                if value.parse::<Plan>().is_ok_and(|plan| plan.is_open()) {
                    "whole".clone_into(value);
                }
            }
            let variant = self.variant(keys);
            let filtered_out =
                !self.filters.is_empty() && !self.filters.iter().any(|filter| filter.takes_variant(&variant));
            if filtered_out || variants.iter().any(|ran| ran.variant == variant) {
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
        let checks = judge(&setup.input(case, &variant, &timeline));
        let exchange = match self.facing {
            Facing::Scripted { .. } if !setup.client.is_foreign() => Some(exchange_digest(case, &timeline)),
            Facing::Scripted { .. } | Facing::Server(_) => None,
        };
        VariantRun { variant, timeline, checks, exchange, seconds }
    }

    fn instantiate(&self, keys: &[(String, String)]) -> Result<Case, Problem> {
        self.file.instantiate(keys).map_err(|error| Problem::Case(error.rendered()))
    }

    fn variant(&self, keys: Vec<(String, String)>) -> Variant {
        let server = match self.facing {
            Facing::Scripted { .. } => None,
            Facing::Server(id) => Some(id.to_owned()),
        };
        Variant { revision: self.revision, server, keys, wire: self.wire }
    }
}

/// What runs where the uncut variant did not show what there is to cut or to measure.
///
/// If the client did otherwise than expected, the uncut variant stands for all that would have come of it; so it does
/// for a client of others, which need not come so far. If it did as expected, the case is wrong.
fn alone(
    setup: &Setup<'_>,
    whole: &Case,
    uncut: Planned,
    timeline: &[Event],
    problem: String,
) -> Result<Vec<Planned>, Problem> {
    let checks = judge(&setup.input(whole, &uncut.variant, timeline));
    if !setup.client.is_foreign() && checks.iter().all(|result| result.outcome == Outcome::Pass) {
        return Err(Problem::Case(problem));
    }
    Ok(vec![uncut])
}

/// The limits without those that are still to be measured: the client's own hold for them.
fn unmeasured(case: &Case) -> BTreeMap<String, u64> {
    let known = case.limits.iter().filter_map(|(name, limit)| match limit {
        Limit::Is(value) => Some((name.clone(), *value)),
        Limit::Measured(_) => None,
    });
    known.collect()
}
