//! What mutants and lawful variations came to: a table for people, one object for programs.

use super::lawful::Varied;
use super::stage::CheckName;
use super::trial::{Trial, Tried};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// The most checks that are named of one client.
const SHOWN: usize = 4;

/// The trial as a program reads it.
#[derive(Debug, Serialize)]
pub struct TrialReport<'a> {
    mutants: usize,
    killed: usize,
    survivors: Vec<&'a str>,
    checks: usize,
    tripped: usize,
}

impl<'a> From<&'a Trial> for TrialReport<'a> {
    fn from(trial: &'a Trial) -> Self {
        let survivors = trial.survivors();
        Self {
            mutants: trial.tried.len(),
            killed: trial.tried.len() - survivors.len(),
            survivors,
            checks: trial.ids.len(),
            tripped: trial.tripped.len(),
        }
    }
}

/// The variations as a program reads them.
#[derive(Debug, Serialize)]
pub struct LawfulReport {
    variations: usize,
    tripped: Vec<String>,
}

impl From<&[Varied]> for LawfulReport {
    fn from(all: &[Varied]) -> Self {
        let tripped = all.iter().flat_map(|varied| {
            varied.tripped.keys().map(|name| format!("{}: {} {}", varied.name, name.case, name.check))
        });
        Self { variations: all.len(), tripped: tripped.collect() }
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, defect, unnoticed, trips, elsewhere } = self;
        if let Some(defect) = defect {
            return write!(f, "DEFECT    {name}: it does not count: {defect}");
        }
        if unnoticed.is_empty() {
            write!(f, "killed    {name:<34} {trips:>4} checks")?;
        } else {
            write!(f, "SURVIVED  {name}: no check noticed that it breaks {}", unnoticed.join(", "))?;
        }
        if !elsewhere.is_empty() {
            let cases: BTreeSet<&str> = elsewhere.iter().map(|name| name.case.as_str()).collect();
            write!(f, ", and {} elsewhere: {}", elsewhere.len(), Few(elsewhere, cases.len()))?;
        }
        Ok(())
    }
}

/// The first few checks, and in how many cases they are.
struct Few<'a>(&'a [CheckName], usize);

impl fmt::Display for Few<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(names, cases) = *self;
        for (index, name) in names.iter().take(SHOWN).enumerate() {
            write!(f, "{}{} {}", if index == 0 { "" } else { ", " }, name.case, name.check)?;
        }
        if names.len() > SHOWN { write!(f, ", … in {cases} cases") } else { Ok(()) }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let killed = self.tried.iter().filter(|tried| tried.is_killed()).count();
        for line in &self.mislisted {
            writeln!(f, "{line}")?;
        }
        let percent = self.tripped.len() * 100 / self.ids.len().max(1);
        writeln!(
            f,
            "{} mutants, {killed} killed; of {} clauses and rows with checks {} tripped ({percent} %)",
            self.tried.len(),
            self.ids.len(),
            self.tripped.len()
        )
    }
}

impl fmt::Display for Varied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return write!(f, "unnoticed {}", self.name);
        }
        write!(f, "NOTICED   {}", self.name)?;
        for problem in self.problems.iter().take(SHOWN) {
            write!(f, "\n  {problem}")?;
        }
        for (name, trip) in &self.tripped {
            let before = trip.before.map_or("nothing", |before| before.as_str());
            write!(
                f,
                "\n  {} {}: {before} before, now {} on {}: {}",
                name.case,
                name.check,
                trip.after.as_str(),
                trip.variant,
                trip.actual
            )?;
        }
        Ok(())
    }
}
