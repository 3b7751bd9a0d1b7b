use super::{overtime, size, summary};
use crate::profile::{Part, Tier};
use crate::report::{Checks, Cuts, Note, ProfileReport, Wires};
use crate::verdict::Level;

fn report() -> ProfileReport {
    ProfileReport {
        name: "exagent".to_owned(),
        tier: Tier::Full,
        cases: 160,
        variants: 20_000,
        checks: Checks { pass: 60_000, ..Checks::default() },
        claims_root: "ab".repeat(32),
        seconds: 40.0,
        wires: Wires { tcp: 6_000, memory: 14_000 },
        cuts: Cuts { made: 8_000, proven: 7_999 },
        each_cut: 9_000,
        largest_case: 1_500,
        families: [("splits".to_owned(), 12_000), ("sse".to_owned(), 8_000)].into(),
        bytes: 23_456_789,
        receipts: "receipts/runs/exagent/20261130T120000Z-1234567890ab".to_owned(),
        unexpected: Vec::new(),
        notes: Vec::new(),
    }
}

#[test]
fn a_run_as_expected_is_short() {
    insta::assert_snapshot!(summary(&report()));
}

#[test]
fn what_was_unexpected_is_told_and_never_raw() {
    let checks = Checks {
        pass: 1,
        fail: 2,
        known: 3,
        stale: 9,
        note: 4,
        unexercised: 5,
        unsupported: 6,
        inconclusive: 7,
        error: 8,
    };
    let unexpected = vec![
        "sse/bom c: failed: expected snow; saw \u{1b}[2J (1 variant, first slice=whole)".to_owned(),
        "variants: 20000 ran, the profile requires 30000".to_owned(),
    ];
    let text = summary(&ProfileReport { checks, unexpected, ..report() });
    assert!(!text.contains('\u{1b}'));
    insta::assert_snapshot!(text);
}

#[test]
fn a_broken_should_is_a_line_and_many_are_counted() {
    let note = |n: u64| Note {
        case: "close/delete".to_owned(),
        check: format!("check-{n}"),
        level: if n == 0 { Level::May } else { Level::Should },
        clause: (n > 0).then(|| "session.client-delete".to_owned()),
        rows: if n > 1 { vec!["EX-CL-01".to_owned(), "EX-CL-02".to_owned()] } else { Vec::new() },
        expected: "a DELETE at the end".to_owned(),
        actual: "no DELETE was sent\u{1b}[2J".to_owned(),
        variants: n + 1,
    };
    let of = |notes: u64| ProfileReport { notes: (0..notes).map(note).collect(), ..report() };
    let text = summary(&of(3));
    assert!(!text.contains('\u{1b}'));
    insta::assert_snapshot!(text);
    let lines: Vec<String> = summary(&of(30)).lines().map(str::to_owned).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("  note: close/delete check-")).count(), 24);
    assert!(lines.contains(&"  note: +6 more, all of them with --format json".to_owned()), "{lines:#?}");
}

#[test]
fn a_run_without_receipts_claims_none() {
    let nothing = ProfileReport {
        cases: 0,
        variants: 0,
        checks: Checks::default(),
        claims_root: String::new(),
        seconds: 0.0,
        wires: Wires::default(),
        cuts: Cuts::default(),
        bytes: 0,
        receipts: String::new(),
        unexpected: vec!["nothing was run, and nothing run is no success".to_owned()],
        ..report()
    };
    let text = summary(&nothing);
    assert!(!text.contains("claims root") && text.contains("no receipts"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn sizes_are_told_in_three_ranges() {
    assert_eq!(size(9_999), "9999 bytes");
    assert_eq!(size(10_000), "10 KB");
    assert_eq!(size(9_999_999), "9999 KB");
    assert_eq!(size(10_000_000), "10.0 MB");
}

#[test]
fn a_tier_that_took_longer_than_it_may_is_noted() {
    let part = Part { seconds: 30.try_into().unwrap(), cases: Vec::new(), size: None, wire: None };
    let took = |seconds| ProfileReport { tier: Tier::Smoke, seconds, ..report() };
    assert_eq!(overtime(&took(30.0), Some(&part)), None);
    assert_eq!(overtime(&took(99.0), None), None);
    let note = overtime(&took(31.26), Some(&part)).unwrap();
    assert!(
        note.starts_with("note: exagent: the tier smoke is meant to take 30 s, it took 31.3 s; "),
        "{note}"
    );
    assert!(summary(&took(1.0)).starts_with("exagent, tier smoke: 160 cases, "));
    assert!(summary(&report()).starts_with("exagent: 160 cases, "));
}
