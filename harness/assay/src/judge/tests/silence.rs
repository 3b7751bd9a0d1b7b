//! What silence means: a step that did not end, a request that did not come.

use crate::case::Case;
use crate::clauses::Clauses;
use crate::judge::scene::{Scene, case, results, variant};
use crate::judge::{JudgeInput, Offers, wants_more};
use crate::returned::BROKEN;
use crate::timeline::{EventKind, Side};
use crate::verdict::Outcome::{self, Error, Fail, Inconclusive, Pass};
use serde_json::json;
use std::collections::BTreeSet;

#[track_caller]
fn assert_found(text: &str, check: &str, scene: &Scene, outcome: Outcome, actual: &str) {
    let case = case(&format!("{text}\n[[check]]\nid = 'it'\n{check}\n"));
    let found = results(&case, scene);
    let found: Vec<_> = found.iter().map(|r| (r.outcome, r.actual.as_str())).collect();
    assert_eq!(found, [(outcome, actual)], "{check}");
}

const ONE_CALL: &str = "[[peer]]\non = 'tools/call'\nhold = 'h1'\nbody = [{ result = 'x' }]\n\
                        [[step]]\ncall = 'echo'\nas = 'first'\n";
const RELEASED: &str = "[[peer]]\non = 'tools/call'\nhold = 'h1'\nbody = [{ result = 'x' }]\n\
                        [[step]]\ncall = 'echo'\nas = 'first'\nstart = true\n[[step]]\nrelease = 'h1'\n\
                        after = 'seen:notifications/cancelled'\n";
const NOTHING: &str = "step `first` returned nothing within the deadline";
const OWED: &str = "the peer did not do its script: tools/call got no whole reply";

fn called() -> Scene {
    Scene::connected().began("first", "call_tool").call(2, "case:0", 2, "first")
}

#[test]
fn a_step_without_end_fails_where_the_peer_did_its_script() {
    for check in ["result = { of = 'first' }", "error = { of = 'first' }", "alive = 'first'"] {
        assert_found(ONE_CALL, check, &called().replied(3).teardown(), Fail, NOTHING);
        assert_found(ONE_CALL, check, &called().held("h1", 3).teardown(), Fail, NOTHING);
        assert_found(ONE_CALL, check, &called().reply(3, false).teardown(), Inconclusive, OWED);
        assert_found(ONE_CALL, check, &called().teardown(), Inconclusive, OWED);
        // Nothing was sent, so nothing is owed.
        let silent = Scene::connected().began("first", "call_tool").teardown();
        assert_found(ONE_CALL, check, &silent, Fail, NOTHING);
        let never = Scene::connected().teardown();
        assert_found(ONE_CALL, check, &never, Inconclusive, "step `first` never began");
        let cut = called().replied(3);
        assert_found(ONE_CALL, check, &cut, Inconclusive, "the recording ends before teardown");
    }
}

#[test]
fn a_broken_driver_leaves_every_check_undecided() {
    let told = "the client's driver broke in step `first`";
    for check in [
        "result = { of = 'first' }",
        "error = { of = 'first' }",
        "never = { on = 'tools/list' }",
        "seen = { on = 'tools/list' }",
        "given = { ok = 'first' }\nseen = { on = 'tools/call' }",
    ] {
        let broken = called().replied(3).failed("first", BROKEN);
        assert_found(ONE_CALL, check, &broken.teardown(), Inconclusive, told);
        // Whatever broke after teardown broke nothing of the variant.
        let late = called().replied(3).teardown().failed("first", BROKEN);
        let case = case(&format!("{ONE_CALL}\n[[check]]\nid = 'it'\n{check}\n"));
        assert!(results(&case, &late).iter().all(|result| result.actual != told), "{check}");
    }
}

#[test]
fn nothing_is_owed_to_a_client_that_left() {
    let check = "result = { of = 'first' }";
    let by = |side| called().reply(3, false).closed(2, side).teardown();
    assert_found(ONE_CALL, check, &by(Side::Client), Fail, NOTHING);
    assert_found(ONE_CALL, check, &by(Side::Peer), Inconclusive, OWED);
}

#[test]
fn an_end_after_teardown_is_no_end() {
    let scene = called().replied(3).teardown().ok("first", None);
    assert_found(ONE_CALL, "result = { of = 'first' }", &scene, Fail, NOTHING);
}

#[test]
fn a_hold_that_the_case_means_to_release_is_owed() {
    let scene = called().held("h1", 3).teardown();
    assert_found(RELEASED, "result = { of = 'first' }", &scene, Inconclusive, OWED);
}

#[test]
fn a_drip_may_write_until_the_connection_ends() {
    let drip = "[[peer]]\non = 'tools/call'\nstream = [{ result = 'x' }]\nthen = 'drip'\n\
                drip = { item = { text = ':' }, every_ms = 5 }\n[[step]]\ncall = 'echo'\nas = 'first'\n";
    let scene = called().teardown().replied(3);
    assert_found(drip, "result = { of = 'first' }", &scene, Fail, NOTHING);
    assert_found(ONE_CALL, "result = { of = 'first' }", &scene, Inconclusive, OWED);
}

