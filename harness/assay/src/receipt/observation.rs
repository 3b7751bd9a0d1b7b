//! Observations: what clock and machine did while a claim came about. They point at the claim, never back.

use super::canonical;
use super::problem::Problem;
use crate::digest::Digest;
use crate::timeline::{Event, EventKind};
use crate::variant::{CaseId, Variant, Wire};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of the format.
pub const SCHEMA: &str = "mcp-assay/observation/v1";

/// An observation: one file a case.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// [`SCHEMA`].
    pub schema: String,
    /// The profile's name.
    pub profile: String,
    /// The case's id.
    pub case: String,
    /// SHA-256 of the claim's file.
    #[schemars(with = "String")]
    pub claim: Digest,
    /// SHA-256 of the file of timelines.
    #[schemars(with = "String")]
    pub timelines: Digest,
    /// What can be counted in the timelines.
    pub counted: Counted,
    /// Real time over all variants, in microseconds; variants that ran side by side each count in full.
    pub micros: u64,
    /// The variant that took longest.
    pub slowest: Slowest,
    /// The processes that took part: SDK servers and drivers.
    pub processes: Vec<ProcessRecord>,
}

/// What can be counted in timelines.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// Variants on each wire.
    pub wires: BTreeMap<Wire, u64>,
    /// Cuts the peer made between writes.
    pub cuts: u64,
    /// How many of them are known to have reached the client as cuts.
    pub proven: u64,
    /// Requests the peer read.
    pub requests: u64,
    /// Connections the peer accepted.
    pub connections: u64,
}

/// The variant that took longest.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Slowest {
    /// Its id.
    pub variant: String,
    /// Its real time in microseconds.
    pub micros: u64,
}

/// What became of a process.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessRecord {
    /// What it is: the server's or driver's name.
    pub name: String,
    /// The version of its runtime, as the runtime says.
    pub runtime: String,
    /// Its process id.
    pub pid: u32,
    /// The port it listened on, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// How it ended, in words: `exit 0`, `signal 9`.
    pub ended: String,
    /// Whether the harness had to kill it.
    pub killed: bool,
    /// What it did that a driver must not, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Whether its port refused connections afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_refused: Option<bool>,
    /// The isolation in force: `process group`, `parent-death signal`, `subreaper`, `private home` …
    pub isolation: Vec<String>,
}

impl Counted {
    /// Counts one more variant.
    pub fn add(&mut self, variant: &Variant, timeline: &[Event]) {
        *self.wires.entry(variant.wire).or_default() += 1;
        for event in timeline {
            match &event.kind {
                EventKind::Replied(reply) => {
                    self.cuts += reply.cuts.len() as u64;
                    self.proven += u64::from(reply.proven);
                }
                EventKind::Request(_) => self.requests += 1,
                EventKind::Accepted { .. } => self.connections += 1,
                _ => {}
            }
        }
    }
}

impl Observation {
    /// Reads an observation strictly.
    ///
    /// # Errors
    ///
    /// When it is not canonical, or of another format, case or profile.
    pub fn read(bytes: &[u8], profile: &str, case: &CaseId) -> Result<Self, Problem> {
        let place = path(case);
        let observation: Self = canonical::from_bytes(bytes, &place)?;
        let expected = format!("{SCHEMA} of {case} in {profile}");
        let seen = format!("{} of {} in {}", observation.schema, observation.case, observation.profile);
        if seen == expected {
            Ok(observation)
        } else {
            Err(Problem::new(place, expected, seen, "put the file back where it belongs"))
        }
    }
}

/// Where the observation of a case lies in a run.
#[must_use]
pub fn path(case: &CaseId) -> String {
    format!("observations/{case}.json")
}
