//! Runs one profile from plan to receipts.

use super::server::ServerJob;
use super::unit::{Facing, Unit};
use super::variant::Setup;
use super::{CaseDone, Choice, builtin_offers, policy, sources, units};
use crate::catalogue::Catalogue;
use crate::exit::Exit;
use crate::judge::JudgeInput;
use crate::profile::{Client, Peer, ProfileFile};
use crate::receipt::catalog::Texts;
use crate::receipt::claim::{Client as ClientName, EvidenceClass};
use crate::receipt::digest::Digest;
use crate::receipt::problem::Problem;
use crate::receipt::run::{Identity, Offered, RunHead, Scope, Summary};
use crate::receipt::writer::{CaseRun, RunDir, RunWriter, VariantRun, utc};
use crate::reconcile::{Class, Reconciled, Reconciler};
use crate::render::Failure;
use crate::report::ProfileReport;
use crate::sdk::fleet::{Fleet, Member};
use crate::sdk::install::Installed;
use crate::variant::{CaseId, Wire};
use crate::verdict::CheckResult;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

/// What a profile is run with.
pub struct Conduct<'a> {
    /// The folder of `fixtures/` and `profiles/`.
    pub root: &'a Path,
    /// The catalogue.
    pub catalogue: &'a Catalogue,
    /// The profile.
    pub profile: &'a ProfileFile,
    /// What is chosen of it.
    pub choice: &'a Choice,
    /// A broken should is a failure too.
    pub strict: bool,
    /// Where runs go.
    pub out: &'a Path,
    /// The command line, for the manifest.
    pub command: Vec<String>,
    /// How often the profile ran in this process before.
    pub repetition: u64,
    /// Set to stop early.
    pub stop: &'a AtomicBool,
}

