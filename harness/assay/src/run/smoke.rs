//! Smoke before judgement: a client is believed only after it has had one polite dialogue, and after it has answered
//! a verb that nobody ever heard of with `unsupported`.

use super::problem::Problem;
use super::profile::Audience;
use super::sighting::Sighting;
use super::unit::{Facing, Unit, Watch};
use super::variant::{Setup, Slot};
use crate::catalogue::Catalogue;
use crate::driver::{Verb, Way};
use crate::peer::{Peer, Script};
use crate::profile::ProfileFile;
use crate::receipt::catalog::Texts;
use crate::returned::{BROKEN, Returned};
use crate::revision::Revision;
use crate::select::Size;
use crate::timeline::EventKind;
use crate::timeline::Recorder;
use crate::variant::{CaseId, Wire};
use crate::verdict::{CheckResult, Outcome};
use crate::wire::memory::MemoryWire;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::timeout;

/// The case that every client must pass before any other says anything about it.
pub const CASE: &str = "smoke/polite";

/// How long an unheard-of verb may take on the variant's clock.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a client is not believed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Broken {
    /// There is no smoke case in a revision of the profile.
    #[error("expected the case {CASE} in one of the profile's revisions, found none")]
    NoCase,
    /// The smoke case could not be run.
    #[error("the smoke case {CASE} could not be run: {0}")]
    NotRun(Problem),
    /// A check of the smoke case did not pass.
    #[error("{CASE} {}: expected {}; saw {}", .0.id, .0.expected, .0.actual)]
    NotPolite(CheckResult),
    /// An unheard-of verb was not answered `unsupported`.
    #[error("a verb that nobody ever heard of: expected the answer unsupported; saw {0}")]
    Credulous(String),
}

/// Runs the smoke case in each revision of the profile, and asks for an unheard-of verb. `program` is how the program is
/// called, for the commands that a failure shows.
///
/// # Errors
/// The first thing that keeps the client from being believed.
pub fn run(
    program: &str,
    catalogue: &Catalogue,
    texts: &Texts,
    profile: &ProfileFile,
    setup: &Setup<'_>,
    audience: &dyn Audience,
) -> Result<(), Broken> {
    let id: Option<CaseId> = CASE.parse().ok();
    let file = id.and_then(|id| catalogue.cases.get(&id)).ok_or(Broken::NoCase)?;
    let wire = setup.client.home_wire();
    let mut slot =
        Slot::new(wire == Wire::Tcp).map_err(|e| Broken::NotRun(Problem::System(e.to_string())))?;
    let mut ran = 0;
    for revision in file.case.revisions.iter().filter(|revision| profile.profile.revisions.contains(revision))
    {
        let (Some(polite), Some(text)) = (catalogue.polite.get(revision), texts.polite.get(revision)) else {
            continue;
        };
        let facing = Facing::Scripted { polite, text };
        let (revision, size) = (*revision, Size::Sample);
        let unit = Unit { file, facing, revision, wire, size, revisions: 1, filters: Vec::new() };
        // It takes a moment; who stops the run is heard right after.
        let watch = Watch { stop: &AtomicBool::new(false), tick: &|| {} };
        let done = unit.run(&mut slot, setup, watch);
        if let Some(problem) = done.problem {
            return Err(Broken::NotRun(problem));
        }
        for variant in &done.variants {
            if let Some(result) = variant.checks.iter().find(|result| result.outcome != Outcome::Pass) {
                let (profile, ran) = (profile.named.as_str(), variant);
                audience.unexpected(&Sighting { program, profile, setup, file, ran, result });
                return Err(Broken::NotPolite(result.clone()));
            }
            ran += variant.checks.len();
        }
        unheard(setup, &file.case, polite, revision)?;
    }
    if ran == 0 { Err(Broken::NoCase) } else { Ok(()) }
}

/// A line about a dialogue that was not as it should be.
pub(crate) struct Impolite {
    pub(crate) line: String,
    /// The driver broke under it: what it did tells more, where that is known.
    pub(crate) driver_broke: bool,
}

