//! The trial of all mutants: smoke first, then every case, one mutant after the other.

use super::stage::{CheckName, Differences, Stage};
use super::table::{Change, Mutant, Table};
use super::watchdog::Watchdog;
use crate::variant::CaseId;
use std::collections::{BTreeMap, BTreeSet};

/// A client that can be changed, for the whole process.
pub trait Client {
    /// The text by which its binary is known.
    fn marker(&self) -> &'static str;

    /// The rules it can break, by name.
    fn rules(&self) -> BTreeSet<String>;

    /// The habits it can take on, by name.
    fn habits(&self) -> BTreeSet<String>;

    /// Makes this the one change of the client from now on. False if it cannot.
    fn change(&self, change: Option<Change<'_>>) -> bool;
}

/// What became of one mutant.
#[derive(Debug)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// Why it does not count: it does not pass smoke, or could not be played.
    pub defect: Option<String>,
    /// The clauses and rows it breaks and that no check noticed.
    pub unnoticed: Vec<String>,
    /// How many checks of those it breaks tripped.
    pub trips: usize,
    /// The checks that tripped elsewhere.
    pub elsewhere: Vec<CheckName>,
}

impl Tried {
    /// Whether every clause and row that it breaks was noticed.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.defect.is_none() && self.unnoticed.is_empty()
    }
}

/// What became of all.
#[derive(Debug, Default)]
pub struct Trial {
    /// The mutants, in the table's order.
    pub tried: Vec<Tried>,
    /// The clauses and rows that have checks.
    pub ids: BTreeSet<String>,
    /// Those that some mutant tripped.
    pub tripped: BTreeSet<String>,
    /// What is wrong with the list of untripped ids, one line each.
    pub mislisted: Vec<String>,
}

impl Trial {
    /// Whether every mutant was killed and the list of untripped ids is right.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.mislisted.is_empty() && self.tried.iter().all(Tried::is_killed)
    }

    /// The names of the mutants that were not killed.
    #[must_use]
    pub fn survivors(&self) -> Vec<&str> {
        self.tried.iter().filter(|tried| !tried.is_killed()).map(|tried| tried.name.as_str()).collect()
    }
}

/// Who takes part in a trial.
pub struct Court<'a> {
    /// Every variant with what the unbroken client does.
    pub stage: &'a Stage<'a>,
    /// The clauses and rows that have checks, those included that say nothing of the client on this stage.
    pub checked: &'a BTreeSet<String>,
    /// The client.
    pub client: &'a dyn Client,
    /// Whether the client passes smoke as it is now; else why not.
    pub smoke: &'a dyn Fn() -> Result<(), String>,
    /// Watches over all.
    pub watchdog: &'a Watchdog,
    /// Hears of each mutant that was tried.
    pub heard: &'a dyn Fn(&Tried),
}

impl Court<'_> {
    /// Tries the mutants that `chosen` takes. A trial of some says nothing about the list of untripped ids.
    pub fn try_all(&self, table: &Table, chosen: Option<&dyn Fn(&str) -> bool>) -> Trial {
        let ids = self.stage.ids();
        let mut trial = Trial { ids: self.checked.clone(), ..Trial::default() };
        for mutant in table.mutant.iter().filter(|mutant| chosen.is_none_or(|takes| takes(&mutant.name()))) {
            let (tried, differences) = self.try_one(mutant, &ids);
            if tried.defect.is_none() {
                let tripped = ids
                    .iter()
                    .filter(|(_, checks)| checks.iter().any(|check| differences.trips.contains_key(check)));
                trial.tripped.extend(tripped.map(|(id, _)| id.clone()));
            }
            (self.heard)(&tried);
            trial.tried.push(tried);
        }
        if chosen.is_none() {
            trial.mislisted = mislisted(table, &trial);
        }
        trial
    }

    fn try_one(&self, mutant: &Mutant, ids: &BTreeMap<String, BTreeSet<CheckName>>) -> (Tried, Differences) {
        let name = mutant.name();
        let named: BTreeMap<&str, &BTreeSet<CheckName>> = mutant
            .breaks
            .iter()
            .filter_map(|id| Some((id.get_ref().as_str(), ids.get(id.get_ref())?)))
            .collect();
        let closely: BTreeSet<CaseId> =
            named.values().flat_map(|checks| checks.iter().map(|check| check.case.clone())).collect();
        self.watchdog.client(&name);
        let known = self.client.change(mutant.change());
        let smoke = if known { (self.smoke)() } else { Err("the client cannot be changed so".to_owned()) };
        let mut differences = if smoke.is_ok() { self.stage.play(&closely) } else { Differences::default() };
        self.client.change(None);
        self.watchdog.client("");
        let defect = smoke.err().or_else(|| differences.problems.drain(..).next());
        let tripped =
            |checks: &BTreeSet<CheckName>| checks.iter().any(|check| differences.trips.contains_key(check));
        let breaks = mutant.breaks.iter().map(|id| id.get_ref());
        let unnoticed = breaks
            .filter(|id| !named.get(id.as_str()).is_some_and(|checks| tripped(checks)))
            .cloned()
            .collect();
        let is_named = |check: &CheckName| named.values().any(|checks| checks.contains(check));
        let (here, elsewhere): (Vec<_>, Vec<_>) = differences.trips.keys().cloned().partition(is_named);
        (Tried { name, defect, unnoticed, trips: here.len(), elsewhere }, differences)
    }
}

/// Ids that are listed as untripped and tripped, and those that are neither.
fn mislisted(table: &Table, trial: &Trial) -> Vec<String> {
    let listed = table.untripped.iter().flat_map(|entry| &entry.ids);
    let listed: BTreeSet<&str> = listed.map(|id| id.get_ref().as_str()).collect();
    let stale = listed.iter().filter(|id| trial.tripped.contains(**id));
    let stale = stale.map(|id| format!("{id} is listed as untripped, and tripped: take it off the list"));
    let missing = trial.ids.iter().filter(|id| !trial.tripped.contains(*id) && !listed.contains(id.as_str()));
    let missing = missing.map(|id| {
        format!("no mutant trips {id}: break what it asks for, or list it as untripped with the reason")
    });
    let (tripped, all) = (trial.ids.intersection(&trial.tripped).count(), trial.ids.len());
    let few = (tripped * 10 < all * 9).then(|| {
        format!("expected mutants to trip nine in ten of the {all} ids with checks, they trip {tripped}: add mutants")
    });
    stale.chain(missing).chain(few).collect()
}
