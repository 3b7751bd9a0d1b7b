//! One unit of work: a case in one revision on one wire. Open slice plans expand here, once the uncut variant has
//! shown lengths and marks; measured limits are measured here.

use super::measure::resolve;
use super::variant::{Setup, Slot};
use crate::case::reply::Region;
use crate::case::{Case, Limit, Rule};
use crate::catalogue::CaseFile;
use crate::exchange::exchange_digest;
use crate::judge::{JudgeInput, judge};
use crate::plan::Plan;
use crate::receipt::redact::redact;
use crate::receipt::writer::VariantRun;
use crate::revision::Revision;
use crate::select::{Filter, Size};
use crate::timeline::{Event, EventKind, Reply};
use crate::variant::{Variant, Wire};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

/// The most variants of a case on one wire that need no `max_variants`.
pub const USUAL_VARIANTS: usize = 1_500;

/// One unit of work.
#[derive(Clone, Debug)]
pub struct Unit<'a> {
    /// The case.
    pub file: &'a CaseFile,
    /// The polite peer of the revision.
    pub polite: &'a Case,
    /// Its text: what it spells is public.
    pub polite_text: &'a str,
    /// The revision.
    pub revision: Revision,
    /// The wire.
    pub wire: Wire,
    /// How many variants are run.
    pub size: Size,
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
    /// Why the unit, or the rest of it, could not be run: a mistake in the case.
    pub problem: Option<String>,
}

/// A variant that is to run, with its limits.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The variant.
    pub variant: Variant,
    /// The client's limits as numbers.
    pub limits: BTreeMap<String, u64>,
}

