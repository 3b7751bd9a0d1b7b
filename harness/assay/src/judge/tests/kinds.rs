//! Each kind, passing and failing and otherwise.

use crate::judge::scene::{Scene, call, case, failure, request, results};
use crate::returned::Returned;
use crate::timeline::Side;
use crate::verdict::Outcome::{self, Error, Fail, Inconclusive, Pass, Unexercised};
use serde_json::json;

/// Outcome and actual text of the one check of a case with a rule that holds after its reply and two calls.
#[track_caller]
pub(super) fn assert_found(check: &str, scene: &Scene, outcome: Outcome, actual: &str) {
    let text = format!(
        "[[peer]]\non = 'tools/call'\nnth = 1\nstream = [{{ result = 'snow' }}]\nthen = 'hold'\n\
         [[peer]]\non = 'tools/call'\ndelay_ms = 50\nbody = [{{ result = 'late' }}]\n\
         [[step]]\ncall = 'echo'\nas = 'first'\n[[step]]\ncall = 'echo'\nas = 'second'\n\
         [[check]]\nid = 'it'\n{check}\n"
    );
    let case = case(&text);
    let found = results(&case, scene);
    let found: Vec<_> = found.iter().map(|r| (r.outcome, r.actual.as_str())).collect();
    assert_eq!(found, [(outcome, actual)], "{check}");
}

/// Two calls: the first is answered and held, and its socket closed by the client; the second is a keep-alive one.
pub(super) fn two_calls() -> Scene {
    Scene::connected()
        .began("first", "call_tool")
        .call(2, "case:0", 2, "first")
        .replied(3)
        .ok("first", Some("snow"))
        .closed(2, Side::Client)
        .began("second", "call_tool")
        .call(3, "case:1", 3, "second")
        .replied(4)
        .failed("second", "jsonrpc_error")
        .teardown()
}

#[test]
fn what_comes_after_teardown_never_counts() {
    let scene = two_calls().post(4, "default", &json!({"method": "ping", "id": 9})).closed(3, Side::Client);
    assert_found("never = { on = 'ping' }", &scene, Pass, "none was sent");
    assert_found("seen = { on = 'ping' }", &scene, Fail, "none was sent");
    assert_found(
        "closed = { by = 'client', request = 'second' }",
        &scene,
        Fail,
        "the client kept it until the reply had ended",
    );
}

#[test]
fn order_compares_places_and_counts_mentions() {
    let scene = two_calls();
    for (order, outcome, actual) in [
        ("['initialize', 'tools/call']", Pass, "so it was"),
        ("['initialize', 'tools/call', 'closed:first', 'tools/call', 'ended:second']", Pass, "so it was"),
        ("['tools/call', 'tools/call', 'tools/call']", Fail, "tools/call never came"),
        ("['tools/call#2', 'closed:first']", Fail, "closed:first came before tools/call#2"),
        ("['tools/call', 'DELETE', 'initialize']", Fail, "initialize came before tools/call"),
    ] {
        assert_found(&format!("order = {order}"), &scene, outcome, actual);
    }
}

#[test]
fn gap_decides_on_its_lower_bound_only() {
    let scene = |ms| {
        Scene::connected()
            .began("first", "call_tool")
            .call(2, "case:0", 2, "first")
            .replied(3)
            .wait_ms(ms)
            .ok("first", None)
            .began("second", "call_tool")
            .call(3, "case:1", 3, "second")
            .replied(4)
            .ok("second", None)
            .teardown()
    };
    let check = |from, to| format!("gap = {{ from = '{from}', to = '{to}', min_ms = 100 }}");
    let from_reply = check("replied:tools/call", "ended:first");
    assert_found(&from_reply, &scene(99), Pass, "at least that much");
    assert_found(&from_reply, &scene(98), Fail, "less than that");
    assert_found(&from_reply, &scene(100_000), Pass, "at least that much");
    assert_found(
        &check("ended:first", "began:first"),
        &scene(200),
        Fail,
        "began:first came before ended:first",
    );
    assert_found(&check("held:h", "ended:first"), &scene(200), Unexercised, "held:h never came");
    assert_found(&check("ended:first", "seen:DELETE"), &scene(200), Fail, "seen:DELETE never came");
    let bad = check("nowhere", "ended:first");
    let case_text = "\"nowhere\" names no moment: expected held:NAME, seen:ON, seen:ON#N, replied:ON, closed:STEP, \
                     began:STEP or ended:STEP";
    assert_found(&bad, &scene(200), Error, case_text);
}

