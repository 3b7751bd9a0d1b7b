//! The variants of a unit. Open slice plans expand here, once the uncut variant has shown lengths and marks; measured
//! limits are measured here.

use super::cuttable::Cuttable;
use super::measure::resolve;
use super::problem::Problem;
use super::unit::{Ground, Unit};
use super::variant::Setup;
use crate::case::{Case, Limit, USUAL_VARIANTS};
use crate::judge::bound::binds_variant;
use crate::judge::judge;
use crate::plan::{Plan, is_open};
use crate::timeline::Event;
use crate::variant::Variant;
use crate::verdict::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// A variant that is to run, with its limits.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The variant.
    pub variant: Variant,
    /// The client's limits as numbers; or why those that are measured could not be, so that nothing can be said.
    pub limits: Result<BTreeMap<String, u64>, String>,
}

impl Unit<'_> {
    /// All variants that the unit runs, in order: those in which some check binds the client. Uncut variants run for it
    /// where lengths or sizes must be known.
    ///
    /// # Errors
    /// A mistake in the case that only shows on the wire; the system refuses what an uncut variant needs.
    pub fn plan(&self, ground: &mut impl Ground, setup: &Setup<'_>) -> Result<Vec<Planned>, Problem> {
        let mut planned = Vec::new();
        let mut known = BTreeSet::new();
        for keys in self.file.combinations() {
            // What an open plan stands for shows only once it is expanded.
            if !keys.iter().any(|(_, value)| is_open(value))
                && !self.binds(setup, &self.variant(keys.clone()))
            {
                continue;
            }
            let combination = self.plan_combination(ground, setup, &keys)?;
            planned.extend(combination.into_iter().filter(|planned| {
                self.binds(setup, &planned.variant) && known.insert(planned.variant.clone())
            }));
            if self.is_once() && !planned.is_empty() {
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

    /// Whether the variant shows anything of the client.
    pub(super) fn binds(&self, setup: &Setup<'_>, variant: &Variant) -> bool {
        binds_variant(&self.file.case, variant, setup.client.policy(), setup.clauses)
    }

    pub(super) fn plan_combination<G: Ground>(
        &self,
        ground: &mut G,
        setup: &Setup<'_>,
        keys: &[(String, String)],
    ) -> Result<Vec<Planned>, Problem> {
        let plans: Vec<(usize, Plan)> = keys
            .iter()
            .enumerate()
            .filter_map(|(index, (_, value))| Some((index, value.parse::<Plan>().ok()?)))
            .filter(|(_, plan)| self.size.opens(plan))
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
