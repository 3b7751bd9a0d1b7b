//! Runs: a profile's cases, every variant of them, on job slots.

mod choice;
pub mod client;
mod cuttable;
mod dialogue;
pub mod estimate;
pub mod jobs;
mod left;
mod manifest;
pub mod measure;
mod patience;
pub mod planned;
pub mod problem;
pub mod profile;
pub mod server;
pub mod sighting;
pub mod smoke;
pub mod sources;
pub mod steps;
pub mod together;
pub mod unit;
pub mod variant;

use crate::catalogue::{CaseFile, Catalogue};
use crate::judge::bound::binds_case;
use crate::profile::{Client, Peer, Profile};
use crate::receipt::catalog::Texts;
use crate::receipt::observation::ProcessRecord;
use crate::receipt::writer::VariantRun;
use crate::revision::Revision;
use crate::sdk::fleet::Fleet;
use crate::sdk::manifest::Mode;
use crate::select::Filter;
use crate::variant::{CaseId, Wire};
use problem::Problem;
use server::{ServerJob, ServerRun, ServerSlot};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use together::{Together, TogetherRun, by_case};
use unit::{Facing, Unit, Watch};
use variant::{Setup, Slot};

pub use choice::Choice;
pub use left::nothing_left;

/// The seed of a run that names none. A constant, so that two runs are alike.
pub const DEFAULT_SEED: u64 = 37_556;

/// At most this many variants are on TCP at a time.
pub const TCP_IN_FLIGHT: usize = 16;

/// The job slots of a profile where nobody says: two a core, since a slot on TCP waits part of its time; eight a core
/// where the client is foreign, since many of its variants wait until a deadline of its own has passed.
#[must_use]
pub fn default_jobs(client: &Client) -> usize {
    let a_core = match client {
        Client::Builtin(_) | Client::Process(_) => 2,
        Client::Driver(_) => 8,
    };
    std::thread::available_parallelism().map_or(a_core, |cores| cores.get() * a_core)
}

/// A case with all its variants that ran.
pub struct CaseDone<'a> {
    /// The case.
    pub file: &'a CaseFile,
    /// Its variants, by variant id.
    pub variants: Vec<VariantRun>,
    /// What kept variants from running.
    pub problems: Vec<Problem>,
    /// The processes that took part.
    pub processes: Vec<ProcessRecord>,
}

/// All units of a profile under a choice, in case order. `fleet` are the profile's SDK servers.
///
/// A case for SDK servers runs on those it fits, and no other case does. A case whose checks all bind clients of
/// another policy is left out.
#[must_use]
pub fn units<'a>(
    catalogue: &'a Catalogue,
    texts: &'a Texts,
    fleet: &'a Fleet,
    profile: &Profile,
    choice: &Choice,
) -> Vec<Unit<'a>> {
    let mut units = Vec::new();
    for file in catalogue.cases.values().filter(|file| choice.takes(profile, &file.id)) {
        let filters: Vec<Filter> =
            choice.filters.iter().filter(|filter| filter.takes_case(&file.id)).cloned().collect();
        if choice.without_memory && file.case.measures_memory() {
            continue;
        }
        let wanted = |revision: &Revision| {
            profile.revisions.contains(revision) && choice.revision.is_none_or(|only| only == *revision)
        };
        let policy = profile.client.policy();
        let binds = |revision: &Revision| binds_case(&file.case, policy, *revision, &catalogue.clauses);
        // Which variants a sample holds does not depend on --revision.
        let of_profile = |revision: &&Revision| profile.revisions.contains(revision) && binds(revision);
        let revisions = file.case.revisions.iter().filter(of_profile).count();
        for revision in file.case.revisions.iter().copied().filter(wanted).filter(binds) {
            let (facing, wires) = match (&profile.peer, &file.case.servers) {
                (Peer::Scripted, None) => {
                    let polite = catalogue.polite.get(&revision).zip(texts.polite.get(&revision));
                    let facing = polite.map(|(polite, text)| Facing::Scripted { polite, text });
                    (facing.into_iter().collect(), profile.wires.of(file.id.area()))
                }
                (Peer::Servers(_), Some(servers)) => {
                    let fits =
                        |id: &str, mode: &Mode| mode.era(revision).is_some_and(|era| servers.fit(id, era));
                    let members = fleet.members.iter().filter(|member| fits(&member.id, &member.mode));
                    (members.map(|member| Facing::Server(&member.id)).collect(), vec![Wire::Tcp])
                }
                _ => (Vec::new(), Vec::new()),
            };
            let wires = wires.into_iter().filter(|wire| choice.takes_wire(profile, *wire));
            for (wire, facing) in wires.flat_map(|wire| facing.iter().map(move |facing| (wire, *facing))) {
                let size = choice.size(profile);
                let filters = filters.clone();
                units.push(Unit { file, facing, revision, wire, size, revisions, filters });
            }
        }
    }
    units
}

