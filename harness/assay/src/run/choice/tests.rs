use super::*;
use crate::profile::ProfileFile;
use std::path::Path;

const PROFILE: &str = r#"name      = "mine"
title     = "One client"
client    = { builtin = "exagent" }
revisions = ["2025-06-18"]
cases     = ["suffix/*", "sse/*"]
exclude   = [{ cases = "sse/eol", reason = "covered elsewhere" }]

[tiers.smoke]
seconds = 30
cases   = ["sse/*", "other/*"]
size    = "sample"
wire    = "memory"
"#;

fn profile() -> Profile {
    ProfileFile::parse(Path::new("profiles/mine.toml"), PROFILE).unwrap().profile
}

#[test]
fn a_tier_takes_its_part_of_what_the_profile_takes() {
    let profile = profile();
    let taken = |choice: &Choice| -> Vec<&str> {
        let ids = ["other/one", "sse/bom", "sse/comment", "sse/eol", "suffix/any"];
        ids.into_iter().filter(|id| choice.takes(&profile, &id.parse().unwrap())).collect()
    };
    assert_eq!(taken(&Choice::default()), ["sse/bom", "sse/comment", "suffix/any"]);
    let smoke = Choice { tier: Tier::Smoke, ..Choice::default() };
    assert_eq!(taken(&smoke), ["sse/bom", "sse/comment"]);
    let filters = vec!["*/bom".parse().unwrap(), "suffix/*".parse().unwrap()];
    assert_eq!(taken(&Choice { filters, ..smoke }), ["sse/bom"]);
    assert!(taken(&Choice { tier: Tier::Pr, ..Choice::default() }).is_empty(), "it is not declared");
}

#[test]
fn a_tier_brings_size_and_wire_and_flags_narrow_it() {
    let profile = profile();
    let smoke = Choice { tier: Tier::Smoke, ..Choice::default() };
    assert_eq!((Choice::default().size(&profile), smoke.size(&profile)), (Size::Full, Size::Sample));
    assert_eq!(Choice { size: Some(Size::Full), ..smoke.clone() }.size(&profile), Size::Full);
    let wires = |choice: &Choice| [Wire::Memory, Wire::Tcp].map(|wire| choice.takes_wire(&profile, wire));
    assert_eq!(wires(&Choice::default()), [true, true]);
    assert_eq!(wires(&smoke), [true, false]);
    assert_eq!(wires(&Choice { wire: Some(Wire::Tcp), ..smoke }), [false, false]);
}

#[test]
fn a_tier_makes_a_run_partial() {
    let profile = profile();
    assert!(Choice::default().partial(&profile).is_empty());
    let filters = vec!["sse/".parse().unwrap()];
    let smoke = Choice { tier: Tier::Smoke, filters, ..Choice::default() };
    assert_eq!(smoke.partial(&profile), ["tier smoke", "filter"]);
}
