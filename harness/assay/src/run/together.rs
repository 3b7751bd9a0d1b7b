//! The units of one case, which one sitting of the client serves: a process stays up from revision to revision.

use super::unit::{Ground, Unit, UnitRun, Watch};
use super::variant::Setup;
use crate::case::CaseFile;
use crate::driver::ClientUnderTest;
use crate::receipt::observation::ProcessRecord;
use std::sync::atomic::Ordering;

/// Units of one case.
pub struct Together<'a> {
    /// The case.
    pub file: &'a CaseFile,
    /// The units, in their order.
    pub units: Vec<Unit<'a>>,
}

/// What became of units of one case.
pub struct TogetherRun<'a> {
    /// The case.
    pub file: &'a CaseFile,
    /// The units that ran.
    pub units: Vec<UnitRun>,
    /// The client's processes that took part.
    pub processes: Vec<ProcessRecord>,
}

/// Units in their order, with neighbours of one case together.
#[must_use]
pub fn by_case(units: Vec<Unit<'_>>) -> Vec<Together<'_>> {
    let mut cases: Vec<Together<'_>> = Vec::new();
    for unit in units {
        match cases.last_mut() {
            Some(case) if case.file.id == unit.file.id => case.units.push(unit),
            _ => cases.push(Together { file: unit.file, units: vec![unit] }),
        }
    }
    cases
}

impl<'a> Together<'a> {
    /// Runs the units one after another.
    pub fn run(&self, ground: &mut impl Ground, setup: &Setup<'_>, watch: Watch<'_>) -> TogetherRun<'a> {
        let sitting = setup.client.sit();
        let seated: &dyn ClientUnderTest = match &sitting {
            Some(sitting) => &**sitting,
            None => setup.client,
        };
        let setup = &Setup { client: seated, ..*setup };
        let goes_on = |_: &&Unit<'_>| !watch.stop.load(Ordering::Relaxed);
        let units =
            self.units.iter().take_while(goes_on).map(|unit| unit.run(ground, setup, watch)).collect();
        let processes = sitting.map_or_else(Vec::new, |sitting| sitting.leave());
        TogetherRun { file: self.file, units, processes }
    }
}

#[cfg(test)]
mod tests;
