//! `conformance`: runs profiles, shows what was unexpected, and says where the receipts are.

use super::args::{Conformance, Format, SizeArg};
use super::receipts::ACCEPTED;
use super::roots::Roots;
use super::{Context, interrupt, progress, twin};
use crate::catalogue::Catalogue;
use crate::exit::Exit;
use crate::profile::{Client, ProfileFile, Tier};
use crate::receipt::accept;
use crate::receipt::open::OpenRun;
use crate::receipt::problem::Problem;
use crate::receipt::writer::RunDir;
use crate::render::shell;
use crate::report::{ProfileReport, Report, human};
use crate::run::estimate::Estimate;
use crate::run::profile::{Audience, Conduct, ProfileRun, run as run_profile};
use crate::run::{Choice, DEFAULT_SEED, client};
use crate::select::Size;
use crate::source::{escape, escape_lines};
use indicatif::ProgressBar;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn run(context: &Context, args: &Conformance) -> Exit {
    attempt(context, args).unwrap_or_else(|exit| exit)
}

/// Runs the command; an `Err` is an exit before any profile could run.
fn attempt(context: &Context, args: &Conformance) -> Result<Exit, Exit> {
    let choice = choice(args).map_err(|problem| context.complain(&problem))?;
    let catalogue = Catalogue::load(&context.root).map_err(|errors| context.show(errors))?;
    let profiles = profiles(context, args, &catalogue)?;
    if profiles.is_empty() {
        let problem = "no profile is marked default, and nothing run is no success; name one with --profile";
        context.tell_problem(&problem);
        return Err(Exit::Incomplete);
    }
    has_tier(context, choice.tier, &profiles)?;
    can_be_compared(context, args, &profiles)?;
    if args.list {
        return Ok(super::list::run(context, &catalogue, &profiles, &choice, args.output.format));
    }
    let stop = interrupt::flag().map_err(|problem| context.complain(&problem))?;
    let out = args.out.clone().unwrap_or_else(|| context.root.join("receipts/runs"));
    let rounds = if args.until_failure { u32::MAX } else { args.repeat.unwrap_or(1) };
    let mut reports = Vec::new();
    let mut roots = Roots::default();
    let mut exit = Exit::AsExpected;
    for round in 0..rounds {
        if args.until_failure {
            // Nobody knows how many rounds there will be: the last one is reported.
            reports.clear();
        }
        for profile in &profiles {
            let name = profile.profile.name.as_str();
            let tell = |what: &str| tell!("installing unless cached: {what}");
            let client =
                match client::open(&context.root, &profile.profile, args.deadline_scale, &stop, &tell) {
                    Ok(client) => client,
                    Err(problem) => {
                        context.tell_problem(&problem);
                        exit = exit.and(problem.exit());
                        reports.push(ProfileReport::not_run(name, choice.tier, problem.to_string()));
                        continue;
                    }
                };
            let conduct = Conduct {
                program: context.program,
                root: &context.root,
                catalogue: &catalogue,
                profile,
                choice: &choice,
                client: &*client,
                strict: args.strict,
                out: &out,
                command: context.argv.clone(),
                repetition: round.into(),
                stop: &stop,
            };
            let ran = once(context, args, &conduct);
            exit = exit.and(ran.exit).and(roots.take(context, &ran.report));
            reports.push(ran.report);
            if args.twin {
                let (report, ended) = twin::run(context, args, &conduct, ran.run.as_ref());
                exit = exit.and(ended);
                reports.extend(report);
            }
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        if stop.load(Ordering::Relaxed) || (args.until_failure && exit != Exit::AsExpected) {
            break;
        }
    }
    if rounds > 1 {
        for verdict in roots.verdicts() {
            tell!("{verdict}");
        }
    }
    if args.output.format == Format::Json {
        return Ok(exit.and(context.print_json(&Report::new(reports, exit))));
    }
    Ok(exit)
}

/// Whether each profile has the tier: a run of another one would be another answer than the one asked for.
fn has_tier(context: &Context, tier: Tier, profiles: &[ProfileFile]) -> Result<(), Exit> {
    match profiles.iter().find(|file| !file.profile.tiers.has(tier)) {
        None => Ok(()),
        Some(ProfileFile { profile, .. }) => {
            let declared = profile.tiers.declared().map(|(tier, _)| tier).chain([Tier::Full]);
            let has: Vec<String> = declared.map(|tier| tier.to_string()).collect();
            Err(context.complain(&format!(
                "--tier {tier}: the profile {} declares no such tier; it has {}",
                profile.name,
                has.join(", ")
            )))
        }
    }
}

/// Whether everything is there that the runs will be held against: nobody waits for a run to hear that it is not.
fn can_be_compared(context: &Context, args: &Conformance, profiles: &[ProfileFile]) -> Result<(), Exit> {
    let folder = context.root.join(ACCEPTED);
    for ProfileFile { profile, .. } in profiles {
        if args.twin && !matches!(profile.client, Client::Process(_)) {
            return Err(context.complain(&twin::none(&profile.name)));
        }
        if !args.accept {
            let loaded = accept::load(&folder, &profile.name);
            let _claims = loaded.map_err(|problems| context.complain(&told(&problems)))?;
        }
    }
    Ok(())
}

/// Runs one profile once and tells how it went.
pub(super) fn once(context: &Context, args: &Conformance, conduct: &Conduct<'_>) -> ProfileRun {
    let profile = &conduct.profile.profile;
    let watched = Watched {
        name: human::named(&profile.name, conduct.choice.tier),
        bar: progress::bar(&profile.name),
        variants: AtomicU64::new(0),
    };
    let ran = run_profile(conduct, &watched);
    watched.bar.finish_and_clear();
    let failed = |problem: &str| tell!("{}: {}: {}", context.program, escape(&profile.name), escape(problem));
    let mut ran = match ran {
        Ok(ran) => ran,
        Err(problem) => {
            failed(&problem);
            let report = ProfileReport::not_run(&profile.name, conduct.choice.tier, problem);
            return ProfileRun { report, run: None, exit: Exit::Incomplete };
        }
    };
    match ran.run.as_ref().map(|run| against_accepted(context, args, run)) {
        None => {}
        Some(Ok((exit, lines))) => {
            ran.exit = ran.exit.and(exit);
            for line in &lines {
                tell!("{line}");
            }
            if exit != Exit::AsExpected {
                ran.report.unexpected.push("what the checks saw differs from the accepted claims".to_owned());
            }
        }
        Some(Err(problem)) => {
            failed(&problem);
            ran.exit = ran.exit.and(Exit::Incomplete);
            ran.report.unexpected.push(problem);
        }
    }
    let summary = human::summary(&ran.report);
    if args.output.format == Format::Human {
        ran.exit = ran.exit.and(context.print(&summary));
    } else {
        tell!("{}", summary.trim_end());
    }
    if let Some(note) = human::overtime(&ran.report, profile.tiers.get(ran.report.tier)) {
        tell!("{}", escape(&note));
    }
    ran
}

/// Compares a run with the accepted claims, or accepts it.
fn against_accepted(
    context: &Context,
    args: &Conformance,
    run: &RunDir,
) -> Result<(Exit, Vec<String>), String> {
    let folder = context.root.join(ACCEPTED);
    let open = OpenRun::open(&run.path).map_err(|problems| told(&problems))?;
    if args.accept {
        let accepted = accept::accept(&folder, &open).map_err(|problems| told(&problems))?;
        let mut lines = vec![format!(
            "accepted: {} claims written, {} unchanged, {} removed",
            accepted.written.len(),
            accepted.unchanged,
            accepted.removed.len()
        )];
        lines.extend(accepted.oversize.iter().map(ToString::to_string));
        return Ok((Exit::AsExpected, lines));
    }
    let claims = accept::load(&folder, &open.run.head.profile).map_err(|problems| told(&problems))?;
    if claims.is_empty() {
        let hint = "no claims of this profile are accepted: nothing was compared (see --accept)".to_owned();
        return Ok((Exit::AsExpected, vec![hint]));
    }
    let diff = accept::compare(&claims, &open).map_err(|problem| problem.to_string())?;
    if diff.cases.is_empty() {
        return Ok((Exit::AsExpected, Vec::new()));
    }
    let (program, run) = (context.program, run.path.display().to_string());
    let again = format!(
        "`{program} receipts show {} CASE` tells what its checks saw, `{program} replay {}` runs a variant again",
        shell(&run),
        shell(&format!("{run}/claims/CASE.json#VARIANT"))
    );
    let hint = "if this is meant, review it and run the whole profile again with --accept".to_owned();
    Ok((Exit::Unexpected, vec![diff.to_string(), again, hint]))
}

/// The first of many problems, in one line each.
fn told(problems: &[Problem]) -> String {
    const SHOWN: usize = 5;
    let mut lines: Vec<String> = problems.iter().take(SHOWN).map(ToString::to_string).collect();
    if problems.len() > SHOWN {
        lines.push(format!("and {} more", problems.len() - SHOWN));
    }
    lines.join("; ")
}

struct Watched {
    /// What runs, in words.
    name: String,
    bar: ProgressBar,
    variants: AtomicU64,
}

impl Audience for Watched {
    fn variant(&self) {
        let count = self.variants.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(count.to_string());
    }

    fn planned(&self, cases: usize, estimate: Option<Estimate>) {
        self.bar.set_length(cases as u64);
        let estimate = estimate.map_or(String::new(), |estimate| format!(", {estimate}"));
        self.bar.suspend(|| tell!("{}: {cases} cases{estimate}", escape(&self.name)));
    }

    fn case(&self) {
        self.bar.inc(1);
    }

    fn unexpected(&self, failure: &dyn Display) {
        self.bar.suspend(|| tell!("{failure}"));
    }

    fn installing(&self, what: &str) {
        self.bar.suspend(|| tell!("installing unless cached: {what}"));
    }

    fn problem(&self, problem: &str) {
        self.bar.suspend(|| tell!("{}", escape_lines(problem)));
    }
}

fn choice(args: &Conformance) -> Result<Choice, String> {
    if !(1.0..=1_000.0).contains(&args.deadline_scale) {
        return Err("--deadline-scale: expected a number from 1 to 1000".to_owned());
    }
    if args.accept && args.seed != DEFAULT_SEED {
        return Err(
            "--accept: expected a whole run with the default seed, saw --seed; run without it".to_owned()
        );
    }
    if args.accept && args.tier != Tier::Full {
        let seen = args.tier;
        return Err(format!("--accept: expected a whole run, saw --tier {seen}; run without it"));
    }
    let mut choice = Choice { jobs: args.jobs.map(|jobs| usize::from(jobs.get())), ..Choice::default() };
    for filter in &args.filters {
        choice.filters.push(filter.parse().map_err(|e| format!("--filter: {e}"))?);
    }
    choice.shard = args.shard.as_ref().map(|s| s.parse().map_err(|e| format!("--shard: {e}"))).transpose()?;
    choice.tier = args.tier;
    choice.revision = args.revision;
    choice.wire = args.wire.map(Into::into);
    choice.size = args.size.map(|size| match size {
        SizeArg::Sample => Size::Sample,
        SizeArg::Full => Size::Full,
    });
    choice.seed = args.seed;
    choice.deadline_scale = args.deadline_scale;
    Ok(choice)
}

fn profiles(context: &Context, args: &Conformance, catalogue: &Catalogue) -> Result<Vec<ProfileFile>, Exit> {
    let open =
        |name: &str| ProfileFile::open(&context.root, name, catalogue).map_err(|errors| context.show(errors));
    if !args.profiles.is_empty() {
        return args.profiles.iter().map(|name| open(name)).collect();
    }
    let names = ProfileFile::names(&context.root).map_err(|error| context.show(vec![error]))?;
    let mut marked = Vec::new();
    for name in names {
        let profile = open(&name)?;
        if profile.profile.default {
            marked.push(profile);
        }
    }
    Ok(marked)
}