#[test]
fn header_binds_every_matching_request() {
    let scene = two_calls();
    let check = |of: &str, what: &str| format!("header = {{ of = {{ on = '{of}' }}, {what} }}");
    for (of, what, outcome, actual) in [
        ("any", "name = 'accept'", Pass, "so it was"),
        ("any", "name = 'accept', lists = ['application/json', 'text/event-stream']", Pass, "so it was"),
        (
            "tools/call",
            "name = 'accept', lists = ['text/html']",
            Fail,
            "tools/call carries accept: \"application/json, text/event-stream;q=0.9\"",
        ),
        ("tools/call", "name = 'mcp-protocol-version', is = '2025-06-18'", Pass, "so it was"),
        (
            "tools/call",
            "name = 'mcp-protocol-version', is = '2025-11-25'",
            Fail,
            "tools/call carries mcp-protocol-version: \"2025-06-18\"",
        ),
        ("tools/call", "name = 'mcp-session-id'", Fail, "tools/call carries no mcp-session-id"),
        ("tools/call", "name = 'mcp-session-id', absent = true", Pass, "so it was"),
        (
            "initialize",
            "name = 'mcp-protocol-version', absent = true",
            Fail,
            "initialize carries mcp-protocol-version: \"2025-06-18\"",
        ),
        ("DELETE", "name = 'accept'", Unexercised, "no such request was sent"),
    ] {
        assert_found(&check(of, what), &scene, outcome, actual);
    }
}

#[test]
fn one_request_with_the_header_twice_is_found_and_sessions_are_tokens() {
    let mut twice = request(2, "case:0", "POST", Some(&call(2, "first")));
    for _ in 0..2 {
        twice.headers.push(("mcp-session-id".to_owned(), "surprising-1".to_owned()));
    }
    let scene = Scene::connected().request(twice).teardown();
    assert_found(
        "header = { of = { on = 'tools/call' }, name = 'mcp-session-id', is = 'surprising-1' }",
        &scene,
        Fail,
        "tools/call carries mcp-session-id: \"<session:1>\" and \"<session:1>\"",
    );
}

#[test]
fn result_compares_text_tools_and_schema() {
    let scene = two_calls();
    assert_found("result = { of = 'first' }", &scene, Pass, "succeeded with text \"snow\"");
    assert_found("result = { of = 'first', text = 'snow' }", &scene, Pass, "succeeded with text \"snow\"");
    assert_found("result = { of = 'first', text = 'rain' }", &scene, Fail, "succeeded with text \"snow\"");
    assert_found("result = { of = 'second' }", &scene, Fail, "failed with jsonrpc_error");
    assert_found("result = { of = 'connect', text = 'x' }", &scene, Fail, "succeeded without text");
    assert_found("result = { of = 'third' }", &scene, Error, "the case has no step `third`");

    let tools = Returned::Ok {
        text: None,
        tools: Some(vec![json!({"name": "echo", "inputSchema": {"type": "object"}}), json!({"name": "add"})]),
    };
    let scene = Scene::connected()
        .began("first", "call_tool")
        .returned("first", tools)
        .began("second", "call_tool")
        .returned("second", Returned::Ok { text: None, tools: Some(vec![]) })
        .teardown();
    let both = "succeeded with tools echo, add";
    assert_found("result = { of = 'first', tools = ['echo', 'add'] }", &scene, Pass, both);
    assert_found("result = { of = 'first', tools = ['add', 'echo'] }", &scene, Fail, both);
    assert_found("result = { of = 'second', tools = ['echo'] }", &scene, Fail, "succeeded with no tools");
    assert_found(
        "result = { of = 'connect', tools = ['echo'] }",
        &scene,
        Fail,
        "succeeded without a list of tools",
    );
    let schema = |json: &str| format!("result = {{ of = 'first', schema_json = '{json}' }}");
    assert_found(&schema("{ \"type\": \"object\" }"), &scene, Pass, both);
    assert_found(&schema("{}"), &scene, Fail, "the first tool's input schema is {\"type\":\"object\"}");
    assert_found(&schema("{"), &scene, Error, "the check's schema_json is no JSON");

    let schemas = |of: &str| format!("result = {{ of = 'first', schemas = {{ {of} }} }}");
    assert_found(&schemas("echo = { type = 'object' }"), &scene, Pass, both);
    assert_found(
        &schemas("echo = { type = 'object', required = ['text'] }"),
        &scene,
        Fail,
        "the input schema of echo is {\"type\":\"object\"}",
    );
    assert_found(&schemas("add = { type = 'object' }"), &scene, Fail, "add has no input schema");
    assert_found(&schemas("big = { type = 'object' }"), &scene, Fail, "there is no tool big");
    let none = "result = { of = 'connect', schemas = { echo = { type = 'object' } } }";
    assert_found(none, &scene, Fail, "there is no tool echo");
}