/// Hears how a run goes.
pub trait Audience: Sync {
    /// That many cases are about to run.
    fn planned(&self, cases: usize);
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

/// A profile that ran.
pub struct ProfileRun {
    /// What it amounts to.
    pub report: ProfileReport,
    /// The run that was written; none where nothing ran or the run was stopped.
    pub run: Option<RunDir>,
    /// The exit.
    pub exit: Exit,
}

/// The most unexpected results that are shown in full.
const SHOWN: usize = 5;

/// Runs the profile.
///
/// # Errors
/// What the system or a file refused, in words.
pub fn run(conduct: &Conduct<'_>, audience: &dyn Audience) -> Result<ProfileRun, String> {
    let Conduct { root, catalogue, profile: file, choice, stop, .. } = conduct;
    let profile = &file.profile;
    let Client::Builtin(name) = &profile.client;
    let policy = policy(name).ok_or_else(|| format!("no policy {name:?}: expected exagent"))?;
    let offers = builtin_offers();
    let setup = Setup {
        policy,
        clauses: &catalogue.clauses,
        offers: &offers,
        seed: choice.seed,
        deadline_scale: choice.deadline_scale,
    };
    let texts = Texts::load(root).map_err(|problem| problem.to_string())?;
    let fleet = Fleet::of(root, profile)?;
    let installed =
        fleet.install(&|what| audience.installing(what)).map_err(|problem| problem.to_string())?;
    let units = units(catalogue, &texts, &fleet, profile, choice);
    audience.planned(units.iter().map(|unit| &unit.file.id).collect::<BTreeSet<_>>().len());
    let partial = choice.partial(profile);
    let began = Instant::now();
    let before = sources::digest(root).map_err(|e| format!("cannot read the sources: {e}"))?;
    let head = head(conduct, &fleet, &units, before, &partial)?;
    let mut writer = RunWriter::begin(head, texts.clone(), conduct.out).map_err(|p| p.to_string())?;
    let mut reconciler = Reconciler::new(profile, conduct.strict);
    let mut problems: Vec<String> = Vec::new();
    let mut broken: Option<Problem> = None;
    let mut shown = 0;
    let tick = || audience.variant();
    let done = |case: CaseDone<'_>| {
        audience.case();
        for problem in case.problems {
            let problem = format!("{}: {problem}", case.file.id);
            audience.problem(&problem);
            problems.push(problem);
        }
        for ran in &case.variants {
            for (result, class) in reconciler.take(&case.file.id, &ran.variant, &ran.checks) {
                if shown < SHOWN {
                    shown += 1;
                    show(conduct, &setup, &case.file.id, case.file, ran, result, class, audience);
                }
            }
        }
        if case.variants.is_empty() || broken.is_some() {
            return;
        }
        let mut run = CaseRun::new(case.file, case.variants);
        run.processes = case.processes;
        broken = writer.case(&run).err();
    };
    let ran = if fleet.members.is_empty() {
        super::run(units, &setup, choice.jobs, stop, &tick, done)
    } else {
        let jobs = server_jobs(&fleet, &installed, &units);
        super::run_servers(&units, jobs, &setup, choice.jobs, stop, &tick, done)
    };
    ran.map_err(|e| format!("cannot run: {e}"))?;
    if let Some(problem) = broken {
        return Err(problem.to_string());
    }
    let seconds = began.elapsed().as_secs_f64();
    let stopped = stop.load(Ordering::Relaxed);
    let reconciled = reconciler.finish(!partial.is_empty() || stopped);
    let mut exit = reconciled.exit;
    if !problems.is_empty() {
        exit = exit.and(Exit::Usage);
    }
    let mut written = None;
    if stopped {
        audience.problem("stopped before the end: no receipts are left");
        exit = exit.and(Exit::Incomplete);
    } else if reconciled.variants > 0 {
        let after = sources::digest(root).map_err(|e| format!("cannot read the sources: {e}"))?;
        if after != before {
            audience.problem("fixtures/ or profiles/ changed during the run, which voids it; run it again");
            exit = exit.and(Exit::Incomplete);
        }
        let summary = Summary {
            sources_after: after,
            exit: exit.code(),
            excluded: u64::try_from(excluded(conduct).len()).unwrap_or(u64::MAX),
            repetitions: conduct.repetition,
            not_qualified: not_qualified(conduct, &partial),
            micros: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        written = Some(writer.finish(summary).map_err(|p| p.to_string())?);
    }
    let report = report(profile.name.clone(), reconciled, problems, written.as_ref(), seconds, root);
    Ok(ProfileRun { report, run: written, exit })
}

#[expect(
    clippy::too_many_arguments,
    reason = "all of it is one sighting; a struct would be built once and read once"
)]
fn show(
    conduct: &Conduct<'_>,
    setup: &Setup<'_>,
    case_id: &CaseId,
    file: &crate::catalogue::CaseFile,
    ran: &VariantRun,
    result: &CheckResult,
    class: Class,
    audience: &dyn Audience,
) {
    if class == Class::Stale {
        return;
    }
    let Ok(case) = file.instantiate(&ran.variant.keys) else { return };
    let input = JudgeInput {
        case: &case,
        variant: &ran.variant,
        policy: Some(setup.policy.name),
        offers: setup.offers,
        clauses: setup.clauses,
        timeline: &ran.timeline,
    };
    let profile = &conduct.profile.profile.name;
    audience.unexpected(&Failure { profile, case_id, input, result, receipt: None });
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

fn head(
    conduct: &Conduct<'_>,
    fleet: &Fleet,
    units: &[Unit<'_>],
    before: Digest,
    partial: &[String],
) -> Result<RunHead, String> {
    let Conduct { catalogue, profile: file, choice, .. } = conduct;
    let Client::Builtin(policy) = &file.profile.client;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let named = |name: &str| Identity {
        name: name.to_owned(),
        version: version.clone(),
        sha256: None,
        lock_sha256: None,
        command: Vec::new(),
    };
    let mut catalogue_lines = String::new();
    for case in catalogue.cases.values() {
        catalogue_lines.push_str(&format!("{} {}\n", Digest(case.digest), case.id));
    }
    let (evidence, peers) = match file.profile.peer {
        Peer::Scripted => (EvidenceClass::Scripted, vec![named("mcp-assay scripted peer")]),
        Peer::Servers(_) => (EvidenceClass::SdkServer, fleet.identities()?),
    };
    Ok(RunHead {
        profile: file.profile.name.clone(),
        profile_sha256: Digest(file.digest),
        evidence,
        client: ClientName { name: "mcp-assay-client".to_owned(), version: version.clone() },
        policy: Some(policy.clone()),
        offers: Offered::from(&builtin_offers()),
        subject: named("mcp-assay-client"),
        peers,
        harness: named("mcp-assay"),
        catalogue: version.clone(),
        catalogue_sha256: Digest::of(catalogue_lines.as_bytes()),
        sources_before: before,
        command: conduct.command.clone(),
        seed: choice.seed.to_string(),
        scope: Scope {
            revisions: units.iter().map(|unit| unit.revision).collect::<BTreeSet<_>>().into_iter().collect(),
            wires: units.iter().map(|unit| unit.wire).collect::<BTreeSet<_>>().into_iter().collect(),
            size: match choice.size.unwrap_or(file.profile.size) {
                crate::select::Size::Full => "full".to_owned(),
                crate::select::Size::Sample => "sample".to_owned(),
            },
            jobs: u32::try_from(choice.jobs).unwrap_or(u32::MAX),
            partial: partial.to_vec(),
        },
        started: utc(SystemTime::now()),
    })
}

/// Cases of the catalogue that the profile leaves out by name.
fn excluded(conduct: &Conduct<'_>) -> BTreeMap<CaseId, String> {
    let profile = &conduct.profile.profile;
    let left_out =
        conduct.catalogue.cases.keys().filter_map(|id| Some((id.clone(), profile.excluded(id)?.to_owned())));
    left_out.collect()
}

/// What the run says nothing about.
fn not_qualified(conduct: &Conduct<'_>, partial: &[String]) -> Vec<String> {
    let profile = &conduct.profile.profile;
    let mut sentences: Vec<String> =
        excluded(conduct).into_iter().map(|(case, reason)| format!("case {case}: {reason}")).collect();
    if let Client::Builtin(policy) = &profile.client
        && let Some(rows) = conduct.catalogue.clauses.policy(policy)
    {
        let excluded =
            rows.rows().iter().filter_map(|row| Some(format!("row {}: {}", row.id, row.excluded.as_ref()?)));
        sentences.extend(excluded);
    }
    sentences.extend(partial.iter().map(|reason| format!("only what was chosen by {reason} ran")));
    sentences.extend(profile.expect.iter().map(|expect| {
        let (case, check) = (expect.case.as_str(), expect.check.as_str());
        format!("{case} {check} ({}): {}", expect.revision, expect.reason)
    }));
    let areas = conduct.catalogue.areas();
    let scripted = profile.peer == Peer::Scripted;
    let memory_only = areas.iter().filter(|area| scripted && !profile.wires.of(area).contains(&Wire::Tcp));
    sentences.extend(memory_only.map(|area| format!("family {area}: not run on tcp")));
    sentences
}

fn report(
    name: String,
    reconciled: Reconciled,
    problems: Vec<String>,
    written: Option<&RunDir>,
    seconds: f64,
    root: &Path,
) -> ProfileReport {
    let mut families: BTreeMap<String, usize> = BTreeMap::new();
    for (case, variants) in &reconciled.cases {
        *families.entry(case.area().to_owned()).or_default() += variants;
    }
    let mut unexpected = reconciled.unexpected;
    unexpected.extend(problems);
    let receipts = written.map(|run| run.path.strip_prefix(root).unwrap_or(&run.path).display().to_string());
    ProfileReport {
        name,
        cases: reconciled.cases.len(),
        variants: reconciled.variants,
        checks: reconciled.checks,
        claims_root: written.map(|run| run.run.claims.root.to_string()).unwrap_or_default(),
        seconds,
        wires: reconciled.wires,
        each_cut: reconciled.each_cut,
        largest_case: reconciled.cases.values().copied().max().unwrap_or(0),
        families,
        bytes: written.map_or(0, |run| run.bytes),
        receipts: receipts.unwrap_or_default(),
        unexpected,
    }
}
