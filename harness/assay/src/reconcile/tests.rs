//! Every class both ways, every list both ways, and that nothing falls between classes.

use super::{Class, Reconciled, Reconciler};
use crate::exit::Exit;
use crate::profile::Profile;
use crate::report::Checks;
use crate::variant::{CaseId, Variant, Wire};
use crate::verdict::{CheckResult, Level, Outcome};
use proptest::prelude::*;

const HEAD: &str = "name = 't'\ntitle = 't'\nclient = { builtin = 'exagent' }\nrevisions = ['2025-06-18']\n\
                    cases = ['*']\n";

const LISTED: &str = "[[deviation]]\ncase = 'a/x'\ncheck = 'c'\nrevision = '2025-06-18'\nreason = 'r'\n";

fn profile(rest: &str) -> Profile {
    toml::from_str(&format!("{HEAD}{rest}")).unwrap()
}

fn case(id: &str) -> CaseId {
    id.parse().unwrap()
}

fn variant(slice: &str) -> Variant {
    Variant {
        revision: "2025-06-18".parse().unwrap(),
        server: None,
        keys: vec![("slice".to_owned(), slice.to_owned())],
        wire: Wire::Memory,
    }
}

fn result(outcome: Outcome, level: Level) -> CheckResult {
    let (id, expected, actual) = ("c".to_owned(), "snow".to_owned(), "rain".to_owned());
    CheckResult { id, level, outcome, expected, actual }
}

/// The class of one result of check `c` of case `a/x`.
fn class(profile: &Profile, strict: bool, outcome: Outcome, level: Level) -> Class {
    Reconciler::new(profile, strict).class(&case("a/x"), &variant("whole"), &result(outcome, level))
}

/// A whole run of check `c` of case `a/x`: one variant an outcome.
fn run(profile: &Profile, outcomes: &[(&str, Outcome)]) -> Reconciled {
    let mut reconciler = Reconciler::new(profile, false);
    for (slice, outcome) in outcomes {
        reconciler.take(&case("a/x"), &variant(slice), &[result(*outcome, Level::Must)]);
    }
    reconciler.finish(false)
}

#[test]
fn a_result_nobody_listed_goes_by_outcome_and_level() {
    use Outcome::{Error, Fail, Inconclusive, Pass, Unexercised, Unsupported};
    let bare = profile("");
    for (outcome, level, strict, expected) in [
        (Pass, Level::Must, false, Class::Pass),
        (Pass, Level::Should, true, Class::Pass),
        (Fail, Level::Must, false, Class::Fail),
        (Fail, Level::Should, false, Class::Note),
        (Fail, Level::Should, true, Class::Fail),
        (Fail, Level::May, false, Class::Note),
        (Fail, Level::May, true, Class::Note),
        (Unexercised, Level::May, false, Class::Gap(Unexercised)),
        (Unsupported, Level::Must, false, Class::Gap(Unsupported)),
        (Inconclusive, Level::Must, false, Class::Gap(Inconclusive)),
        (Error, Level::May, false, Class::Gap(Error)),
    ] {
        assert_eq!(class(&bare, strict, outcome, level), expected, "{outcome:?} {level:?} {strict}");
    }
}

#[test]
fn notes_are_kept_by_case_and_check() {
    let bare = profile("");
    let mut reconciler = Reconciler::new(&bare, false);
    for (id, slice, outcome, level) in [
        ("a/x", "whole", Outcome::Fail, Level::Should),
        ("a/x", "every-3", Outcome::Fail, Level::Should),
        ("a/x", "every-5", Outcome::Pass, Level::Should),
        ("a/y", "whole", Outcome::Fail, Level::May),
        ("a/z", "whole", Outcome::Fail, Level::Must),
    ] {
        reconciler.take(&case(id), &variant(slice), &[result(outcome, level)]);
    }
    let notes = reconciler.finish(false).notes;
    let told: Vec<_> =
        notes.iter().map(|((id, check), n)| (id.as_str(), &**check, n.level, n.count)).collect();
    assert_eq!(told, [("a/x", "c", Level::Should, 2), ("a/y", "c", Level::May, 1)]);
    assert!(notes.values().all(|noted| noted.actual == "rain"));
}