impl<'a> Unit<'a> {
    /// Whether the unit rests on real waiting, so that it runs alone and once.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.file.case.timing && self.wire == Wire::Tcp
    }

    /// Runs the unit; `tick` hears of each variant that ended.
    pub fn run(&self, slot: &mut Slot, setup: &Setup<'_>, tick: &(dyn Fn() + Sync)) -> UnitRun<'a> {
        let mut variants = Vec::new();
        let problem = self.attempt(slot, setup, tick, &mut variants).err();
        UnitRun { file: self.file, variants, problem }
    }

    fn attempt(
        &self,
        slot: &mut Slot,
        setup: &Setup<'_>,
        tick: &(dyn Fn() + Sync),
        variants: &mut Vec<VariantRun>,
    ) -> Result<(), String> {
        for Planned { variant, limits } in self.plan(slot, setup)? {
            let case = self.instantiate(&variant.keys)?;
            variants.push(self.one(slot, setup, &case, variant, &limits)?);
            tick();
        }
        Ok(())
    }

    /// Runs one variant; of an open slice plan among `keys` its first cut.
    ///
    /// # Errors
    /// A mistake in the case that only shows on the wire, or keys that the case does not have.
    pub fn run_one(
        &self,
        slot: &mut Slot,
        setup: &Setup<'_>,
        keys: &[(String, String)],
    ) -> Result<VariantRun, String> {
        let planned = self.plan_combination(slot, setup, keys)?.into_iter().next();
        let Planned { variant, limits } =
            planned.ok_or_else(|| "expected a variant, the slice plan stands for none".to_owned())?;
        let case = self.instantiate(&variant.keys)?;
        self.one(slot, setup, &case, variant, &limits)
    }

    /// All variants that the unit runs, in order. Uncut variants run for it where lengths or sizes must be known.
    ///
    /// # Errors
    /// A mistake in the case that only shows on the wire.
    pub fn plan(&self, slot: &mut Slot, setup: &Setup<'_>) -> Result<Vec<Planned>, String> {
        let mut planned = Vec::new();
        for keys in self.file.combinations() {
            planned.extend(self.plan_combination(slot, setup, &keys)?);
            if self.is_alone() && !planned.is_empty() {
                planned.truncate(1);
                break;
            }
        }
        let most = self.file.case.max_variants.map_or(USUAL_VARIANTS, |most| most as usize);
        if planned.len() > most {
            return Err(format!(
                "expected at most {most} variants, the plans stand for {}; name the number as max_variants if it is \
                 meant",
                planned.len()
            ));
        }
        let mut planned = self.size.keep(planned);
        if !self.filters.is_empty() {
            planned.retain(|p| self.filters.iter().any(|filter| filter.takes_variant(&p.variant)));
        }
        Ok(planned)
    }

    fn plan_combination(
        &self,
        slot: &mut Slot,
        setup: &Setup<'_>,
        keys: &[(String, String)],
    ) -> Result<Vec<Planned>, String> {
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
        let limits = if whole.limits.values().all(|limit| matches!(limit, Limit::Is(_))) {
            resolve(&whole, &[])?
        } else {
            let variant = self.variant(uncut.clone());
            let timeline = slot.run(setup, &whole, self.polite, &variant, &unmeasured(&whole))?;
            resolve(&whole, &timeline)?
        };
        if plans.is_empty() {
            return Ok(vec![Planned { variant: self.variant(uncut), limits }]);
        }
        let timeline = slot.run(setup, &whole, self.polite, &self.variant(uncut), &limits)?;
        let mut combinations = vec![keys.to_vec()];
        for (index, plan) in &plans {
            let cut = self.what_is_cut(keys, *index, &timeline)?;
            let run = self
                .size
                .plans(plan, cut.len, &cut.marks, setup.seed)
                .map_err(|e| format!("{}: {e}", keys[*index].0))?;
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
        let planned = |keys| Planned { variant: self.variant(keys), limits: limits.clone() };
        Ok(combinations.into_iter().map(planned).collect())
    }

    /// Runs, redacts and judges one variant.
    fn one(
        &self,
        slot: &mut Slot,
        setup: &Setup<'_>,
        case: &Case,
        variant: Variant,
        limits: &BTreeMap<String, u64>,
    ) -> Result<VariantRun, String> {
        let began = Instant::now();
        let timeline = slot.run(setup, case, self.polite, &variant, limits)?;
        let timeline = redact(timeline, &[&self.file.text, self.polite_text]);
        let seconds = began.elapsed().as_secs_f64();
        let checks = judge(&JudgeInput {
            case,
            variant: &variant,
            policy: Some(setup.policy.name),
            offers: setup.offers,
            clauses: setup.clauses,
            timeline: &timeline,
        });
        let exchange = Some(exchange_digest(case, &timeline));
        Ok(VariantRun { variant, timeline, checks, exchange, seconds })
    }

    fn instantiate(&self, keys: &[(String, String)]) -> Result<Case, String> {
        self.file.instantiate(keys).map_err(|error| error.rendered())
    }

    fn variant(&self, keys: Vec<(String, String)>) -> Variant {
        Variant { revision: self.revision, server: None, keys, wire: self.wire }
    }

    /// The shortest reply (or body) that the key's plan cuts, as the uncut run showed it.
    fn what_is_cut(
        &self,
        keys: &[(String, String)],
        key: usize,
        timeline: &[Event],
    ) -> Result<Cuttable, String> {
        let (name, plan) = &keys[key];
        let case = self.instantiate(keys)?;
        let region = |rule: &Rule| {
            let cut_here = |text: &Option<String>| text.as_ref() == Some(plan);
            match (cut_here(&rule.slice), cut_here(&rule.chunks)) {
                (true, _) => Some(Some(rule.slice_over)),
                (_, true) => Some(None),
                _ => None,
            }
        };
        let rules: BTreeMap<String, Option<Region>> = case
            .peer
            .iter()
            .enumerate()
            .filter_map(|(index, rule)| Some((format!("case:{index}"), region(rule)?)))
            .collect();
        let mut regions = BTreeMap::new();
        let mut shortest: Option<Cuttable> = None;
        for event in timeline {
            match &event.kind {
                EventKind::Request(request) => {
                    if let Some(region) = rules.get(&request.rule) {
                        regions.insert(request.number, *region);
                    }
                }
                EventKind::Replied(reply) => {
                    let Some(region) = regions.get(&reply.request) else { continue };
                    let cuttable = Cuttable::of(reply, *region);
                    if shortest.as_ref().is_none_or(|s| cuttable.len < s.len) {
                        shortest = Some(cuttable);
                    }
                }
                _ => {}
            }
        }
        shortest.ok_or_else(|| {
            format!(
                "{name}: expected a reply that {plan} cuts, the uncut variant saw none; put \"${name}\" at `slice` or \
                 `chunks` of a rule that answers"
            )
        })
    }
}

/// The limits without those that are still to be measured: the client's own hold for them.
fn unmeasured(case: &Case) -> BTreeMap<String, u64> {
    let known = case.limits.iter().filter_map(|(name, limit)| match limit {
        Limit::Is(value) => Some((name.clone(), *value)),
        Limit::Measured(_) => None,
    });
    known.collect()
}

/// What a plan cuts.
struct Cuttable {
    len: usize,
    /// Marks, counted from the start of what is cut.
    marks: Vec<usize>,
}

impl Cuttable {
    /// A region of the reply's bytes, or its body before framing.
    fn of(reply: &Reply, region: Option<Region>) -> Self {
        let Some(region) = region else {
            return Self { len: reply.content_len, marks: Vec::new() };
        };
        let len = reply.bytes.len();
        let mark = |name: &str| reply.marks.iter().rfind(|mark| mark.name == name).map(|mark| mark.at);
        let Range { start, end } = match region {
            Region::Reply => 0..len,
            Region::Head => 0..mark("head-end").unwrap_or(len),
            Region::Body => mark("head-end").unwrap_or(0)..len,
            Region::Suffix => mark("terminal").unwrap_or(len)..len,
        };
        let inside = |at: usize| (start..end).contains(&at).then(|| at - start);
        let marks = reply.marks.iter().filter_map(|mark| inside(mark.at)).collect();
        Self { len: end - start, marks }
    }
}
