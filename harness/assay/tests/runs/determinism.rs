//! The same profile gives the same claims, whatever the number of jobs and the order of the work.

use crate::stage::{Project, own_root};
use mcp_assay::driver::builtin::BuiltinClient;
use mcp_assay::exit::Exit;
use mcp_assay::run::unit::Watch;
use mcp_assay::run::variant::Setup;
use mcp_assay::run::{Choice, DEFAULT_SEED, run, units};
use mcp_assay::sdk::fleet::Fleet;
use mcp_assay::select::Size;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// A case each of what might not reproduce: cuts, resets under a hold, control traffic, a deadline.
const CASES: [&str; 4] = ["splits/control-stream", "sse/bom-first", "suffix/lost-end", "deadline/held-call"];

fn choice(jobs: usize) -> Choice {
    Choice {
        filters: CASES.iter().map(|case| case.parse().unwrap()).collect(),
        size: Some(Size::Sample),
        ..Choice::all(jobs)
    }
}

#[test]
fn any_number_of_jobs_gives_one_claims_root() {
    let project = Project::open(&own_root(), "exagent");
    let client = BuiltinClient::named("exagent").unwrap();
    let roots: Vec<String> = [1, 2, 8]
        .into_iter()
        .map(|jobs| {
            let (ended, heard) = project.run_heard(&client, &choice(jobs), false);
            assert_eq!(ended.exit, Exit::AsExpected, "{}", heard.join("\n"));
            assert_eq!(ended.report.cases, CASES.len() as u64);
            assert!(ended.report.wires.tcp > 0 && ended.report.wires.memory > 0);
            ended.report.claims_root
        })
        .collect();
    assert_eq!(roots[0].len(), 64);
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");
}

#[test]
fn any_order_of_the_work_gives_the_same_results() {
    let project = Project::open(&own_root(), "exagent");
    let client = BuiltinClient::named("exagent").unwrap();
    let setup = Setup {
        client: &client,
        clauses: &project.catalogue.clauses,
        seed: DEFAULT_SEED,
        deadline_scale: 1.0,
    };
    let fleet = Fleet::default();
    let results = |turned: bool| {
        let mut units =
            units(&project.catalogue, &project.texts, &fleet, &project.profile.profile, &choice(2));
        if turned {
            units.reverse();
        }
        let mut all = BTreeMap::new();
        let watch = Watch { stop: &AtomicBool::new(false), tick: &|| {} };
        run(units, &setup, 2, watch, |case| {
            assert!(case.problems.is_empty(), "{:?}", case.problems);
            for ran in case.variants {
                let told = (ran.checks, ran.exchange);
                assert!(all.insert((case.file.id.clone(), ran.variant), told).is_none());
            }
        })
        .unwrap();
        all
    };
    let forward = results(false);
    assert!(forward.len() > CASES.len());
    assert_eq!(forward, results(true));
}
