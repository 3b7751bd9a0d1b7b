//! The units of one case, which one sitting of the client serves: a process stays up from revision to revision.

use super::unit::{Ground, Unit, UnitRun, Watch};
use super::variant::Setup;
use crate::driver::ClientUnderTest;
use std::sync::atomic::Ordering;

/// Units in their order, with neighbours of one case together.
#[must_use]
pub fn by_case(units: Vec<Unit<'_>>) -> Vec<Vec<Unit<'_>>> {
    let mut cases: Vec<Vec<Unit<'_>>> = Vec::new();
    for unit in units {
        match cases.last_mut() {
            Some(case) if case.iter().all(|other| other.file.id == unit.file.id) => case.push(unit),
            _ => cases.push(vec![unit]),
        }
    }
    cases
}

/// Runs the units of a case one after another. The record of the client's processes comes with the last.
pub fn run_case<'a>(
    units: &[Unit<'a>],
    ground: &mut impl Ground,
    setup: &Setup<'_>,
    watch: Watch<'_>,
) -> Vec<UnitRun<'a>> {
    let sitting = setup.client.sit();
    let seated: &dyn ClientUnderTest = match &sitting {
        Some(sitting) => &**sitting,
        None => setup.client,
    };
    let setup = &Setup { client: seated, ..*setup };
    let goes_on = |_: &&Unit<'_>| !watch.stop.load(Ordering::Relaxed);
    let mut ran: Vec<_> =
        units.iter().take_while(goes_on).map(|unit| unit.run(ground, setup, watch)).collect();
    let processes = sitting.map_or_else(Vec::new, |sitting| sitting.leave());
    if let Some(last) = ran.last_mut() {
        last.processes = processes;
    }
    ran
}