/// The units in the order in which they are best started, so that no slot is left alone with a long one at the end:
/// cases with known deviations first, since what a client fails to do is waited for in vain; then those with the most
/// variants. The units of a case stay together.
#[must_use]
pub fn longest_first<'a>(mut units: Vec<Unit<'a>>, profile: &Profile) -> Vec<Unit<'a>> {
    let mut weights: BTreeMap<&CaseId, u64> = BTreeMap::new();
    for unit in &units {
        *weights.entry(&unit.file.id).or_default() += unit.weight();
    }
    let deviates =
        |case: &CaseId| profile.deviation.iter().any(|deviation| deviation.case == case.to_string());
    let weight = |case: &CaseId| (deviates(case), weights.get(case).copied());
    units.sort_by_cached_key(|unit| Reverse(weight(&unit.file.id)));
    units
}

/// Units that end one by one, put together to cases.
struct Collector<'a, D> {
    /// How many units of each case have not ended.
    open: BTreeMap<CaseId, usize>,
    parts: BTreeMap<CaseId, CaseDone<'a>>,
    done: D,
}

impl<'a, D: FnMut(CaseDone<'a>)> Collector<'a, D> {
    fn new(units: &[Unit<'a>], done: D) -> Self {
        let mut open: BTreeMap<_, usize> = BTreeMap::new();
        for unit in units {
            *open.entry(unit.file.id.clone()).or_default() += 1;
        }
        Self { open, parts: BTreeMap::new(), done }
    }

    /// Takes units that ended, and the process of the server that they ran on.
    fn take(&mut self, ended: TogetherRun<'a>, server: Option<&ProcessRecord>) {
        let TogetherRun { file, units, processes } = ended;
        let id = &file.id;
        let open = self.open.get_mut(id).map_or(0, |open| {
            *open = open.saturating_sub(units.len());
            *open
        });
        let part = self.parts.entry(id.clone()).or_insert_with(|| CaseDone {
            file,
            variants: Vec::new(),
            problems: Vec::new(),
            processes: Vec::new(),
        });
        for unit in units {
            part.variants.extend(unit.variants);
            part.problems.extend(unit.problem);
        }
        part.processes.extend(server.cloned().into_iter().chain(processes));
        if open == 0
            && let Some(mut whole) = self.parts.remove(id)
        {
            whole.variants.sort_by(|a, b| a.variant.cmp(&b.variant));
            whole.processes.sort_by(|a, b| a.name.cmp(&b.name));
            (self.done)(whole);
        }
    }
}

/// Runs units on job slots; `done` gets each case once all of its units have ended.
///
/// Cases start in the order in which they come. Units that run alone ([`Unit::is_alone`]) come after all others, one at a
/// time.
///
/// # Errors
/// The system refuses a job slot its runtime or port.
pub fn run<'a>(
    units: Vec<Unit<'a>>,
    setup: &Setup<'_>,
    jobs: usize,
    watch: Watch<'_>,
    done: impl FnMut(CaseDone<'a>),
) -> std::io::Result<()> {
    let tcp = units.iter().any(|unit| unit.wire == Wire::Tcp);
    let jobs = if tcp { jobs.min(TCP_IN_FLIGHT) } else { jobs };
    let mut collector = Collector::new(&units, done);
    let (alone, together): (Vec<_>, Vec<_>) = units.into_iter().partition(Unit::is_alone);
    let work = |slot: &mut Slot, case: Together<'a>| case.run(slot, setup, watch);
    let mut take = |ended: TogetherRun<'a>| collector.take(ended, None);
    jobs::run(jobs, by_case(together), watch.stop, || Slot::new(tcp), work, &mut take)?;
    jobs::run(1, by_case(alone), watch.stop, || Slot::new(tcp), work, &mut take)
}

/// Runs the units of SDK servers: each server has a job slot of its own, in which its variants run one after the
/// other; `trouble` hears what is wrong with a server itself. Else as [`run`].
///
/// # Errors
/// The system refuses a job slot its port.
pub fn run_servers<'a>(
    units: &[Unit<'a>],
    servers: Vec<ServerJob<'a>>,
    setup: &Setup<'_>,
    jobs: usize,
    watch: Watch<'_>,
    done: impl FnMut(CaseDone<'a>),
    mut trouble: impl FnMut(Problem),
) -> std::io::Result<()> {
    let mut collector = Collector::new(units, done);
    let take = |ended: ServerRun<'a>| {
        ended.problem.into_iter().for_each(&mut trouble);
        for case in ended.cases {
            collector.take(case, ended.process.as_ref());
        }
    };
    let work = |slot: &mut ServerSlot, job: ServerJob<'a>| job.run(slot, setup, watch);
    jobs::run(jobs.min(TCP_IN_FLIGHT), servers, watch.stop, ServerSlot::new, work, take)
}
