//! Every case as a test of its own: the built-in client as the profile `exagent` runs it, size sample, memory wire.
//!
//! `cargo test -p mcp-assay --test conformance -- sse/` runs the cases of one family. A test passes if its case came
//! out as the profile expects, known deviations included; a failure is shown as `conformance` shows it.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use mcp_assay::catalogue::Catalogue;
use mcp_assay::driver::builtin::BuiltinClient;
use mcp_assay::exit::Exit;
use mcp_assay::profile::{Client, ProfileFile};
use mcp_assay::receipt::catalog::Texts;
use mcp_assay::reconcile::Reconciler;
use mcp_assay::run::sighting::Sighting;
use mcp_assay::run::unit::{Unit, Watch};
use mcp_assay::run::variant::{Setup, Slot};
use mcp_assay::run::{Choice, DEFAULT_SEED, units};
use mcp_assay::sdk::fleet::Fleet;
use mcp_assay::select::Size;
use mcp_assay::source::SourceError;
use mcp_assay::variant::{CaseId, Wire};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The most unexpected results that a failed test shows in full.
const SHOWN: usize = 2;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let data = match Data::load() {
        Ok(data) => Arc::new(data),
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let trials: Vec<Trial> = data.catalogue.cases.keys().map(|case| trial(&data, case)).collect();
    if trials.is_empty() {
        eprintln!("expected cases in fixtures/cases, found none: nothing tested is no success");
        return ExitCode::FAILURE;
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    // `cargo test NAME` hands one filter to every test program, so only one that can mean nothing but a case must
    // take one.
    let ran = conclusion.num_passed + conclusion.num_failed + conclusion.num_ignored;
    let meant = arguments.filter.as_ref().is_some_and(|filter| filter.contains('/'));
    if meant && ran == 0 && !arguments.list {
        eprintln!("the filter takes no case: nothing tested is no success");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// What all tests share.
struct Data {
    catalogue: Catalogue,
    texts: Texts,
    profile: ProfileFile,
    client: BuiltinClient,
}

impl Data {
    fn load() -> Result<Self, String> {
        let shown = |errors: Vec<SourceError>| errors.iter().map(SourceError::rendered).collect::<String>();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let catalogue = Catalogue::load(&root).map_err(shown)?;
        let profile = ProfileFile::open(&root, "exagent", &catalogue).map_err(shown)?;
        let Client::Builtin(policy) = &profile.profile.client else {
            return Err("expected a built-in client".to_owned());
        };
        let client = BuiltinClient::named(policy).ok_or("expected a policy of the built-in client")?;
        let texts = Texts::load(&root).map_err(|problem| problem.to_string())?;
        Ok(Self { catalogue, texts, profile, client })
    }
}

fn trial(data: &Arc<Data>, case: &CaseId) -> Trial {
    let (data, id) = (data.clone(), case.clone());
    Trial::ignorable_test(case.as_str(), move || test(&data, &id))
}

fn test(data: &Data, case: &CaseId) -> Result<Completion, Failed> {
    let choice = Choice { wire: Some(Wire::Memory), size: Some(Size::Sample), ..Choice::all(1) };
    let profile = &data.profile.profile;
    let fleet = Fleet::default();
    let units = units(&data.catalogue, &data.texts, &fleet, profile, &choice);
    let units: Vec<Unit<'_>> = units.into_iter().filter(|unit| unit.file.id == *case).collect();
    if units.is_empty() {
        return Ok(Completion::ignored_with(format!("no part of the profile {}", profile.name)));
    }
    let setup = Setup {
        client: &data.client,
        clauses: &data.catalogue.clauses,
        seed: DEFAULT_SEED,
        deadline_scale: 1.0,
    };
    let mut slot = Slot::new(false)?;
    let mut reconciler = Reconciler::new(profile, false);
    let (mut shown, mut told) = (0, String::new());
    for unit in units {
        let ran = unit.run(&mut slot, &setup, Watch { stop: &AtomicBool::new(false), tick: &|| {} });
        if let Some(problem) = ran.problem {
            writeln!(told, "{problem}")?;
        }
        for variant in &ran.variants {
            for (result, _) in reconciler.take(case, &variant.variant, &variant.checks) {
                if shown < SHOWN {
                    shown += 1;
                    let sighting = Sighting {
                        program: "cargo xtask",
                        profile: &data.profile.named,
                        setup: &setup,
                        file: unit.file,
                        ran: variant,
                        result,
                    };
                    writeln!(told, "{sighting}")?;
                }
            }
        }
    }
    let reconciled = reconciler.finish(true);
    if told.is_empty() && reconciled.exit == Exit::AsExpected {
        return Ok(Completion::Completed);
    }
    for line in &reconciled.unexpected {
        writeln!(told, "unexpected: {line}")?;
    }
    Err(told.into())
}
