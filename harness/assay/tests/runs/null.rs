//! Null clients are never green: neither by the exit, nor in any single case.

use crate::stage::{Project, own_root};
use mcp_assay::case::Limit;
use mcp_assay::driver::null::{Null, NullClient};
use mcp_assay::exit::Exit;
use mcp_assay::judge::judge;
use mcp_assay::plan::is_open;
use mcp_assay::profile::Tier;
use mcp_assay::reconcile::Reconciler;
use mcp_assay::run::unit::{Ground, Unit};
use mcp_assay::run::variant::{Setup, Slot};
use mcp_assay::run::{Choice, DEFAULT_SEED, units};
use mcp_assay::sdk::fleet::Fleet;
use mcp_assay::variant::{Variant, Wire};
use mcp_assay::verdict::Outcome;
use std::collections::BTreeSet;

/// How many variants of a case a null client is put to.
const VARIANTS: usize = 4;

/// Variants of the unit, evenly spread, the first and the last among them, uncut in place of open plans.
fn variants(unit: &Unit<'_>) -> BTreeSet<Variant> {
    let all: Vec<_> = unit.file.combinations().collect();
    let picked = (0..VARIANTS).map(|n| n * (all.len() - 1) / (VARIANTS - 1));
    let variant = |index: usize| {
        let mut keys = all[index].clone();
        for (_, value) in &mut keys {
            if is_open(value) {
                "whole".clone_into(value);
            }
        }
        Variant { revision: unit.revision, server: None, keys, wire: unit.wire }
    };
    picked.map(variant).collect()
}

/// Puts a null client to the whole catalogue, past the smoke case, and says which cases it passed.
fn passed(null: Null) -> (Vec<String>, Exit) {
    let project = Project::open(&own_root(), "exagent");
    let profile = &project.profile.profile;
    let client = NullClient::new(null, Some("exagent"));
    let clauses = &project.catalogue.clauses;
    let setup = Setup { client: &client, clauses, seed: DEFAULT_SEED, deadline_scale: 1.0 };
    let choice = Choice { wire: Some(Wire::Memory), ..Choice::all(1) };
    let fleet = Fleet::default();
    let units = units(&project.catalogue, &project.texts, &fleet, profile, &choice);
    assert!(units.len() > 100, "{} cases", units.len());
    let mut reconciler = Reconciler::new(profile, false);
    let mut slot = Slot::new(false).unwrap();
    let mut toys = Vec::new();
    for unit in units {
        let mut green = true;
        for variant in variants(&unit) {
            let case = unit.file.instantiate(&variant.keys).unwrap();
            let known = case.limits.iter().filter_map(|(name, limit)| match limit {
                Limit::Is(value) => Some((name.clone(), *value)),
                Limit::Measured(_) => None,
            });
            let timeline = slot.play(&setup, &unit, &case, &variant, &known.collect()).unwrap();
            let checks = judge(&setup.input(&case, &variant, &timeline));
            reconciler.take(&unit.file.id, &variant, &checks);
            green &= checks.iter().all(|result| result.outcome == Outcome::Pass);
        }
        if green {
            toys.push(unit.file.id.to_string());
        }
    }
    (toys, reconciler.finish(true).exit)
}

fn is_never_green(null: Null) {
    let (toys, exit) = passed(null);
    assert_ne!(exit, Exit::AsExpected);
    assert!(toys.is_empty(), "it passes all checks of {toys:?}; each needs a check of what must be seen");
}

#[test]
fn a_client_that_does_nothing_passes_no_case() {
    is_never_green(Null::DoesNothing);
}

#[test]
fn a_client_that_answers_ok_without_the_network_passes_no_case() {
    is_never_green(Null::AnswersOk);
}

#[test]
fn a_client_that_supports_nothing_passes_no_case() {
    is_never_green(Null::AllUnsupported);
}

#[test]
fn a_client_that_dies_after_hello_passes_no_case() {
    is_never_green(Null::DiesAfterHello);
}

#[test]
fn no_null_client_gets_past_the_smoke_case() {
    let project = Project::open(&own_root(), "exagent");
    for null in Null::ALL {
        let client = NullClient::new(null, Some("exagent"));
        let choice = Choice { tier: Tier::Smoke, ..Choice::all(1) };
        let (ended, heard) = project.run_heard(&client, &choice, false);
        assert_eq!((ended.exit, ended.report.tier), (Exit::Incomplete, Tier::Smoke), "{null:?}");
        assert_eq!((ended.report.variants, ended.run), (0, None), "{null:?}");
        assert!(heard.iter().any(|told| told.contains("smoke/polite")), "{null:?}: {heard:?}");
    }
}