#[test]
fn a_missing_request_is_a_failure_only_where_the_dialogue_had_its_chance() {
    let seen = "seen = { on = 'notifications/cancelled' }";
    let done = called().replied(3).ok("first", None).teardown();
    assert_found(ONE_CALL, seen, &done, Fail, "none was sent");
    assert_found(ONE_CALL, seen, &called().teardown(), Inconclusive, OWED);
    let never = Scene::connected().teardown();
    assert_found(ONE_CALL, seen, &never, Inconclusive, "step `first` never began");
    // The client hangs, so that a later step never begins: the client's.
    let hangs = Scene::connected().began("first", "call_tool").teardown();
    assert_found(&format!("{ONE_CALL}[[step]]\nlist = true\n"), seen, &hangs, Fail, "none was sent");
    // A step waits for what the client never did: the client's too.
    let waits = Scene::connected().began("first", "call_tool").failed("first", "timeout").teardown();
    assert_found(RELEASED, seen, &waits, Fail, "none was sent");
    let count = "count = { of = { on = 'notifications/cancelled' }, min = 1 }";
    assert_found(ONE_CALL, count, &done, Fail, "0 sent");
    assert_found(ONE_CALL, count, &called().teardown(), Inconclusive, OWED);
    let order = "order = ['tools/call', 'notifications/cancelled']";
    assert_found(ONE_CALL, order, &done, Fail, "notifications/cancelled never came");
    assert_found(ONE_CALL, order, &called().teardown(), Inconclusive, OWED);
}

#[test]
fn absence_shows_nothing_before_all_steps_began() {
    let never = "never = { on = 'DELETE' }";
    let done = called().replied(3).ok("first", None).teardown();
    assert_found(ONE_CALL, never, &done, Pass, "none was sent");
    let text = "step `first` never began";
    assert_found(ONE_CALL, never, &Scene::connected().teardown(), Inconclusive, text);
    let most = "count = { of = { on = 'DELETE' }, max = 1 }";
    assert_found(ONE_CALL, most, &done, Pass, "0 sent");
    assert_found(ONE_CALL, most, &Scene::connected().teardown(), Inconclusive, text);
    let cut = called().replied(3).ok("first", None);
    assert_found(ONE_CALL, never, &cut, Inconclusive, "the recording ends before teardown");
}

#[test]
fn an_empty_timeline_passes_nothing() {
    for check in [
        "seen = { on = 'any' }",
        "never = { on = 'any' }",
        "count = { of = { on = 'any' }, is = 0 }",
        "order = ['initialize']",
        "result = { of = 'first' }",
        "error = { of = 'first' }",
        "alive = 'first'",
        "closed = { by = 'client', request = 'first' }",
        "header = { of = { on = 'any' }, name = 'accept' }",
        "gap = { from = 'began:first', to = 'ended:first', min_ms = 0 }",
    ] {
        let case = case(&format!("{ONE_CALL}[[check]]\nid = 'it'\n{check}\n"));
        for scene in [Scene::new(), Scene::new().teardown()] {
            let found = results(&case, &scene);
            assert!(found.iter().all(|r| r.outcome != Pass && r.outcome != Fail), "{check}: {found:?}");
            assert_eq!(found.len(), 1);
        }
    }
}

#[test]
fn a_failure_of_the_harness_is_ours() {
    let problem = EventKind::HarnessError { problem: "expected a release, saw none".to_owned() };
    let scene = called().replied(3).ok("first", None).push(problem).teardown();
    let actual = "the harness failed: expected a release, saw none";
    assert_found(ONE_CALL, "result = { of = 'first' }", &scene, Error, actual);
    assert_found(ONE_CALL, "needs = ['reconnect']\nnever = { on = 'GET' }", &scene, Error, actual);
}

#[test]
fn more_is_wanted_while_an_event_could_still_come() {
    let held = "[[peer]]\non = 'tools/call'\nstream = [{ result = 'x' }]\nthen = 'hold'\n\
                [[step]]\ncall = 'echo'\nas = 'first'\n";
    let done = || called().replied(3).ok("first", None);
    let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": 2}});
    let more = || done().closed(2, Side::Client).post(3, "x", &cancel);
    for check in [
        "seen = { on = 'notifications/cancelled' }",
        "count = { of = { on = 'notifications/cancelled' }, is = 1 }",
        "order = ['tools/call', 'notifications/cancelled']",
        "gap = { from = 'ended:first', to = 'seen:notifications/cancelled', min_ms = 1 }",
        "closed = { by = 'client', request = 'first' }",
    ] {
        let case = case(&format!("{held}\n[[check]]\nid = 'it'\n{check}\n"));
        let wants = |scene: &Scene| wants(&case, scene);
        assert!(wants(&done()), "{check}");
        assert!(!wants(&more()), "{check}");
        assert!(!wants(&done().teardown()), "{check}");
    }
    for check in [
        "never = { on = 'GET' }",
        "count = { of = { on = 'tools/call' }, max = 2 }",
        "result = { of = 'first', text = 'other' }",
        "closed = { by = 'client', request = 'connect' }",
        "needs = ['max_pending']\nseen = { on = 'GET' }",
        "given = { ok = 'nothing' }\nseen = { on = 'GET' }",
        "policy = 'snodo'\nseen = { on = 'GET' }",
    ] {
        let case = case(&format!("{held}\n[[check]]\nid = 'it'\n{check}\n"));
        assert!(!wants(&case, &done()), "{check}");
    }
}

fn wants(case: &Case, scene: &Scene) -> bool {
    wants_more(&JudgeInput {
        case,
        variant: &variant(),
        policy: Some("exagent"),
        offers: &Offers { limits: Some(BTreeSet::new()), verbs: None },
        clauses: &Clauses::default(),
        timeline: &scene.events,
    })
}