#[test]
fn error_compares_only_what_is_asked() {
    let mut whole = failure("http_status");
    if let Returned::Error { status, code, text, effect, .. } = &mut whole {
        (*status, *code) = (Some(500), Some(-32000));
        (*text, *effect) = (Some("told".to_owned()), Some("answered".to_owned()));
    }
    let scene = Scene::connected().began("first", "call_tool").returned("first", whole);
    let scene = scene.began("second", "call_tool").ok("second", None).teardown();
    let actual = "failed with http_status, status 500, code -32000, effect answered, text \"told\"";
    for (ask, outcome) in [
        ("", Pass),
        (", kind = 'http_status'", Pass),
        (", kind = 'timeout'", Fail),
        (", status = 500", Pass),
        (", status = 404", Fail),
        (", code = -32000", Pass),
        (", code = -32001", Fail),
        (", text = 'told'", Pass),
        (", text = 'other'", Fail),
        (", effect = 'answered'", Pass),
        (", effect = 'uncertain'", Fail),
        (", without = ['secret']", Pass),
    ] {
        assert_found(&format!("error = {{ of = 'first'{ask} }}"), &scene, outcome, actual);
    }
    let without = "failed with http_status, and its message holds \"it failed\"";
    assert_found("error = { of = 'first', without = ['x', 'it failed'] }", &scene, Fail, without);
    assert_found("error = { of = 'second' }", &scene, Fail, "succeeded");
}

#[test]
fn alive_wants_a_later_step_to_succeed() {
    assert_found("alive = 'first'", &two_calls(), Pass, "succeeded");
    assert_found("alive = 'second'", &two_calls(), Fail, "failed with jsonrpc_error");
}

#[test]
fn closed_counts_only_where_the_peer_kept_the_connection_open() {
    let check = |by: &str, request: &str| format!("closed = {{ by = '{by}', request = '{request}' }}");
    let client = check("client", "first");
    let base = || Scene::connected().began("first", "call_tool").call(2, "case:0", 2, "first");
    assert_found(&client, &two_calls(), Pass, "the client closed it");
    assert_found(&check("client", "tools/call#1"), &two_calls(), Pass, "the client closed it");
    assert_found(&client, &base().replied(3).teardown(), Fail, "it was still open at the end");
    let by_peer = base().replied(3).closed(2, Side::Peer).teardown();
    assert_found(&client, &by_peer, Inconclusive, "the peer closed it");
    assert_found(&check("peer", "first"), &by_peer, Pass, "the peer closed it");
    assert_found(&check("peer", "first"), &two_calls(), Fail, "the client closed it");
    let owed = "it was still open at the end, and the peer did not do its script";
    assert_found(&client, &base().reply(3, false).teardown(), Inconclusive, owed);
    assert_found(&client, &Scene::connected().teardown(), Unexercised, "there was no request `first`");
    let kept = "the peer did not keep the connection open";
    assert_found(&check("client", "connect"), &two_calls(), Unexercised, kept);
    // A rule that only waits: the close must come while it waits.
    let second = check("client", "second");
    let waits = || Scene::connected().began("second", "call_tool").call(3, "case:1", 3, "second");
    assert_found(&second, &waits().closed(3, Side::Client).teardown(), Pass, "the client closed it");
    let late = waits().replied(3).closed(3, Side::Client).teardown();
    assert_found(&second, &late, Fail, "the client kept it until the reply had ended");
}