#[test]
fn a_listed_check_must_fail_as_listed() {
    let listed = profile(LISTED);
    for level in [Level::Must, Level::Should, Level::May] {
        assert_eq!(class(&listed, false, Outcome::Fail, level), Class::Known);
        assert_eq!(class(&listed, false, Outcome::Pass, level), Class::Stale);
    }
    // A deviation speaks of failures and of nothing else.
    assert_eq!(class(&listed, false, Outcome::Inconclusive, Level::Must), Class::Gap(Outcome::Inconclusive));
    let some = profile(&format!("{LISTED}fails = 'some'\n"));
    assert_eq!(class(&some, false, Outcome::Pass, Level::Must), Class::Pass);
    assert_eq!(class(&some, false, Outcome::Fail, Level::Must), Class::Known);
}

#[test]
fn a_listed_actual_is_compared_word_for_word_at_every_level() {
    let as_seen = profile(&format!("{LISTED}actual = 'rain'\n"));
    let other = profile(&format!("{LISTED}actual = 'hail'\n"));
    for level in [Level::Must, Level::Should, Level::May] {
        assert_eq!(class(&as_seen, false, Outcome::Fail, level), Class::Known);
        assert_eq!(class(&other, false, Outcome::Fail, level), Class::Fail);
    }
}

#[test]
fn a_deviation_covers_its_case_check_revision_and_variants_only() {
    for (line, expected) in [
        ("case = 'a/x'", Class::Known),
        ("case = 'a/y'", Class::Fail),
        ("case = 'a/x'\nvariants = '*slice=whole*'", Class::Known),
        ("case = 'a/x'\nvariants = '*slice=each-cut*'", Class::Fail),
    ] {
        let profile = profile(&LISTED.replace("case = 'a/x'", line));
        assert_eq!(class(&profile, false, Outcome::Fail, Level::Must), expected, "{line}");
    }
    for (from, to) in [("check = 'c'", "check = 'd'"), ("'2025-06-18'", "'2025-11-25'")] {
        let profile = profile(&LISTED.replace(from, to));
        assert_eq!(class(&profile, false, Outcome::Fail, Level::Must), Class::Fail, "{to}");
    }
}

#[test]
fn silence_is_complete_only_where_that_silence_is_expected() {
    let expect = |outcome: &str, case: &str| {
        profile(&format!(
            "[[expect]]\noutcome = '{outcome}'\ncase = '{case}'\ncheck = '*'\nrevision = '2025-06-18'\n\
             reason = 'r'\n"
        ))
    };
    let unexercised = expect("unexercised", "a/*");
    let (silent, gap) = (Class::Silent(Outcome::Unexercised), Class::Gap(Outcome::Unexercised));
    assert_eq!(class(&unexercised, false, Outcome::Unexercised, Level::Must), silent);
    assert_eq!(class(&expect("unexercised", "b/*"), false, Outcome::Unexercised, Level::Must), gap);
    assert_eq!(class(&expect("unsupported", "a/*"), false, Outcome::Unexercised, Level::Must), gap);
    // What is expected to be silent may not fail for that.
    assert_eq!(class(&unexercised, false, Outcome::Fail, Level::Must), Class::Fail);
    assert_eq!(run(&unexercised, &[("whole", Outcome::Unexercised)]).exit, Exit::AsExpected);
    let never = run(&unexercised, &[("whole", Outcome::Pass)]);
    assert_eq!(never.exit, Exit::Unexpected);
    assert_eq!(never.unexpected, ["expect a/* * 2025-06-18: listed, but it never came"]);
}

