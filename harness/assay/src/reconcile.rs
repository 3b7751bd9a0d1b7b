//! Holds results against what the profile expects: known deviations, expected silence, floors.
//!
//! Total over all results: whatever the judge says of whatever check, it lands in exactly one class.

mod told;

use crate::exit::Exit;
use crate::profile::{Deviation, Fails, Profile};
use crate::report::{Checks, Wires};
use crate::variant::{CaseId, Variant};
use crate::verdict::{CheckResult, Level, Outcome};
use std::collections::BTreeMap;
use told::Told;

/// The class of one check result.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Class {
    /// As expected.
    Pass,
    /// A failure that nobody listed.
    Fail,
    /// A failure as listed.
    Known,
    /// Listed as a failure, and passed.
    Stale,
    /// A should or may that did not hold.
    Note,
    /// Said nothing, as listed.
    Silent(Outcome),
    /// Said nothing, and nobody listed that.
    Gap(Outcome),
}

/// Takes results one by one and says in the end what they amount to.
#[derive(Debug)]
pub struct Reconciler<'a> {
    profile: &'a Profile,
    strict: bool,
    /// How often each deviation was exercised, and how often it failed.
    deviations: Vec<(u64, u64)>,
    expected: Vec<u64>,
    checks: Checks,
    unexpected: BTreeMap<(CaseId, String, Class), Sighting>,
    notes: BTreeMap<(CaseId, String), Noted>,
    variants: u64,
    cases: BTreeMap<CaseId, u64>,
    wires: Wires,
    each_cut: u64,
}

/// How often something unexpected was seen, and where first.
#[derive(Clone, Debug)]
struct Sighting {
    count: u64,
    first: String,
    expected: String,
    actual: String,
}

/// A check of a case that asks for no more than a should or a may, and did not hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Noted {
    /// Its level.
    pub level: Level,
    /// What it expects.
    pub expected: String,
    /// What was seen in the first variant in which it did not hold.
    pub actual: String,
    /// In how many variants it did not hold.
    pub count: u64,
}

/// What a run amounts to.
#[derive(Clone, Debug)]
pub struct Reconciled {
    /// Results by class.
    pub checks: Checks,
    /// What was unexpected, one line each.
    pub unexpected: Vec<String>,
    /// Notes by case and check.
    pub notes: BTreeMap<(CaseId, String), Noted>,
    /// The exit.
    pub exit: Exit,
    /// Variants that ran.
    pub variants: u64,
    /// Variants by case.
    pub cases: BTreeMap<CaseId, u64>,
    /// Variants by wire.
    pub wires: Wires,
    /// Variants of each-cut plans.
    pub each_cut: u64,
}

impl<'a> Reconciler<'a> {
    /// Nothing taken yet. With `strict` a broken should is a failure.
    #[must_use]
    pub fn new(profile: &'a Profile, strict: bool) -> Self {
        Self {
            profile,
            strict,
            deviations: vec![(0, 0); profile.deviation.len()],
            expected: vec![0; profile.expect.len()],
            checks: Checks::default(),
            unexpected: BTreeMap::new(),
            notes: BTreeMap::new(),
            variants: 0,
            cases: BTreeMap::new(),
            wires: Wires::default(),
            each_cut: 0,
        }
    }

