//! Reports: what a run amounts to, for people and for machines.

pub mod human;
mod note;

use crate::exit::Exit;
use crate::profile::Tier;
use crate::receipt::observation::Counted;
use crate::timeline::Event;
use crate::variant::{Variant, Wire};
use serde::Serialize;
use std::collections::BTreeMap;

pub use note::Note;

/// The one JSON object that `conformance --format json` prints as stdout's last line.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// One entry a profile run, in order.
    pub profiles: Vec<ProfileReport>,
    /// The exit code.
    pub exit: u8,
}

impl Report {
    /// A report of these runs.
    #[must_use]
    pub fn new(profiles: Vec<ProfileReport>, exit: Exit) -> Self {
        Self { profiles, exit: exit.code() }
    }
}

/// One profile's run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProfileReport {
    /// The profile.
    pub name: String,
    /// The tier of it that was chosen.
    pub tier: Tier,
    /// Distinct cases of which a variant ran.
    pub cases: u64,
    /// Variants that ran; one that ran on two wires counts twice.
    pub variants: u64,
    /// Check results by class; each check of each variant counts once.
    pub checks: Checks,
    /// RFC 6962 root over the claims, lower-case hexadecimal.
    pub claims_root: String,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Variants by wire.
    pub wires: Wires,
    /// Cuts on TCP.
    pub cuts: Cuts,
    /// Variants whose slice plan is one of each-cut.
    pub each_cut: u64,
    /// Variants of the case with the most.
    pub largest_case: u64,
    /// Variants by family.
    pub families: BTreeMap<String, u64>,
    /// Bytes of the run's folder.
    pub bytes: u64,
    /// The run's folder.
    pub receipts: String,
    /// What was unexpected, in one line each.
    pub unexpected: Vec<String>,
    /// Each check that asks for no more than a should or a may and did not hold.
    pub notes: Vec<Note>,
}

impl ProfileReport {
    /// A profile that did not get to run, and why.
    #[must_use]
    pub fn not_run(name: &str, tier: Tier, problem: String) -> Self {
        Self { name: name.to_owned(), tier, unexpected: vec![problem], ..Self::default() }
    }
}

/// Check results by class.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Checks {
    /// Passed.
    pub pass: u64,
    /// Failed and not listed: unexpected.
    pub fail: u64,
    /// Failed as the profile lists.
    pub known: u64,
    /// Listed as a deviation, and passed: unexpected.
    pub stale: u64,
    /// Should and may that did not hold: [`ProfileReport::notes`] says which, never gating.
    pub note: u64,
    /// What the check is about did not happen.
    pub unexercised: u64,
    /// The client declared that it cannot.
    pub unsupported: u64,
    /// Stimulus or observation did not happen.
    pub inconclusive: u64,
    /// The harness failed.
    pub error: u64,
}

/// Variants by wire.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Wires {
    /// On real sockets.
    pub tcp: u64,
    /// In memory.
    pub memory: u64,
}

/// Cuts between the peer's writes on TCP. In memory the client is handed each piece as it is, so that nothing wants proof.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Cuts {
    /// Made.
    pub made: u64,
    /// How many of them are known to have reached the client as cuts.
    pub proven: u64,
}

impl Cuts {
    /// Counts those of one more variant.
    pub fn add(&mut self, variant: &Variant, timeline: &[Event]) {
        if variant.wire == Wire::Tcp {
            let mut counted = Counted::default();
            counted.add(variant, timeline);
            self.made += counted.cuts;
            self.proven += counted.proven;
        }
    }
}

impl Wires {
    /// Counts one more.
    pub fn add(&mut self, wire: Wire) {
        match wire {
            Wire::Tcp => self.tcp += 1,
            Wire::Memory => self.memory += 1,
        }
    }
}
