//! The stage: every variant of a sample with what each of its checks says of the unbroken client. It is played again
//! with a changed client, and what then says something else is told.

use super::watchdog::Watchdog;
use crate::case::{Case, Limit};
use crate::judge::judge;
use crate::run::jobs;
use crate::run::planned::Planned;
use crate::run::unit::{Ground, Unit};
use crate::run::variant::{Setup, Slot};
use crate::variant::{CaseId, Variant};
use crate::verdict::{CheckResult, Level, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

/// How many variants of a case are played where nobody expects a difference.
const ELSEWHERE: usize = 2;

/// All cases with the outcomes of the unbroken client.
pub struct Stage<'a> {
    /// What every variant is run with.
    setup: Setup<'a>,
    jobs: usize,
    scenes: Vec<Scene<'a>>,
    watchdog: &'a Watchdog,
}

/// One case.
struct Scene<'a> {
    unit: Unit<'a>,
    takes: Vec<Take>,
}

/// One variant, and what its checks say of the unbroken client.
struct Take {
    planned: Planned,
    case: Case,
    results: Vec<CheckResult>,
}

/// A check of a case.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct CheckName {
    /// The case.
    pub case: CaseId,
    /// The check's id in it.
    pub check: String,
}

/// A check that says something else than of the unbroken client.
#[derive(Clone, Debug)]
pub struct Trip {
    /// The variant it was first seen on.
    pub variant: Variant,
    /// What the check says of the unbroken client; none if the check then has no result.
    pub before: Option<Outcome>,
    /// What it says now.
    pub after: Outcome,
    /// What was seen.
    pub actual: String,
}

/// What was different.
#[derive(Debug, Default)]
pub struct Differences {
    /// The checks that tripped, each with its first sighting.
    pub trips: BTreeMap<CheckName, Trip>,
    /// What kept variants from being played: panics, problems of the harness.
    pub problems: Vec<String>,
}

impl<'a> Stage<'a> {
    /// Plays everything with the unbroken client.
    ///
    /// # Errors
    /// A case that cannot be run; the system refuses a job slot.
    pub fn set(
        units: Vec<Unit<'a>>,
        setup: Setup<'a>,
        jobs: usize,
        watchdog: &'a Watchdog,
    ) -> Result<Self, String> {
        let mut scenes = Vec::new();
        let mut problems = Vec::new();
        let work = |slot: &mut Slot, unit: Unit<'a>| {
            let takes = rehearse(slot, &unit, &setup, watchdog);
            (unit, takes)
        };
        let take = |(unit, takes): (Unit<'a>, Result<Vec<Take>, String>)| match takes {
            Ok(takes) => scenes.push(Scene { unit, takes }),
            Err(problem) => problems.push(format!("{}: {problem}", unit.file.id)),
        };
        jobs::run(jobs, units, &AtomicBool::new(false), || Slot::new(false), work, take)
            .map_err(|error| format!("cannot run: {error}"))?;
        if let Some(problem) = problems.into_iter().next() {
            return Err(problem);
        }
        scenes.sort_by(|a, b| a.unit.file.id.cmp(&b.unit.file.id));
        Ok(Self { setup, jobs, scenes, watchdog })
    }

    /// How many variants were played with the unbroken client.
    #[must_use]
    pub fn variants(&self) -> usize {
        self.scenes.iter().map(|scene| scene.takes.len()).sum()
    }

    /// The clauses and rows that have checks which said something, each with those checks.
    #[must_use]
    pub fn ids(&self) -> BTreeMap<String, BTreeSet<CheckName>> {
        let mut ids: BTreeMap<String, BTreeSet<CheckName>> = BTreeMap::new();
        for scene in &self.scenes {
            let file = scene.unit.file;
            let spoke = |check: &str| {
                scene.takes.iter().any(|take| take.results.iter().any(|result| result.id == check))
            };
            for check in file.case.check.iter().filter(|check| spoke(check.id.get_ref())) {
                let name = CheckName { case: file.id.clone(), check: check.id.get_ref().clone() };
                for id in check.clause.iter().chain(&check.row).chain(&check.rows) {
                    ids.entry(id.get_ref().clone()).or_default().insert(name.clone());
                }
            }
        }
        ids
    }

    /// Plays every variant of the cases in `closely` and a few of each other one again, with the client as it is now.
    pub fn play(&self, closely: &BTreeSet<CaseId>) -> Differences {
        let mut differences = Differences::default();
        let scenes: Vec<&Scene<'_>> = self.scenes.iter().collect();
        let work = |slot: &mut Slot, scene: &Scene<'_>| {
            let most = if closely.contains(&scene.unit.file.id) { usize::MAX } else { ELSEWHERE };
            let mut seen = Differences::default();
            for take in scene.takes.iter().take(most) {
                scene.play(take, slot, &self.setup, self.watchdog, &mut seen);
            }
            seen
        };
        let take = |seen: Differences| {
            differences.trips.extend(seen.trips);
            differences.problems.extend(seen.problems);
        };
        let never = AtomicBool::new(false);
        let ended = jobs::run(self.jobs, scenes, &never, || Slot::new(false), work, take);
        differences.problems.extend(ended.err().map(|error| format!("cannot run: {error}")));
        differences
    }

    /// Plays everything again with the client as it is now, and tells which checks that bind every client, and as a must,
    /// fail and did not before.
    pub fn play_anew(&self) -> Differences {
        let mut differences = Differences::default();
        let work = |slot: &mut Slot, scene: &Scene<'_>| {
            let mut seen = Differences::default();
            match scene.anew(slot, &self.setup, self.watchdog) {
                Ok(takes) => scene.compare(takes, &mut seen),
                Err(problem) => seen.problems.push(format!("{}: {problem}", scene.unit.file.id)),
            }
            seen
        };
        let take = |seen: Differences| {
            differences.trips.extend(seen.trips);
            differences.problems.extend(seen.problems);
        };
        let (scenes, never) = (self.scenes.iter().collect(), AtomicBool::new(false));
        let ended = jobs::run(self.jobs, scenes, &never, || Slot::new(false), work, take);
        differences.problems.extend(ended.err().map(|error| format!("cannot run: {error}")));
        differences
    }
}