#[test]
fn a_list_must_be_borne_out() {
    use Outcome::{Fail, Pass, Unexercised};
    let listed = profile(LISTED);
    assert_eq!(run(&listed, &[("whole", Fail), ("every-3", Fail)]).exit, Exit::AsExpected);
    assert_eq!(run(&listed, &[("whole", Fail), ("every-3", Pass)]).exit, Exit::Unexpected);
    // Nothing exercised it: the violation that would mend it is not seen either.
    let silent = run(&listed, &[("whole", Unexercised)]);
    assert_eq!(silent.exit, Exit::Incomplete);
    assert!(silent.unexpected.iter().any(|line| line.contains("no variant exercised it")), "{silent:?}");
    let some = profile(&format!("{LISTED}fails = 'some'\n"));
    assert_eq!(run(&some, &[("whole", Fail), ("every-3", Pass)]).exit, Exit::AsExpected);
    let none = run(&some, &[("whole", Pass), ("every-3", Pass)]);
    assert_eq!(none.exit, Exit::Unexpected);
    assert!(none.unexpected.iter().any(|line| line.contains("listed as failing in some, none failed")));
}

#[test]
fn floors_and_ceilings_bound_a_whole_run() {
    let passing = [("whole", Outcome::Pass), ("each-cut@1", Outcome::Pass), ("each-cut@2", Outcome::Pass)];
    for (requires, exit) in [
        ("cases = 1", Exit::AsExpected),
        ("cases = 2", Exit::Incomplete),
        ("variants = 3", Exit::AsExpected),
        ("variants = 4", Exit::Incomplete),
        ("tcp = 0", Exit::AsExpected),
        ("tcp = 1", Exit::Incomplete),
        ("a = 3", Exit::AsExpected),
        ("a = 4", Exit::Incomplete),
        ("b = 1", Exit::Incomplete),
        ("each_cut_max = 0.67", Exit::AsExpected),
        ("each_cut_max = 0.66", Exit::Incomplete),
        ("largest_case_max = 1.0", Exit::AsExpected),
        ("largest_case_max = 0.9", Exit::Incomplete),
    ] {
        let profile = profile(&format!("[requires]\n{requires}\n"));
        let reconciled = run(&profile, &passing);
        assert_eq!(reconciled.exit, exit, "{requires}: {:?}", reconciled.unexpected);
        assert_eq!(reconciled.unexpected.is_empty(), exit == Exit::AsExpected, "{requires}");
    }
}

#[test]
fn a_partial_run_owes_no_floors_and_no_lists_but_something_must_run() {
    let profile = profile(&format!("[requires]\nvariants = 9\n{LISTED}"));
    let mut reconciler = Reconciler::new(&profile, false);
    reconciler.take(&case("a/y"), &variant("whole"), &[result(Outcome::Pass, Level::Must)]);
    assert_eq!(reconciler.finish(true).exit, Exit::AsExpected);
    for partial in [true, false] {
        let nothing = Reconciler::new(&profile, false).finish(partial);
        assert_eq!(nothing.exit, Exit::Incomplete);
        assert_eq!(nothing.unexpected, ["nothing was run, and nothing run is no success"]);
    }
}

#[test]
fn a_violation_outweighs_a_gap() {
    use Outcome::{Error, Fail};
    let bare = profile("");
    assert_eq!(run(&bare, &[("whole", Error)]).exit, Exit::Incomplete);
    assert_eq!(run(&bare, &[("whole", Error), ("every-3", Fail)]).exit, Exit::Unexpected);
}

#[test]
fn what_was_unexpected_is_told_in_one_line_each() {
    use Outcome::{Error, Fail, Pass, Unsupported};
    let profile = profile(&LISTED.replace("a/x", "b/x"));
    let mut reconciler = Reconciler::new(&profile, false);
    for (id, slice, outcome) in [
        ("a/x", "whole", Fail),
        ("a/x", "every-3", Fail),
        ("a/y", "whole", Unsupported),
        ("a/z", "whole", Error),
        ("b/x", "whole", Pass),
    ] {
        let results = [result(outcome, Level::Must)];
        assert_eq!(reconciler.take(&case(id), &variant(slice), &results).len(), 1);
    }
    insta::assert_snapshot!(reconciler.finish(false).unexpected.join("\n"));
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    use Outcome::{Error, Fail, Inconclusive, Pass, Unexercised, Unsupported};
    prop::sample::select(vec![Pass, Fail, Unexercised, Unsupported, Inconclusive, Error])
}

