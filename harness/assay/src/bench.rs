//! How fast and how small everything is, measured against named baselines within one run.
//!
//! [`ratio`] has the arithmetic. Nothing here decides an exit code: every figure is shown beside its target, and a
//! person reads it on a machine that has nothing else to do.

mod bare;
mod calls;
mod clock;
mod events;
mod exchanges;
pub mod memory;
pub mod ratio;
mod report;
mod whole;

pub use report::{Figure, Report, Timed};

use crate::catalogue::Catalogue;
use crate::profile::ProfileFile;
use calls::{Calls, Kind};
use exchanges::Exchanges;
use memory::{Load, Shape};
use ratio::{Target, alternate, fastest};
use std::path::Path;

/// What can be measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// Exchanges of the harness against the bare wire; and how many cuts on TCP were proven.
    Harness,
    /// Calls of the client answered with JSON.
    Json,
    /// Calls of the client answered with a stream.
    Sse,
    /// Decoding of event streams, 16 KiB a read.
    Events,
    /// Decoding of event streams, one byte a read.
    EventsBytewise,
    /// Seconds of the whole profile `exagent`.
    Whole,
    /// Growth of the client's process.
    Memory,
}

impl Part {
    /// All parts, with the names that choose them: those of the ratios, `exagent` and `memory`.
    pub const NAMED: [(&'static str, Self); 7] = [
        ("harness_vs_bare", Self::Harness),
        ("client_vs_hyper_json", Self::Json),
        ("client_vs_hyper_sse", Self::Sse),
        ("sse_vs_best_peer", Self::Events),
        ("sse_vs_best_peer_bytewise", Self::EventsBytewise),
        ("exagent", Self::Whole),
        ("memory", Self::Memory),
    ];

    /// The part of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, part)| *part)
    }

    fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }
}

/// What a run of the bench measures.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Few rounds, memory under the default limits only, and no whole profile.
    pub short: bool,
    /// Only these; all where there is none.
    pub only: Vec<Part>,
    /// Job slots of the harness.
    pub jobs: usize,
}

impl Plan {
    fn takes(&self, part: Part) -> bool {
        if self.only.is_empty() { !self.short || part != Part::Whole } else { self.only.contains(&part) }
    }

    fn rounds(&self) -> usize {
        if self.short { 3 } else { 9 }
    }
}

/// Measures what the plan says; `tell` hears each figure as it is there.
pub fn run(
    plan: &Plan,
    root: &Path,
    catalogue: &Catalogue,
    profile: &ProfileFile,
    tell: &dyn Fn(&str),
) -> Report {
    let mut report = Report::default();
    let failed = |part: Part, problem: &str| {
        let problem = format!("{}: {problem}", part.name());
        tell(&problem);
        problem
    };
    let mut take = |part: Part, measured: Result<Vec<Figure>, String>| match measured {
        Ok(figures) => figures.into_iter().for_each(|figure| {
            tell(&figure.to_string());
            report.figures.push(figure);
        }),
        Err(problem) => report.problems.push(failed(part, &problem)),
    };
    for (part, read) in [(Part::Events, 16_384), (Part::EventsBytewise, 1)] {
        if plan.takes(part) {
            take(part, events(part, plan, read));
        }
    }
    for (part, kind) in [(Part::Json, Kind::Json), (Part::Sse, Kind::Stream)] {
        if plan.takes(part) {
            take(part, calls(part, plan, kind));
        }
    }
    if plan.takes(Part::Harness) {
        take(Part::Harness, exchanges(plan, root, catalogue, profile));
    }
    if plan.takes(Part::Whole) {
        match whole::run(plan, root, catalogue, profile) {
            Ok(run) => {
                tell(&run.to_string());
                report.runs.push(run);
            }
            Err(problem) => report.problems.push(failed(Part::Whole, &problem)),
        }
    }
    if plan.takes(Part::Memory) {
        memory(plan, &mut report, tell);
    }
    report
}

fn events(part: Part, plan: &Plan, read: usize) -> Result<Vec<Figure>, String> {
    let input = events::Input::new(500, read);
    let rates = alternate(plan.rounds(), input.contestants())?;
    let target = if part == Part::Events { 1.0 } else { 3.0 };
    let Some((ours, peers)) = rates.split_first() else { return Ok(Vec::new()) };
    let best = fastest(peers).ok_or("expected peers")?;
    Ok(vec![Figure::ratio(part.name(), Some(Target(target)), "bytes/s", ours, best)])
}

fn calls(part: Part, plan: &Plan, kind: Kind) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (in_flight, target) in [(1, Some(Target(0.8))), (32, None)] {
        let calls = Calls::new(kind, in_flight)?;
        let _handshake = calls.connections();
        let number = if plan.short { 3_200 } else { 6_400 };
        let rates = calls.rates(plan.rounds(), number)?;
        let [ours, bare] = &rates[..] else { return Ok(Vec::new()) };
        let name = if in_flight == 1 { part.name().to_owned() } else { format!("{}_32", part.name()) };
        figures.push(Figure::ratio(&name, target, "calls/s", ours, bare));
    }
    Ok(figures)
}

fn exchanges(
    plan: &Plan,
    root: &Path,
    catalogue: &Catalogue,
    profile: &ProfileFile,
) -> Result<Vec<Figure>, String> {
    let exchanges = Exchanges::record(root, catalogue, profile, plan.jobs)?;
    let proven = exchanges.cuts.proven as f64 / exchanges.cuts.made.max(1) as f64;
    // A round takes a third of a second: few of them would tell more of the machine's mood than of the harness.
    let rates = exchanges.rates(3 * plan.rounds())?;
    let [harness, bare] = &rates[..] else { return Ok(Vec::new()) };
    Ok(vec![
        Figure::ratio(Part::Harness.name(), Some(Target(0.4)), "exchanges/s", harness, bare),
        Figure::share("cuts_proven", Target(0.99), proven, exchanges.cuts.made),
    ])
}

fn memory(plan: &Plan, report: &mut Report, tell: &dyn Fn(&str)) {
    if !cfg!(target_os = "linux") {
        let problem =
            "memory: not measured, only Linux tells how much memory a process has needed".to_owned();
        tell(&problem);
        report.notes.push(problem);
        return;
    }
    for load in Load::chosen(plan.short) {
        for shape in Shape::ALL {
            match memory::measure(shape, *load) {
                Ok(growth) => {
                    tell(&report::memory_line(&growth));
                    report.memory.push(growth);
                }
                Err(problem) => {
                    let problem = format!("memory: {}, {}: {problem}", shape.name(), load.name());
                    tell(&problem);
                    report.problems.push(problem);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_name_of_its_own() {
        for (name, part) in Part::NAMED {
            assert_eq!((Part::named(name), part.name()), (Some(part), name));
        }
        assert_eq!(Part::named("luck"), None);
    }

    #[test]
    fn a_plan_without_names_takes_everything() {
        let plan = |short, only| Plan { short, only, jobs: 1 };
        assert!(Part::NAMED.iter().all(|(_, part)| plan(false, Vec::new()).takes(*part)));
        assert!(!plan(true, Vec::new()).takes(Part::Whole), "a whole profile is not short");
        assert!(plan(true, vec![Part::Json]).takes(Part::Json));
        assert!(!plan(true, vec![Part::Json]).takes(Part::Memory));
    }
}
