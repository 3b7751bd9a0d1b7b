use super::*;
use crate::catalogue::Catalogue;
use crate::profile::{Profile, ProfileFile, Tier};
use crate::receipt::catalog::Texts;
use crate::run::{Choice, units};
use crate::sdk::fleet::Fleet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// A project's data.
struct Project {
    root: PathBuf,
    catalogue: Catalogue,
    texts: Texts,
}

impl Project {
    fn load(folder: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let (catalogue, texts) = (Catalogue::load(&root).unwrap(), Texts::load(&root).unwrap());
        Self { root, catalogue, texts }
    }

    fn profile(&self, name: &str) -> Profile {
        ProfileFile::open(&self.root, name, &self.catalogue).unwrap().profile
    }

    /// What is expected of a profile under a choice: its estimate, and its variants.
    fn expectation(&self, profile: &Profile, choice: &Choice) -> (Option<Estimate>, usize) {
        let Self { root, catalogue, texts } = self;
        let fleet = Fleet::of(root, profile).unwrap();
        let units = units(catalogue, texts, &fleet, profile, choice);
        let (policy, clauses) = (profile.client.policy(), &catalogue.clauses);
        let variants = units.iter().map(|unit| expected(unit, unit.count(policy, clauses))).sum();
        (Estimate::of(&units, profile, clauses), variants)
    }
}

#[test]
fn an_estimate_is_the_variants_by_the_pace_that_the_profile_states() {
    let project = Project::load("tests/fixtures/project");
    let mut profile = project.profile("tiny");
    let mut seconds = |memory: Option<u32>| {
        profile.pace.memory = memory.and_then(NonZeroU32::new);
        let (estimate, variants) = project.expectation(&profile, &Choice::default());
        (estimate.map(Estimate::seconds), variants)
    };
    assert_eq!(seconds(Some(1)), (Some(6), 6));
    assert_eq!(seconds(Some(2)), (Some(3), 6));
    assert_eq!(seconds(None), (None, 6), "without a pace nobody knows");
}

#[test]
fn a_tier_is_estimated_below_what_it_may_take() {
    let project = Project::load("../..");
    for name in ["exagent", "exagent-process", "sdk-ts", "sdk-python", "client-ts"] {
        for (tier, most) in [(Tier::Smoke, 30), (Tier::Pr, 300)] {
            let (estimate, variants) =
                project.expectation(&project.profile(name), &Choice { tier, ..Choice::default() });
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