/// Lists that cover some of the results and not others.
fn lists() -> impl Strategy<Value = String> {
    let entry = (
        prop::sample::select(vec!["a/x", "a/y"]),
        prop::sample::select(vec!["c", "d"]),
        prop::sample::select(vec!["", "fails = 'some'\n"]),
        prop::sample::select(vec!["", "actual = 'rain'\n", "actual = 'hail'\n"]),
        prop::sample::select(vec!["", "variants = '*whole*'\n"]),
    );
    let deviation = entry.prop_map(|(case, check, fails, actual, variants)| {
        format!(
            "[[deviation]]\ncase = '{case}'\ncheck = '{check}'\nrevision = '2025-06-18'\nreason = 'r'\n\
             {fails}{actual}{variants}"
        )
    });
    let outcome = prop::sample::select(vec!["unexercised", "unsupported"]);
    let expect = (outcome, prop::sample::select(vec!["a/x", "*"])).prop_map(|(outcome, case)| {
        format!(
            "[[expect]]\noutcome = '{outcome}'\ncase = '{case}'\ncheck = 'c'\nrevision = '2025-06-18'\n\
             reason = 'r'\n"
        )
    });
    (prop::collection::vec(deviation, 0..4), prop::collection::vec(expect, 0..3))
        .prop_map(|(deviations, expects)| [deviations, expects].concat().concat())
}

fn sum(checks: &Checks) -> u64 {
    let Checks { pass, fail, known, stale, note, unexercised, unsupported, inconclusive, error } = *checks;
    pass + fail + known + stale + note + unexercised + unsupported + inconclusive + error
}

proptest! {
    #[test]
    fn every_result_lands_in_exactly_one_class(
        lists in lists(),
        strict in any::<bool>(),
        partial in any::<bool>(),
        results in prop::collection::vec(
            (
                prop::sample::select(vec!["a/x", "a/y", "b/z"]),
                prop::sample::select(vec!["whole", "each-cut@3"]),
                prop::sample::select(vec!["c", "d"]),
                outcomes(),
                prop::sample::select(vec![Level::Must, Level::Should, Level::May]),
            ),
            0..30,
        ),
    ) {
        let profile = profile(&lists);
        let mut reconciler = Reconciler::new(&profile, strict);
        let (mut unexpected, mut broken, mut gaps) = (0, false, false);
        for (id, slice, check, outcome, level) in &results {
            let before = sum(&reconciler.checks);
            let result = CheckResult { id: (*check).to_owned(), ..result(*outcome, *level) };
            let results = [result];
            let told = reconciler.take(&case(id), &variant(slice), &results);
            unexpected += told.len();
            broken |= told.iter().any(|(_, class)| matches!(class, Class::Fail | Class::Stale));
            gaps |= told.iter().any(|(_, class)| matches!(class, Class::Gap(_)));
            prop_assert_eq!(sum(&reconciler.checks), before + 1);
        }
        let reconciled = reconciler.finish(partial);
        prop_assert_eq!(sum(&reconciled.checks), results.len() as u64);
        prop_assert_eq!(reconciled.variants, results.len() as u64);
        // Whatever was told makes the run no success, and no success is without a word.
        prop_assert!(unexpected == 0 || reconciled.exit != Exit::AsExpected);
        prop_assert_eq!(reconciled.unexpected.is_empty(), reconciled.exit == Exit::AsExpected);
        if broken {
            prop_assert_eq!(reconciled.exit, Exit::Unexpected);
        } else if partial {
            let incomplete = gaps || results.is_empty();
            prop_assert_eq!(reconciled.exit == Exit::Incomplete, incomplete);
        }
    }
}
