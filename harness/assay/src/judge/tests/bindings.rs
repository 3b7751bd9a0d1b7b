//! Which checks bind a variant, at which level, and what comes before a kind is asked.

use crate::case::Case;
use crate::clauses::Clauses;
use crate::judge::bound::{binds_case, binds_variant};
use crate::judge::scene::{Scene, case, results, variant};
use crate::judge::{JudgeInput, Offers, judge};
use crate::returned::Returned;
use crate::revision::Revision;
use crate::verdict::Level;
use crate::verdict::Outcome::{Fail, Inconclusive, Pass, Unexercised, Unsupported};
use std::collections::BTreeSet;
use std::path::Path;

const CALL: &str = "[[step]]\ncall = 'echo'\nas = 'first'\n";

fn done() -> Scene {
    Scene::connected()
        .began("first", "call_tool")
        .call(2, "polite:4", 2, "first")
        .replied(3)
        .ok("first", Some("x"))
        .teardown()
}

#[test]
fn a_check_that_does_not_bind_the_variant_is_left_out() {
    for (condition, binds) in [
        ("policy = 'exagent'", true),
        ("policy = 'snodo'", false),
        ("revisions = ['2025-06-18', '2025-11-25']", true),
        ("revisions = ['2025-11-25']", false),
        ("when = { slice = 'each-cut@17' }", true),
        ("when = { slice = ['whole', 'each-cut'] }", true),
        ("when = { slice = 'whole' }", false),
        ("when = { suffix = 'x' }", false),
    ] {
        let case = case(&format!("{CALL}[[check]]\nid = 'it'\n{condition}\nresult = {{ of = 'first' }}\n"));
        assert_eq!(results(&case, &done()).len(), usize::from(binds), "{condition}");
    }
}

