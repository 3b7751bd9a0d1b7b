//! Runs one profile from plan to receipts.

use super::estimate::Estimate;
use super::problem::Problem;
use super::server::ServerJob;
use super::sighting::{Sighting, simplest};
use super::smoke::{self, Broken};
use super::unit::{Facing, Unit, Watch};
use super::variant::Setup;
use super::{CaseDone, Choice, longest_first, manifest, nothing_left, sources, units};
use crate::catalogue::Catalogue;
use crate::driver::ClientUnderTest;
use crate::exit::Exit;
use crate::profile::ProfileFile;
use crate::receipt::catalog::Texts;
use crate::receipt::writer::{CaseRun, RunDir, RunWriter};
use crate::reconcile::{Class, Noted, Reconciled, Reconciler};
use crate::report::{Cuts, Note, ProfileReport};
use crate::sdk::fleet::{Fleet, Member};
use crate::sdk::install::Installed;
use crate::variant::CaseId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What a profile is run with.
#[derive(Clone)]
pub struct Conduct<'a> {
    /// How the program is called, for the commands that a failure shows: `cargo xtask`, `mcp-assay`.
    pub program: &'a str,
    /// The folder of `fixtures/` and `profiles/`.
    pub root: &'a Path,
    /// The catalogue.
    pub catalogue: &'a Catalogue,
    /// The profile.
    pub profile: &'a ProfileFile,
    /// What is chosen of it.
    pub choice: &'a Choice,
    /// The client under test.
    pub client: &'a dyn ClientUnderTest,
    /// A broken should is a failure too.
    pub strict: bool,
    /// Where runs go.
    pub out: &'a Path,
    /// The command line for the manifest, word by word.
    pub command: Vec<String>,
    /// How often the profile ran in this process before.
    pub repetition: u64,
    /// Set to stop early; also set by a run that cannot be written.
    pub stop: &'a AtomicBool,
}

/// Hears how a run goes.
pub trait Audience: Sync {
    /// That many cases are about to run, for about so long where the profile states its pace.
    fn planned(&self, cases: usize, estimate: Option<Estimate>);
    /// A variant ended.
    fn variant(&self);
    /// A case ended.
    fn case(&self);
    /// An unexpected result, rendered.
    fn unexpected(&self, failure: &dyn std::fmt::Display);
    /// A server is looked up in the cache, and installed if it is not there.
    fn installing(&self, what: &str);
    /// A problem of the harness or of a case.
    fn problem(&self, problem: &str);
}

/// Nobody hears it.
pub struct Silence;

impl Audience for Silence {
    fn planned(&self, _cases: usize, _estimate: Option<Estimate>) {}
    fn variant(&self) {}
    fn case(&self) {}
    fn unexpected(&self, _failure: &dyn std::fmt::Display) {}
    fn installing(&self, _what: &str) {}
    fn problem(&self, _problem: &str) {}
}

/// A profile that ran.
pub struct ProfileRun {
    /// What it amounts to.
    pub report: ProfileReport,
    /// The run that was written; none where nothing ran or the run was stopped.
    pub run: Option<RunDir>,
    /// The exit.
    pub exit: Exit,
}

/// The most unexpected results that are shown in full, each of another check: a check that fails often is shown once, in
/// its simplest variant, and the summary counts the rest.
const SHOWN: usize = 5;

