//! `mutants`: the built-in client, broken on purpose, and with other lawful habits.

use super::args::{Format, Mutants};
use super::{Context, progress};
use crate::catalogue::Catalogue;
use crate::driver::builtin::BuiltinClient;
use crate::exit::Exit;
use crate::mutants::lawful::{self, Lawful, Varied};
use crate::mutants::report::{LawfulReport, TrialReport};
use crate::mutants::stage::Stage;
use crate::mutants::table::{Known, Table, checked};
use crate::mutants::trial::{Client, Court, Tried};
use crate::mutants::watchdog::Watchdog;
use crate::mutants::{self, build};
use crate::profile::ProfileFile;
use crate::receipt::catalog::Texts;
use crate::run::profile::Silence;
use crate::run::variant::Setup;
use crate::run::{Choice, DEFAULT_SEED, default_jobs, smoke, units};
use crate::sdk::fleet::Fleet;
use crate::select::Size;
use crate::source::SourceError;
use crate::variant::Wire;
use std::fmt::Display;
use std::path::Path;
use std::time::Instant;

/// The profile whose cases are played.
const PROFILE: &str = "exagent";

pub(super) fn run(context: &Context, args: &Mutants) -> Exit {
    let Some(client) = mutants::client() else {
        return elsewhere(context);
    };
    attempt(context, args, client).unwrap_or_else(|exit| exit)
}

/// Builds the binary that can be broken and runs the command there, or says how that is done.
fn elsewhere(context: &Context) -> Exit {
    if !build::is_checkout(&context.root) {
        return context.complain(
            &"this binary's client cannot be told to break its rules, which is as it should be; in a checkout of the \
              project this command builds one that can (see --root)",
        );
    }
    let built = || {
        tell!(
            "building the client that can be broken in {}; the first time, that takes minutes",
            build::TARGET
        );
        let began = Instant::now();
        let binary = build::build(&context.root)?;
        tell!("built in {:.0} s", began.elapsed().as_secs_f64());
        build::run(&binary, &context.root, &context.words)
    };
    match built() {
        Ok(exit) => {
            // The binary has said all there is to say.
            context.ended.set(true);
            exit
        }
        Err(problem) => context.complain(&problem).and(Exit::Incomplete),
    }
}

fn attempt(context: &Context, args: &Mutants, client: &dyn Client) -> Result<Exit, Exit> {
    let wrong = |problem: &dyn Display| context.complain(problem);
    let root = &context.root;
    let catalogue = Catalogue::load(root).map_err(|errors| context.show(errors))?;
    let profile = ProfileFile::open(root, PROFILE, &catalogue).map_err(|errors| context.show(errors))?;
    let builtin =
        BuiltinClient::named(PROFILE).ok_or_else(|| wrong(&"the built-in client has no such policy"))?;
    let setup =
        Setup { client: &builtin, clauses: &catalogue.clauses, seed: DEFAULT_SEED, deadline_scale: 1.0 };
    let texts = Texts::load(root).map_err(|problem| wrong(&problem))?;
    let fleet = Fleet::of(root, &profile.profile).map_err(|problem| wrong(&problem))?;
    let jobs = args.jobs.unwrap_or_else(|| default_jobs(&profile.profile.client)).max(1);
    let mut choice = Choice::all(jobs);
    (choice.wire, choice.size) = (Some(Wire::Memory), Some(Size::Sample));
    let units = units(&catalogue, &texts, &fleet, &profile.profile, &choice);
    let takes =
        |name: &str| args.filters.is_empty() || args.filters.iter().any(|filter| filter.matches(name));
    let played = Played::load(root, args, client, &catalogue).map_err(|errors| context.show(errors))?;
    let chosen = played.chosen(&takes);
    if chosen == 0 {
        return Err(wrong(&"expected --filter to match a name of the table, it matches none"));
    }
    let smoke = || {
        smoke::run(context.program, &catalogue, &texts, &profile, &setup, &Silence)
            .map_err(|broken| broken.to_string())
    };
    let incomplete = |problem: &dyn Display| context.complain(problem).and(Exit::Incomplete);
    smoke().map_err(|problem| incomplete(&problem))?;
    let watchdog = Watchdog::start();
    let stage = Stage::set(units, setup, jobs, &watchdog).map_err(|problem| incomplete(&problem))?;
    tell!("{} variants with the unbroken client", stage.variants());
    let (known, table) = match played {
        Played::Mutants(known, table) => (known, table),
        Played::Lawful(table) => {
            let heard = |varied: &Varied| tell!("{varied}");
            let all = lawful::play_all(&stage, client, &watchdog, &table, &takes, &heard);
            return Ok(told_lawful(context, args, &all));
        }
    };
    let bar = progress::bar("mutants");
    bar.set_length(chosen as u64);
    let heard = |tried: &Tried| {
        bar.inc(1);
        bar.suspend(|| tell!("{tried}"));
    };
    let (stage, checked, watchdog) = (&stage, &known.ids, &watchdog);
    let court = Court { stage, checked, client, smoke: &smoke, watchdog, heard: &heard };
    let some: Option<&dyn Fn(&str) -> bool> = if args.filters.is_empty() { None } else { Some(&takes) };
    let trial = court.try_all(&table, some);
    bar.finish_and_clear();
    let exit = match (trial.tried.is_empty(), trial.is_clean()) {
        (true, _) => Exit::Incomplete,
        (false, true) => Exit::AsExpected,
        (false, false) => Exit::Unexpected,
    };
    let printed = match args.output.format {
        Format::Human => context.print(&trial.to_string()),
        Format::Json => {
            tell!("{}", trial.to_string().trim_end());
            context.print_json(&TrialReport::from(&trial))
        }
    };
    Ok(printed.and(exit))
}

/// What is played, as its table has it.
enum Played {
    Mutants(Known, Table),
    Lawful(Lawful),
}

impl Played {
    /// Reads the table. Its mistakes are told before anything is played, which takes its time.
    fn load(
        root: &Path,
        args: &Mutants,
        client: &dyn Client,
        catalogue: &Catalogue,
    ) -> Result<Self, Vec<SourceError>> {
        if args.lawful {
            return Lawful::load(root, &client.habits()).map(Self::Lawful);
        }
        let known = Known { rules: client.rules(), ids: checked(catalogue) };
        let table = Table::load(root, &known)?;
        Ok(Self::Mutants(known, table))
    }

    /// How many of its entries are to be tried.
    fn chosen(&self, takes: &dyn Fn(&str) -> bool) -> usize {
        match self {
            Self::Mutants(_, table) => table.mutant.iter().filter(|mutant| takes(&mutant.name())).count(),
            Self::Lawful(table) => {
                table.variation.iter().filter(|variation| takes(variation.habit.get_ref())).count()
            }
        }
    }
}

fn told_lawful(context: &Context, args: &Mutants, all: &[Varied]) -> Exit {
    let exit = match (all.is_empty(), all.iter().all(Varied::is_clean)) {
        (true, _) => Exit::Incomplete,
        (false, true) => Exit::AsExpected,
        (false, false) => Exit::Unexpected,
    };
    let noticed = all.iter().filter(|varied| !varied.is_clean()).count();
    let printed = match args.output.format {
        Format::Human => context.print(&format!("{} lawful variations, {noticed} noticed\n", all.len())),
        Format::Json => context.print_json(&LawfulReport::from(all)),
    };
    printed.and(exit)
}