impl Scene<'_> {
    /// All variants with the client as it is now; what a case measures of the client is measured anew.
    fn anew(&self, slot: &mut Slot, setup: &Setup<'_>, watchdog: &Watchdog) -> Result<Vec<Take>, String> {
        if self.unit.file.case.limits.values().any(|limit| matches!(limit, Limit::Measured(_))) {
            return rehearse(slot, &self.unit, setup, watchdog);
        }
        let again = |take: &Take| {
            let results = one(slot, &self.unit, setup, take, watchdog)?;
            Ok(Take { planned: take.planned.clone(), case: take.case.clone(), results })
        };
        self.takes.iter().map(again).collect()
    }

    /// Holds what another client did against what the unbroken one does. A cut that only one of them has is held against
    /// all outcomes of its check.
    fn compare(&self, takes: Vec<Take>, seen: &mut Differences) {
        let binding = |id: &str| {
            let mut checks = self.unit.file.case.check.iter();
            checks.any(|check| check.id.get_ref() == id && check.policy.is_none() && check.row.is_none())
        };
        let outcome = |take: &Take, id: &str| {
            take.results.iter().find(|result| result.id == id).map(|result| result.outcome)
        };
        for take in takes {
            let variant = &take.planned.variant;
            let same = self.takes.iter().find(|known| known.planned.variant == *variant);
            for result in
                take.results.iter().filter(|result| result.level == Level::Must && binding(&result.id))
            {
                let before = match same {
                    Some(known) => outcome(known, &result.id),
                    None => self
                        .takes
                        .iter()
                        .filter_map(|known| outcome(known, &result.id))
                        .find(|outcome| *outcome == result.outcome),
                };
                // What now holds, or says nothing, accuses nobody.
                if before != Some(result.outcome) && matches!(result.outcome, Outcome::Fail | Outcome::Error)
                {
                    let name = CheckName { case: self.unit.file.id.clone(), check: result.id.clone() };
                    let (variant, after, actual) = (variant.clone(), result.outcome, result.actual.clone());
                    seen.trips.entry(name).or_insert(Trip { variant, before, after, actual });
                }
            }
        }
    }

    fn play(
        &self,
        take: &Take,
        slot: &mut Slot,
        setup: &Setup<'_>,
        watchdog: &Watchdog,
        seen: &mut Differences,
    ) {
        let id = &self.unit.file.id;
        let results = match one(slot, &self.unit, setup, take, watchdog) {
            Ok(results) => results,
            Err(problem) => {
                seen.problems.push(format!("{id}#{}: {problem}", take.planned.variant));
                return;
            }
        };
        for result in results {
            let before =
                take.results.iter().find(|before| before.id == result.id).map(|before| before.outcome);
            if before != Some(result.outcome) {
                let name = CheckName { case: id.clone(), check: result.id };
                let (variant, after) = (take.planned.variant.clone(), result.outcome);
                seen.trips.entry(name).or_insert(Trip { variant, before, after, actual: result.actual });
            }
        }
    }
}

/// Plays all variants of a case with the unbroken client.
fn rehearse(
    slot: &mut Slot,
    unit: &Unit<'_>,
    setup: &Setup<'_>,
    watchdog: &Watchdog,
) -> Result<Vec<Take>, String> {
    let planned = unit.plan(slot, setup).map_err(|problem| problem.to_string())?;
    let mut takes = Vec::new();
    for planned in planned {
        let case = unit.file.instantiate(&planned.variant.keys).map_err(|error| error.rendered())?;
        let mut take = Take { planned, case, results: Vec::new() };
        take.results = one(slot, unit, setup, &take, watchdog)?;
        takes.push(take);
    }
    Ok(takes)
}

/// Plays and judges one variant. A client that panics ends its variant, not the command.
fn one(
    slot: &mut Slot,
    unit: &Unit<'_>,
    setup: &Setup<'_>,
    take: &Take,
    watchdog: &Watchdog,
) -> Result<Vec<CheckResult>, String> {
    let Planned { variant, limits } = &take.planned;
    let limits = limits.as_ref().map_err(String::clone)?;
    let _watched = watchdog.watch(|| format!("{}#{variant}", unit.file.id));
    let played = catch_unwind(AssertUnwindSafe(|| slot.play(setup, unit, &take.case, variant, limits)));
    let timeline = match played {
        Ok(timeline) => timeline.map_err(|problem| problem.to_string())?,
        Err(_) => return Err("the client panicked".to_owned()),
    };
    Ok(judge(&setup.input(&take.case, variant, &timeline)))
}