/// Runs the profile: the smoke case first, and nothing else where that fails.
///
/// # Errors
/// What the system or a file refused, in words.
pub fn run(conduct: &Conduct<'_>, audience: &dyn Audience) -> Result<ProfileRun, String> {
    let Conduct { root, catalogue, profile: file, choice, client, .. } = *conduct;
    let profile = &file.profile;
    let mut began = Instant::now();
    let setup = Setup {
        client,
        clauses: &catalogue.clauses,
        seed: choice.seed,
        deadline_scale: choice.deadline_scale,
    };
    let texts = Texts::load(root).map_err(|problem| problem.to_string())?;
    if let Err(broken) = smoke::run(conduct.program, catalogue, &texts, file, &setup, audience) {
        return Ok(not_believed(conduct, began, &broken, audience));
    }
    let fleet = Fleet::of(root, profile)?;
    let installed = fleet
        .install(&|what| audience.installing(what), conduct.stop)
        .map_err(|problem| problem.to_string())?;
    let units = units(catalogue, &texts, &fleet, profile, choice);
    let cases = units.iter().map(|unit| &unit.file.id).collect::<BTreeSet<_>>().len();
    audience.planned(cases, Estimate::of(&units, profile, &catalogue.clauses));
    // Installing is no part of the run.
    began = Instant::now();
    let partial = choice.partial(profile);
    let before = sources::digest(root).map_err(|e| format!("cannot read the sources: {e}"))?;
    let head = manifest::head(conduct, &fleet, &units, before, &partial)?;
    let stored = Texts { profiles: file.texts(), ..texts.clone() };
    let mut writer = RunWriter::begin(head, stored, conduct.out).map_err(|p| p.to_string())?;
    let stage = Stage { setup: &setup, fleet: &fleet, installed: &installed };
    let taken = take(conduct, &stage, units, &mut writer, audience)?;
    let stopped = conduct.stop.load(Ordering::Relaxed);
    let reconciled = taken.reconciler.finish(!partial.is_empty() || stopped);
    let mut exit = taken.problems.iter().fold(reconciled.exit, |exit, told| exit.and(told.exit));
    let mut written = None;
    let mut voided = None;
    if stopped {
        voided = Some("stopped before the end: no receipts are left");
        exit = exit.and(Exit::Incomplete);
    } else if reconciled.variants > 0 {
        let after = sources::digest(root).map_err(|e| format!("cannot read the sources: {e}"))?;
        if after != before {
            voided = Some("fixtures/ or profiles/ changed during the run, which voids it; run it again");
            exit = exit.and(Exit::Incomplete);
        }
        let summary = manifest::summary(conduct, &fleet, after, exit, &partial, began.elapsed());
        written = Some(writer.finish(summary).map_err(|p| p.to_string())?);
    }
    voided.into_iter().for_each(|why| audience.problem(why));
    let problems: Vec<String> = taken.problems.into_iter().map(|told| told.text).collect();
    let notes = notes(catalogue, &reconciled);
    let nothing = (reconciled.variants == 0 && !stopped && problems.is_empty())
        .then(|| nothing_left(catalogue, &texts, &fleet, profile, choice));
    let found = Found { reconciled, problems, cuts: taken.cuts, notes, written: written.as_ref() };
    let mut report = report(conduct, began, found);
    report.unexpected.extend(nothing.into_iter().chain(voided.map(str::to_owned)));
    Ok(ProfileRun { report, run: written, exit })
}

/// All results of a run, reconciled one by one.
struct Taken<'a> {
    reconciler: Reconciler<'a>,
    problems: Vec<Told>,
    cuts: Cuts,
}

/// A problem as it was told: of a case, or of a server.
struct Told {
    text: String,
    exit: Exit,
}

/// What the units of a profile run on.
struct Stage<'a> {
    setup: &'a Setup<'a>,
    fleet: &'a Fleet,
    installed: &'a BTreeMap<String, Installed>,
}

/// Runs the units; every case is reconciled, shown where it is unexpected, and written.
fn take<'a, 's>(
    conduct: &Conduct<'a>,
    stage: &Stage<'s>,
    units: Vec<Unit<'s>>,
    writer: &mut RunWriter,
    audience: &dyn Audience,
) -> Result<Taken<'a>, String> {
    let profile = &conduct.profile.profile;
    let Stage { setup, fleet, installed } = *stage;
    let mut taken = Taken {
        reconciler: Reconciler::new(profile, conduct.strict),
        problems: Vec::new(),
        cuts: Cuts::default(),
    };
    let mut unwritten: Option<String> = None;
    let mut shown = 0;
    let tick = || audience.variant();
    let done = |case: CaseDone<'_>| {
        audience.case();
        let id = &case.file.id;
        for problem in case.problems {
            taken.problems.push(told(audience, format!("{id}: {problem}"), problem.exit()));
        }
        let mut seen = Vec::new();
        for ran in &case.variants {
            taken.cuts.add(&ran.variant, &ran.timeline);
            let unexpected = taken.reconciler.take(id, &ran.variant, &ran.checks);
            let failed = unexpected.into_iter().filter(|(_, class)| *class != Class::Stale);
            seen.extend(failed.map(|(result, _)| (ran, result)));
        }
        for (ran, result) in simplest(&seen) {
            if shown < SHOWN {
                shown += 1;
                let (program, profile) = (conduct.program, conduct.profile.named.as_str());
                let sighting = Sighting { program, profile, setup, file: case.file, ran, result };
                audience.unexpected(&sighting);
            }
        }
        if case.variants.is_empty() || unwritten.is_some() {
            return;
        }
        let mut run = CaseRun::new(case.file, case.variants);
        run.processes = case.processes;
        if let Err(problem) = writer.case(&run) {
            unwritten = Some(problem.to_string());
            // What cannot be written need not be run either.
            conduct.stop.store(true, Ordering::Relaxed);
        }
    };
    let mut troubles = Vec::new();
    let trouble = |problem: Problem| troubles.push(told(audience, problem.to_string(), problem.exit()));
    let watch = Watch { stop: conduct.stop, tick: &tick };
    let jobs = conduct.choice.jobs(&profile.client);
    let ran = if fleet.members.is_empty() {
        super::run(longest_first(units, profile), setup, jobs, watch, done)
    } else {
        super::run_servers(&units, server_jobs(fleet, installed, &units), setup, jobs, watch, done, trouble)
    };
    taken.problems.extend(troubles);
    ran.map_err(|e| format!("cannot run: {e}"))?;
    unwritten.map_or(Ok(taken), Err)
}

