//! Null clients are never green: neither by the exit, nor in any single case.

use crate::stage::Project;
use mcp_assay::driver::null::{Null, NullClient};
use mcp_assay::exit::Exit;
use mcp_assay::reconcile::Reconciler;
use mcp_assay::run::unit::Watch;
use mcp_assay::run::variant::Setup;
use mcp_assay::run::{CaseDone, Choice, DEFAULT_SEED, run, units};
use mcp_assay::sdk::fleet::Fleet;
use mcp_assay::select::Size;
use mcp_assay::variant::Wire;
use mcp_assay::verdict::Outcome;
use std::sync::atomic::AtomicBool;

/// Runs the whole catalogue with a null client past the smoke case, and says which cases it passed.
fn passed(project: &Project, null: Null) -> (Vec<String>, Exit) {
    let profile = &project.profile.profile;
    let client = NullClient::new(null, Some("exagent"));
    let setup = Setup {
        client: &client,
        clauses: &project.catalogue.clauses,
        seed: DEFAULT_SEED,
        deadline_scale: 1.0,
    };
    let choice = Choice { wire: Some(Wire::Memory), size: Some(Size::Sample), ..Choice::all(2) };
    let fleet = Fleet::default();
    let units = units(&project.catalogue, &project.texts, &fleet, profile, &choice);
    let mut reconciler = Reconciler::new(profile, false);
    let (mut toys, mut cases) = (Vec::new(), 0);
    let stop = AtomicBool::new(false);
    let watch = Watch { stop: &stop, tick: &|| {} };
    run(units, &setup, 2, watch, |case: CaseDone<'_>| {
        cases += 1;
        let mut passes = 0;
        for ran in &case.variants {
            reconciler.take(&case.file.id, &ran.variant, &ran.checks);
            passes += usize::from(ran.checks.iter().all(|result| result.outcome == Outcome::Pass));
        }
        // A case is given up half-way where all checks passed although nothing came to be cut.
        if passes == case.variants.len() {
            toys.push(format!("{} ({passes} variants) {:?}", case.file.id, case.problems));
        }
    })
    .unwrap();
    assert!(cases > 100, "{cases} cases ran");
    toys.sort();
    (toys, reconciler.finish(true).exit)
}

#[test]
fn no_case_is_passed_by_a_client_that_shows_nothing() {
    let project = Project::own();
    let mut all = String::new();
    for null in Null::ALL {
        let (toys, exit) = passed(&project, null);
        assert_ne!(exit, Exit::AsExpected, "{null:?}");
        all.extend(toys.iter().map(|toy| format!("{null:?} {toy}\n")));
    }
    assert_eq!(
        all, "",
        "null clients pass all checks of these variants; each needs a check of what must be seen"
    );
}

#[test]
fn no_null_client_gets_past_the_smoke_case() {
    let project = Project::own();
    for null in Null::ALL {
        let client = NullClient::new(null, Some("exagent"));
        let ended = project.run(&client, &Choice::all(1));
        assert_eq!(ended.exit, Exit::Incomplete, "{null:?}");
        assert_eq!(ended.report.variants, 0, "{null:?}");
        assert!(ended.run.is_none(), "{null:?}");
    }
}