    /// Takes one variant with all its results; returns those that are unexpected.
    pub fn take<'r>(
        &mut self,
        case: &CaseId,
        variant: &Variant,
        results: &'r [CheckResult],
    ) -> Vec<(&'r CheckResult, Class)> {
        self.variants += 1;
        *self.cases.entry(case.clone()).or_default() += 1;
        self.wires.add(variant.wire);
        self.each_cut += u64::from(variant.keys.iter().any(|(_, value)| value.starts_with("each-cut@")));
        let mut unexpected = Vec::new();
        for result in results {
            let class = self.class(case, variant, result);
            let count = match class {
                Class::Pass => &mut self.checks.pass,
                Class::Stale => &mut self.checks.stale,
                Class::Fail => &mut self.checks.fail,
                Class::Known => &mut self.checks.known,
                Class::Note => &mut self.checks.note,
                Class::Silent(outcome) | Class::Gap(outcome) => match outcome {
                    Outcome::Unexercised => &mut self.checks.unexercised,
                    Outcome::Unsupported => &mut self.checks.unsupported,
                    Outcome::Inconclusive => &mut self.checks.inconclusive,
                    Outcome::Pass | Outcome::Fail | Outcome::Error => &mut self.checks.error,
                },
            };
            *count += 1;
            if class == Class::Note {
                let (expected, actual) = (result.expected.clone(), result.actual.clone());
                self.notes
                    .entry((case.clone(), result.id.clone()))
                    .and_modify(|noted| noted.count += 1)
                    .or_insert(Noted { level: result.level, expected, actual, count: 1 });
            }
            if matches!(class, Class::Fail | Class::Stale | Class::Gap(_)) {
                unexpected.push((result, class));
                self.unexpected
                    .entry((case.clone(), result.id.clone(), class))
                    .and_modify(|sighting| sighting.count += 1)
                    .or_insert_with(|| Sighting {
                        count: 1,
                        first: variant.to_string(),
                        expected: result.expected.clone(),
                        actual: result.actual.clone(),
                    });
            }
        }
        unexpected
    }

    fn class(&mut self, case: &CaseId, variant: &Variant, result: &CheckResult) -> Class {
        let covering: Vec<usize> = (0..self.profile.deviation.len())
            .filter(|index| self.profile.deviation[*index].covers(case, &result.id, variant))
            .collect();
        match result.outcome {
            Outcome::Pass => {
                let mut class = Class::Pass;
                for index in covering {
                    self.deviations[index].0 += 1;
                    if self.profile.deviation[index].fails == Fails::All {
                        class = Class::Stale;
                    }
                }
                class
            }
            Outcome::Fail => {
                let as_listed = |deviation: &Deviation| {
                    deviation.actual.as_ref().is_none_or(|actual| *actual == result.actual)
                };
                let (listed, mut known) = (!covering.is_empty(), false);
                for index in covering {
                    self.deviations[index].0 += 1;
                    if as_listed(&self.profile.deviation[index]) {
                        self.deviations[index].1 += 1;
                        known = true;
                    }
                }
                match (known, result.level, self.strict) {
                    (true, ..) => Class::Known,
                    // Listed, but it fails in another way than listed.
                    _ if listed => Class::Fail,
                    (false, Level::Must, _) | (false, Level::Should, true) => Class::Fail,
                    (false, Level::Should, false) | (false, Level::May, _) => Class::Note,
                }
            }
            Outcome::Unexercised | Outcome::Unsupported => {
                let listed = self
                    .profile
                    .expect
                    .iter()
                    .position(|e| e.covers(case, &result.id, variant.revision, result.outcome));
                match listed {
                    Some(index) => {
                        self.expected[index] += 1;
                        Class::Silent(result.outcome)
                    }
                    None => Class::Gap(result.outcome),
                }
            }
            Outcome::Inconclusive | Outcome::Error => Class::Gap(result.outcome),
        }
    }

    /// What all that was taken amounts to. A `partial` run owes no floors and no complete lists.
    #[must_use]
    pub fn finish(self, partial: bool) -> Reconciled {
        let mut exit = Exit::AsExpected;
        let mut unexpected = Vec::new();
        for ((case, check, class), sighting) in &self.unexpected {
            exit = exit.and(match class {
                Class::Gap(_) => Exit::Incomplete,
                _ => Exit::Unexpected,
            });
            unexpected.push(format!("{case} {check}: {}", Told { class: *class, sighting }));
        }
        let mut owe = |owed: Exit, line: String| {
            exit = exit.and(owed);
            unexpected.push(line);
        };
        if self.variants == 0 {
            owe(Exit::Incomplete, "nothing was run, and nothing run is no success".to_owned());
        } else if !partial {
            self.lists(&mut owe);
            self.floors(&mut owe);
        }
        Reconciled {
            checks: self.checks,
            unexpected,
            notes: self.notes,
            exit,
            variants: self.variants,
            cases: self.cases,
            wires: self.wires,
            each_cut: self.each_cut,
        }
    }

    /// Entries of the profile that nothing bore out.
    fn lists(&self, owe: &mut impl FnMut(Exit, String)) {
        for (deviation, (exercised, failed)) in self.profile.deviation.iter().zip(&self.deviations) {
            let Deviation { case, check, revision, .. } = deviation;
            if *exercised == 0 {
                let line =
                    format!("deviation {case} {check} {revision}: listed, but no variant exercised it");
                owe(Exit::Incomplete, line);
            } else if *failed == 0 && deviation.fails == Fails::Some {
                let line =
                    format!("deviation {case} {check} {revision}: listed as failing in some, none failed");
                owe(Exit::Unexpected, line);
            }
        }
        for (expect, times) in self.profile.expect.iter().zip(&self.expected) {
            if *times == 0 {
                let (case, check) = (expect.case.as_str(), expect.check.as_str());
                let line = format!("expect {case} {check} {}: listed, but it never came", expect.revision);
                owe(Exit::Unexpected, line);
            }
        }
    }

    fn floors(&self, owe: &mut impl FnMut(Exit, String)) {
        let requires = &self.profile.requires;
        let mut floor = |what: &str, is: u64, floor: Option<u64>| {
            if let Some(floor) = floor
                && is < floor
            {
                owe(Exit::Incomplete, format!("{what}: {is} ran, the profile requires {floor}"));
            }
        };
        floor("cases", count(self.cases.len()), requires.cases);
        floor("variants", self.variants, requires.variants);
        floor("variants on tcp", self.wires.tcp, requires.tcp);
        for (family, required) in &requires.families {
            let ran = self.cases.iter().filter(|(case, _)| case.area() == family).map(|(_, n)| n).sum();
            floor(&format!("variants of {family}"), ran, Some(*required));
        }
        let mut ceiling = |what: &str, is: u64, part: Option<f64>| {
            if let Some(part) = part
                && is as f64 > part * self.variants as f64
            {
                let line =
                    format!("{what}: {is} of {} variants, at most {part} of them may be", self.variants);
                owe(Exit::Incomplete, line);
            }
        };
        ceiling("each-cut", self.each_cut, requires.each_cut_max);
        let largest = self.cases.values().copied().max().unwrap_or(0);
        ceiling("the largest case", largest, requires.largest_case_max);
    }
}

/// A length as a count.
pub(crate) fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