impl Impolite {
    fn of(broken: &Broken) -> Self {
        Self { line: broken.to_string(), driver_broke: false }
    }
}

/// What of the smoke case does not pass, one line each, in those of the revisions that it can be held in.
pub(crate) fn polite(
    catalogue: &Catalogue,
    texts: &Texts,
    revisions: &[Revision],
    setup: &Setup<'_>,
) -> Vec<Impolite> {
    let id: Option<CaseId> = CASE.parse().ok();
    let Some(file) = id.and_then(|id| catalogue.cases.get(&id)) else {
        return vec![Impolite::of(&Broken::NoCase)];
    };
    let wire = setup.client.home_wire();
    let mut slot = match Slot::new(wire == Wire::Tcp) {
        Ok(slot) => slot,
        Err(problem) => {
            return vec![Impolite::of(&Broken::NotRun(Problem::System(problem.to_string())))];
        }
    };
    let mut lines = Vec::new();
    for revision in file.case.revisions.iter().filter(|revision| revisions.contains(revision)) {
        let (Some(polite), Some(text)) = (catalogue.polite.get(revision), texts.polite.get(revision)) else {
            continue;
        };
        let facing = Facing::Scripted { polite, text };
        let unit = Unit {
            file,
            facing,
            revision: *revision,
            wire,
            size: Size::Sample,
            revisions: 1,
            filters: Vec::new(),
        };
        let watch = Watch { stop: &AtomicBool::new(false), tick: &|| {} };
        let done = unit.run(&mut slot, setup, watch);
        lines.extend(done.problem.map(|problem| Impolite::of(&Broken::NotRun(problem))));
        for variant in &done.variants {
            let driver_broke = variant.timeline.iter().any(|event| match &event.kind {
                EventKind::StepEnded { returned, .. } => returned.problem_of_driver().is_some(),
                _ => false,
            });
            let broken = variant.checks.iter().filter(|result| result.outcome != Outcome::Pass);
            let line = |result: &CheckResult| format!("{revision}: {}", Broken::NotPolite(result.clone()));
            lines.extend(broken.map(|result| Impolite { line: line(result), driver_broke }));
        }
    }
    lines
}

/// A verb that no driver can know by heart.
pub(crate) fn unheard_verb() -> Verb {
    Verb::Unheard(format!("verb_{:016x}", RandomState::new().hash_one(())))
}

/// Asks for it.
fn unheard(
    setup: &Setup<'_>,
    case: &crate::case::Case,
    polite: &crate::case::Case,
    revision: Revision,
) -> Result<(), Broken> {
    let system = |problem: String| Broken::NotRun(Problem::System(problem));
    let wire = setup.client.home_wire();
    let runtime = Builder::new_current_thread().enable_all().start_paused(wire == Wire::Memory).build();
    let runtime = runtime.map_err(|e| system(format!("expected a runtime: {e}")))?;
    let (answer, ended) = runtime.block_on(async {
        let script = Script { case, polite, revision, seed: setup.seed, limits: &BTreeMap::new() };
        let peer = Peer::new(&script, Recorder::start()).map_err(|e| system(e.to_string()))?;
        let driver = setup.client.driver(match wire {
            Wire::Memory => Way::Memory(MemoryWire::new(peer.clone())),
            Wire::Tcp => Way::Tcp,
        });
        let patience = PATIENCE.mul_f64(setup.deadline_scale);
        let answer = timeout(patience, driver.perform("a", "unheard", unheard_verb())).await;
        let ended = driver.end().await;
        peer.finish().await;
        Ok((answer, ended))
    })?;
    match answer {
        Ok(Returned::Unsupported { .. }) => ended.map_err(system),
        Ok(Returned::Ok { .. }) => Err(Broken::Credulous("ok".to_owned())),
        Ok(Returned::Error { kind, message, .. }) if kind == BROKEN => {
            Err(Broken::Credulous(format!("its driver break: {message}")))
        }
        Ok(Returned::Error { kind, .. }) => Err(Broken::Credulous(format!("the error {kind}"))),
        Err(_) => Err(Broken::Credulous("nothing".to_owned())),
    }
}