fn told(audience: &dyn Audience, text: String, exit: Exit) -> Told {
    audience.problem(&text);
    Told { text, exit }
}

/// One job a server, with its units in case order.
fn server_jobs<'a>(
    fleet: &'a Fleet,
    installed: &'a BTreeMap<String, Installed>,
    units: &[Unit<'a>],
) -> Vec<ServerJob<'a>> {
    let on = |member: &Member| {
        let is_on = |unit: &&Unit<'a>| matches!(unit.facing, Facing::Server(id) if id == member.id);
        units.iter().filter(is_on).cloned().collect::<Vec<_>>()
    };
    let job = |member: &'a Member| {
        let installed = installed.get(member.server.name.as_str())?;
        Some(ServerJob { member, installed, units: on(member) }).filter(|job| !job.units.is_empty())
    };
    fleet.members.iter().filter_map(job).collect()
}

/// What becomes of a profile whose client cannot be believed: nothing was run.
fn not_believed(
    conduct: &Conduct<'_>,
    began: Instant,
    broken: &Broken,
    audience: &dyn Audience,
) -> ProfileRun {
    let problem = format!(
        "{broken}; whatever else this client did would show nothing, so nothing was run: mend the client, its \
         driver or the profile"
    );
    audience.problem(&problem);
    let reconciled = Reconciler::new(&conduct.profile.profile, false).finish(true);
    let exit = reconciled.exit.and(Exit::Incomplete);
    let (problems, cuts) = (vec![problem], Cuts::default());
    let found = Found { reconciled, problems, cuts, notes: Vec::new(), written: None };
    let report = report(conduct, began, found);
    ProfileRun { report, run: None, exit }
}

/// The notes of a run, with the clause and the rows that each check is tied to.
fn notes(catalogue: &Catalogue, reconciled: &Reconciled) -> Vec<Note> {
    let note = |((case, check), noted): (&(CaseId, String), &Noted)| {
        let checks = catalogue.cases.get(case).map(|file| file.case.check.as_slice()).unwrap_or_default();
        let tied = checks.iter().find(|known| known.id.get_ref() == check);
        let named = |id: &toml::Spanned<String>| id.get_ref().clone();
        Note {
            case: case.to_string(),
            check: check.clone(),
            level: noted.level,
            clause: tied.and_then(|check| check.clause.as_ref()).map(named),
            rows: tied.into_iter().flat_map(|check| check.row.iter().chain(&check.rows)).map(named).collect(),
            expected: noted.expected.clone(),
            actual: noted.actual.clone(),
            variants: noted.count,
        }
    };
    reconciled.notes.iter().map(note).collect()
}

/// What a profile came to that ran, or was about to.
struct Found<'a> {
    reconciled: Reconciled,
    problems: Vec<String>,
    cuts: Cuts,
    notes: Vec<Note>,
    written: Option<&'a RunDir>,
}

fn report(conduct: &Conduct<'_>, began: Instant, found: Found<'_>) -> ProfileReport {
    let Found { reconciled, problems, cuts, notes, written } = found;
    let mut families: BTreeMap<String, u64> = BTreeMap::new();
    for (case, variants) in &reconciled.cases {
        *families.entry(case.area().to_owned()).or_default() += variants;
    }
    let mut unexpected = reconciled.unexpected;
    unexpected.extend(problems);
    let receipts =
        written.map(|run| run.path.strip_prefix(conduct.root).unwrap_or(&run.path).display().to_string());
    ProfileReport {
        name: conduct.profile.profile.name.clone(),
        tier: conduct.choice.tier,
        cases: crate::reconcile::count(reconciled.cases.len()),
        variants: reconciled.variants,
        checks: reconciled.checks,
        claims_root: written.map(|run| run.run.claims.root.to_string()).unwrap_or_default(),
        seconds: began.elapsed().as_secs_f64(),
        wires: reconciled.wires,
        cuts,
        each_cut: reconciled.each_cut,
        largest_case: reconciled.cases.values().copied().max().unwrap_or(0),
        families,
        bytes: written.map_or(0, |run| run.bytes),
        receipts: receipts.unwrap_or_default(),
        unexpected,
        notes,
    }
}