#[test]
fn without_a_policy_only_checks_without_one_bind() {
    let case = case(&format!(
        "{CALL}[[check]]\nid = 'a'\npolicy = 'exagent'\nresult = {{ of = 'first' }}\n\
         [[check]]\nid = 'b'\nresult = {{ of = 'first' }}\n"
    ));
    let found = judge(&JudgeInput {
        case: &case,
        variant: &variant(),
        policy: None,
        offers: &Offers::default(),
        clauses: &Clauses::default(),
        timeline: &done().events,
    });
    assert_eq!(found.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn the_level_is_the_checks_own_then_the_clauses_then_must() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clauses");
    let clauses = Clauses::load(root, "fixtures/clauses").unwrap_or_else(|problem| panic!("{problem}"));
    let text = "[[check]]\nid = 'should-not'\nclause = 'sse.disconnect-not-cancel'\nnever = { on = 'GET' }\n\
                [[check]]\nid = 'implied-elsewhere'\nclause = 'sse.prime.client'\nnever = { on = 'GET' }\n\
                [[check]]\nid = 'own'\nlevel = 'may'\nclause = 'sse.disconnect-not-cancel'\nnever = { on = 'GET' }\n\
                [[check]]\nid = 'row'\nrow = 'EX-SSE-01'\nnever = { on = 'GET' }\n";
    let case = case(&format!("{CALL}{text}"));
    let found = judge(&JudgeInput {
        case: &case,
        variant: &variant(),
        policy: None,
        offers: &Offers::default(),
        clauses: &clauses,
        timeline: &done().events,
    });
    let levels: Vec<_> = found.iter().map(|r| (r.id.as_str(), r.level)).collect();
    // sse.prime.client is no clause of 2025-06-18, so its check does not bind.
    assert_eq!(levels, [("should-not", Level::Should), ("own", Level::May), ("row", Level::Must)]);
}

#[test]
fn needs_are_compared_with_what_is_offered() {
    let case = case(&format!(
        "{CALL}[[check]]\nid = 'limit'\nneeds = ['max_line_bytes']\nresult = {{ of = 'first' }}\n\
         [[check]]\nid = 'verb'\nneeds = ['reconnect']\nresult = {{ of = 'first' }}\n"
    ));
    let set = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>());
    for (limits, verbs, expected) in [
        (None, None, [Pass, Pass]),
        (set(&[]), None, [Unsupported, Pass]),
        (set(&["max_line_bytes"]), set(&["connect"]), [Pass, Unsupported]),
        (None, set(&["reconnect"]), [Pass, Pass]),
    ] {
        let found = judge(&JudgeInput {
            case: &case,
            variant: &variant(),
            policy: None,
            offers: &Offers { limits, verbs },
            clauses: &Clauses::default(),
            timeline: &done().events,
        });
        assert_eq!(found.iter().map(|r| r.outcome).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn what_the_client_declined_is_unsupported_and_never_inferred() {
    let checks = "[[check]]\nid = 'a'\nresult = { of = 'first' }\n[[check]]\nid = 'b'\nseen = { on = 'tools/call' }\n\
                  [[check]]\nid = 'c'\nseen = { on = 'GET' }\n[[check]]\nid = 'd'\n\
                  closed = { by = 'client', request = 'first' }\n[[check]]\nid = 'e'\ngiven = { ended = 'first' }\n\
                  never = { on = 'GET' }\n";
    let case = case(&format!("{CALL}{checks}"));
    let outcomes = |scene: &Scene| results(&case, scene).iter().map(|r| r.outcome).collect::<Vec<_>>();
    let declined = Scene::connected().began("first", "call_tool").unsupported("first").teardown();
    assert_eq!(outcomes(&declined), [Unsupported, Unsupported, Fail, Unsupported, Unsupported]);
    let failed = Scene::connected().began("first", "call_tool").failed("first", "unsupported").teardown();
    assert_eq!(outcomes(&failed), [Fail, Fail, Fail, Unexercised, Pass]);
    // A client that cannot even connect shows nothing.
    let connect = Returned::Unsupported { message: "no".to_owned() };
    let nothing = Scene::new().began("connect", "connect").returned("connect", connect).teardown();
    assert_eq!(outcomes(&nothing), [Unsupported; 5]);
}

#[test]
fn what_is_given_must_have_happened() {
    let held = Scene::connected().began("first", "call_tool").call(2, "polite:4", 2, "first");
    let failed = held.clone().reply(3, false).failed("first", "timeout").teardown();
    let open = held.replied(3).teardown();
    for (given, after_done, after_failed, after_open) in [
        ("ended = 'first'", Pass, Pass, Unexercised),
        ("ok = 'first'", Pass, Unexercised, Unexercised),
        ("replied = 'first'", Pass, Unexercised, Pass),
        ("seen = { on = 'tools/call' }", Pass, Pass, Pass),
        ("seen = { on = 'tools/list' }", Unexercised, Unexercised, Unexercised),
        ("ended = 'first', seen = { on = 'GET' }", Unexercised, Unexercised, Unexercised),
    ] {
        let case = case(&format!(
            "{CALL}[[check]]\nid = 'it'\ngiven = {{ {given} }}\nnever = {{ on = 'DELETE' }}\n"
        ));
        let outcome = |scene: &Scene| results(&case, scene).first().map(|r| r.outcome);
        assert_eq!(outcome(&done()), Some(after_done), "{given}");
        assert_eq!(outcome(&failed), Some(after_failed), "{given}");
        assert_eq!(outcome(&open), Some(after_open), "{given}");
    }
}

#[test]
fn a_step_that_joins_another_stands_for_it() {
    let case = case(
        "[[step]]\ncall = 'echo'\nas = 'first'\nstart = true\n[[step]]\nawait = 'first'\nas = 'joined'\n\
         [[check]]\nid = 'a'\nresult = { of = 'joined', text = 'x' }\n[[check]]\nid = 'b'\nnever = { on = 'GET' }\n",
    );
    let found: Vec<_> = results(&case, &done()).iter().map(|r| r.outcome).collect();
    assert_eq!(found, [Pass, Pass]);
}

#[test]
fn texts_are_one_safe_bounded_line() {
    let case =
        case(&format!("{CALL}[[check]]\nid = 'it'\nresult = {{ of = 'first', text = \"\\u001b[2J\" }}\n"));
    let text = format!("\u{1b}]0;owned\u{7}\r\n{} http://127.0.0.1:4711/", "y".repeat(1000));
    let scene = Scene::connected().began("first", "call_tool").ok("first", Some(&text)).teardown();
    let found = results(&case, &scene);
    let found = &found[0];
    assert_eq!(found.outcome, Fail);
    assert_eq!(found.expected, "step `first` succeeds with text \"\\x1b[2J\"");
    assert!(
        found.actual.starts_with("succeeded with text \"\\x1b]0;owned\\x07\\r\\nyyy"),
        "{}",
        found.actual
    );
    assert!(found.actual.contains("y… (cut, 1069 bytes in all, sha256 "), "{}", found.actual);
    let pending = Scene::connected().began("first", "call_tool");
    assert_eq!(results(&case, &pending)[0].outcome, Inconclusive);
}

#[test]
fn a_case_binds_who_one_of_its_checks_binds() {
    let case: Case = toml::from_str(
        "title = 'x'\nrevisions = ['2025-06-18', '2025-11-25']\n\
         [[check]]\nid = 'a'\nrow = 'EX-1'\npolicy = 'exagent'\nalive = 'connect'\n\
         [[check]]\nid = 'b'\nclause = 'a.b'\nrevisions = ['2025-11-25']\nalive = 'connect'\n",
    )
    .unwrap();
    let binds = |policy, revision| binds_case(&case, policy, revision, &Clauses::default());
    assert!(binds(Some("exagent"), Revision::V20250618));
    assert!(!binds(None, Revision::V20250618));
    assert!(!binds(Some("snodo"), Revision::V20250618));
    assert!(binds(None, Revision::V20251125));
}

#[test]
fn a_variant_binds_whom_one_of_its_checks_binds_there() {
    let case = case(&format!(
        "{CALL}[[check]]\nid = 'a'\npolicy = 'exagent'\nresult = {{ of = 'first' }}\n\
         [[check]]\nid = 'b'\nwhen = {{ slice = 'whole' }}\nresult = {{ of = 'first' }}\n"
    ));
    let binds = |policy| binds_variant(&case, &variant(), policy, &Clauses::default());
    assert!(binds(Some("exagent")));
    assert!(!binds(None), "the variant is cut");
}
