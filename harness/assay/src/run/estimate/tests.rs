use super::*;
use crate::catalogue::Catalogue;
use crate::profile::{ProfileFile, Tier};
use crate::receipt::catalog::Texts;
use crate::run::{Choice, units};
use crate::sdk::fleet::Fleet;
use std::path::{Path, PathBuf};

/// The project's own data.
struct Project {
    root: PathBuf,
    catalogue: Catalogue,
    texts: Texts,
}

impl Project {
    fn load() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (catalogue, texts) = (Catalogue::load(&root).unwrap(), Texts::load(&root).unwrap());
        Self { root, catalogue, texts }
    }

    /// What is expected of a profile under a choice: its estimate, and its variants.
    fn expectation(&self, name: &str, choice: &Choice) -> (Option<Estimate>, usize) {
        let Self { root, catalogue, texts } = self;
        let file = ProfileFile::open(root, name, catalogue).unwrap();
        let fleet = Fleet::of(root, &file.profile).unwrap();
        let units = units(catalogue, texts, &fleet, &file.profile, choice);
        let (policy, clauses) = (file.profile.client.policy(), &catalogue.clauses);
        let variants = units.iter().map(|unit| expected(unit, unit.count(policy, clauses))).sum();
        (Estimate::of(&units, &file.profile, clauses), variants)
    }
}

#[test]
fn the_estimate_of_a_profile_lies_near_what_it_took() {
    let project = Project::load();
    // What whole runs made and took on two cores with little else to do.
    for (name, variants, took) in [
        ("exagent", 59_921, 28.0),
        ("exagent-process", 7_480, 40.0),
        ("sdk-ts", 2_695, 21.0),
        ("sdk-python", 2_942, 50.0),
        ("client-ts", 5_300, 180.0),
    ] {
        let (estimate, expected) = project.expectation(name, &Choice::default());
        let seconds = estimate.unwrap().seconds() as f64;
        assert!((took / 1.7..took * 1.7).contains(&seconds), "{name}: {seconds} s, it took {took} s");
        let expected = expected as f64;
        assert!(
            (variants as f64 / 1.3..variants as f64 * 1.3).contains(&expected),
            "{name}: {expected} variants"
        );
    }
}

#[test]
fn a_tier_is_estimated_below_what_it_may_take() {
    let project = Project::load();
    for name in ["exagent", "exagent-process", "sdk-ts", "sdk-python", "client-ts"] {
        for (tier, most) in [(Tier::Smoke, 30), (Tier::Pr, 300)] {
            let (estimate, variants) = project.expectation(name, &Choice { tier, ..Choice::default() });
            let seconds = estimate.unwrap().seconds();
            assert!(variants > 0 && seconds <= most, "{name} {tier}: {seconds} s, {variants} variants");
        }
    }
}

#[test]
fn an_estimate_is_rounded_to_what_it_is_good_for() {
    for (seconds, told) in
        [(0.0, 1), (0.2, 1), (1.6, 2), (9.4, 9), (12.4, 10), (12.6, 15), (58.0, 60), (64.9, 60), (176.0, 180)]
    {
        assert_eq!(Estimate { seconds }.seconds(), told, "{seconds}");
    }
    assert_eq!(Estimate { seconds: 28.4 }.to_string(), "about 30 s");
}
