use super::*;
use crate::profile::ProfileFile;
use crate::variant::Wire;
use std::path::Path;

#[test]
fn the_part_of_a_choice_that_leaves_nothing_is_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/project");
    let catalogue = Catalogue::load(&root).unwrap();
    let texts = Texts::load(&root).unwrap();
    let profile = ProfileFile::open(&root, "tiny", &catalogue).unwrap().profile;
    let fleet = Fleet::of(&root, &profile).unwrap();
    let told = |choice: Choice| nothing_left(&catalogue, &texts, &fleet, &profile, &choice);
    let filtered = |filters: &[&str], choice: Choice| Choice {
        filters: filters.iter().map(|filter| filter.parse().unwrap()).collect(),
        ..choice
    };
    assert_eq!(
        told(filtered(&["sse/comment"], Choice { wire: Some(Wire::Tcp), ..Choice::default() })),
        "cases in the profile tiny: 3; --wire tcp leaves none"
    );
    assert_eq!(
        told(filtered(&["sse/wrong", "suffix/"], Choice { tier: Tier::Smoke, ..Choice::default() })),
        "cases in the profile tiny: 3; --tier smoke leaves 2; --filter sse/wrong or suffix/* leaves none"
    );
    assert_eq!(
        told(filtered(&["sse/comment#*wire=tcp"], Choice::default())),
        "cases in the profile tiny: 3; --filter sse/comment#*wire=tcp leaves 1; the filter or the size (full) leaves \
         none of their variants"
    );
    assert_eq!(
        told(Choice { shard: Some("3/97".parse().unwrap()), ..Choice::default() }),
        "cases in the profile tiny: 3; --shard 3/97 leaves none"
    );
}
