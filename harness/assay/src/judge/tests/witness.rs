//! The kind witness: a server's journal beside the wire, both ways.

use crate::case::Case;
use crate::clauses::Clauses;
use crate::judge::scene::{Scene, case, reply, request, results};
use crate::judge::{JudgeInput, Offers, wants_more};
use crate::timeline::{EventKind, Reply, Side};
use crate::verdict::Outcome::{self, Error, Fail, Inconclusive, Pass, Unexercised};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

/// A case for SDK servers with one check of the witness.
fn asks(check: &str) -> Case {
    case(&format!(
        "servers = {{}}\n[[step]]\ncall = 'echo'\nas = 'first'\n[[check]]\nid = 'it'\nwitness = {{ {check} }}\n"
    ))
}

#[track_caller]
fn assert_found(check: &str, scene: &Scene, outcome: Outcome, actual: &str) {
    let found = results(&asks(check), scene);
    let found: Vec<_> = found.iter().map(|r| (r.outcome, r.actual.as_str())).collect();
    assert_eq!(found, [(outcome, actual)], "{check}");
}

/// Connected, with one call of `tool`, which was answered if `answered`.
fn called(tool: &str, answered: bool) -> Scene {
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": {} } });
    let scene = Scene::connected().began("first", "call_tool").post(1, "server", &call);
    if answered { scene.replied(3).ok("first", None) } else { scene.failed("first", "timeout") }
}

fn http(rpc: &str, id: &Value, status: &Value) -> Value {
    json!({ "kind": "http", "method": "POST", "rpc": rpc, "id": id, "status": status })
}

fn ran(tool: &str, id: u64, effect: bool) -> Value {
    json!({ "kind": "tool", "tool": tool, "id": id, "effect": effect })
}

/// What a server notes of a connect and of these.
fn journal(more: &[Value]) -> Vec<Value> {
    let start = [
        http("initialize", &json!(1), &json!(200)),
        http("notifications/initialized", &Value::Null, &json!(200)),
    ];
    [&start[..], more].concat()
}

fn read(scene: Scene, journal: Vec<Value>) -> Scene {
    scene.push(EventKind::Witness { journal: Value::Array(journal) }).teardown()
}

fn answered(tool: &str, more: &[Value]) -> Scene {
    let call = http("tools/call", &json!(2), &json!(200));
    read(called(tool, true), journal(&[&[call], more].concat()))
}

#[test]
fn wire_and_journal_agree_or_the_difference_is_said() {
    let agrees = "agrees = true";
    assert_found(agrees, &answered("echo", &[ran("echo", 2, false)]), Pass, "so it was");

    let lost = read(called("echo", true), journal(&[ran("echo", 2, false)]));
    let line = "POST \"tools/call\" with id 2 and 200: 1 on the wire, 0 in the journal";
    assert_found(agrees, &lost, Fail, line);

    let extra = http("ping", &json!(9), &json!(200));
    let line = "POST \"ping\" with id 9 and 200: 0 on the wire, 1 in the journal";
    assert_found(agrees, &answered("echo", &[ran("echo", 2, false), extra]), Fail, line);

    let other = read(
        called("echo", true),
        journal(&[http("tools/call", &json!(2), &json!(404)), ran("echo", 2, false)]),
    );
    let line = "POST \"tools/call\" with id 2 and 200: 1 on the wire, 0 in the journal";
    assert_found(agrees, &other, Fail, line);

    // An id that is a text is another id.
    let text = read(called("echo", true), journal(&[http("tools/call", &json!("2"), &json!(200))]));
    let line = "POST \"tools/call\" with id \"2\" and 200: 0 on the wire, 1 in the journal";
    assert_found(agrees, &text, Fail, line);
}

#[test]
fn each_tool_that_ran_has_its_call_and_each_answered_call_ran() {
    let agrees = "agrees = true";
    assert_found(agrees, &answered("echo", &[]), Fail, "echo was answered and did not run");
    let twice = [ran("echo", 2, false), ran("echo", 2, false)];
    assert_found(agrees, &answered("echo", &twice), Fail, "echo ran without a call on the wire");
    let other_id = [ran("echo", 7, false)];
    assert_found(agrees, &answered("echo", &other_id), Fail, "echo was answered and did not run");
    let effect = [ran("echo", 2, true)];
    let promise = "echo ran with another effect than its name promises";
    assert_found(agrees, &answered("echo", &effect), Fail, promise);
    let none = "counter_increment ran with another effect than its name promises";
    assert_found(agrees, &answered("counter_increment", &[ran("counter_increment", 2, false)]), Fail, none);
    // What the server does not have does not run.
    assert_found(agrees, &answered("no_such_tool", &[]), Pass, "so it was");
}

#[test]
fn a_call_without_an_answer_may_have_run_or_not() {
    let open = http("tools/call", &json!(2), &Value::Null);
    for tools in [vec![], vec![ran("slow", 2, false)]] {
        let scene = read(called("slow", false), journal(&[vec![open.clone()], tools].concat()));
        assert_found("agrees = true", &scene, Pass, "so it was");
    }
}

#[test]
fn effects_and_cancellations_are_counted_exactly() {
    let slow = ran("increment_slow", 2, true);
    let stopped = json!({ "kind": "cancelled", "tool": "increment_slow", "id": 2 });
    let scene = answered("increment_slow", &[slow, ran("echo", 3, false), stopped]);
    for (check, outcome, actual) in [
        ("effects = 1", Pass, "so it was"),
        ("effects = 0", Fail, "the server had 1 effects"),
        ("effects = 2", Fail, "the server had 1 effects"),
        ("cancelled = 1", Pass, "so it was"),
        ("cancelled = 0", Fail, "the server had 1 tools stopped"),
        ("effects = 1, cancelled = 1", Pass, "so it was"),
        ("effects = 1, cancelled = 2", Fail, "the server had 1 tools stopped"),
        ("agrees = true, effects = 1", Fail, "echo ran without a call on the wire"),
    ] {
        assert_found(check, &scene, outcome, actual);
    }
}

#[test]
fn a_journal_that_was_not_read_or_cannot_be_tells_nothing() {
    let unread = called("echo", true).teardown();
    assert_found("effects = 0", &unread, Inconclusive, "the server's journal was not read");
    for entry in [json!({ "kind": "gossip" }), json!({}), json!(7), json!({ "kind": "tool", "tool": "echo" })]
    {
        let scene = read(called("echo", true), vec![entry]);
        let actual = "the server's journal is not of its documented form";
        assert_found("effects = 0", &scene, Error, actual);
    }
}

#[test]
fn a_journal_that_lacks_something_is_read_again() {
    let case = asks("effects = 1");
    let more = |journal: Vec<Value>| {
        let scene =
            called("counter_increment", true).push(EventKind::Witness { journal: Value::Array(journal) });
        wants_more(&JudgeInput {
            case: &case,
            variant: &crate::judge::scene::variant(),
            policy: None,
            offers: &Offers::default(),
            clauses: &Clauses::default(),
            timeline: &scene.events,
        })
    };
    assert!(more(journal(&[])));
    assert!(!more(journal(&[ran("counter_increment", 2, true)])));
}

/// A reply of these bytes to the last request of a scene.
fn wrote(request: u32, bytes: &'static str) -> EventKind {
    EventKind::Replied(Arc::new(Reply {
        bytes: Bytes::from_static(bytes.as_bytes()),
        ..reply(request, true)
    }))
}

#[test]
fn a_match_sees_how_a_server_answered() {
    let delete = |bytes: &'static str| {
        Scene::connected().request(request(1, "server", "DELETE", None)).push(wrote(3, bytes)).teardown()
    };
    const EMPTY: &str = "HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    const FULL: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    for (bytes, answered, outcome) in [
        (EMPTY, "status = 202", Pass),
        (EMPTY, "empty = true", Pass),
        (EMPTY, "status = 202, empty = true", Pass),
        (EMPTY, "status = 200", Fail),
        (FULL, "status = 200", Pass),
        (FULL, "status = 200, empty = true", Fail),
        ("HTTP/1.1 200 OK\r\n", "empty = true", Fail),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "status = 200", Pass),
    ] {
        let text = format!("seen = {{ on = 'DELETE', answered = {{ {answered} }} }}");
        let case = case(&format!("servers = {{}}\n[[check]]\nid = 'it'\n{text}\n"));
        let found: Vec<_> = results(&case, &delete(bytes)).iter().map(|found| found.outcome).collect();
        assert_eq!(found, [outcome], "{bytes:?} {answered}");
    }
    // One that got no answer was not answered.
    let open = Scene::connected().request(request(1, "server", "DELETE", None)).teardown();
    let case =
        case("servers = {}\n[[check]]\nid = 'it'\nnever = { on = 'DELETE', answered = { empty = true } }\n");
    assert_eq!(results(&case, &open)[0].outcome, Pass);
}

#[test]
fn a_session_is_the_one_that_the_server_gave() {
    let scene = |given: Option<&'static str>, sent: &[&str]| {
        let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" });
        let scene = Scene::new().began("connect", "connect").post(1, "server", &initialize);
        let scene = scene.push(wrote(1, given.unwrap_or("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")));
        let mut delete = request(1, "server", "DELETE", None);
        delete.headers.extend(sent.iter().map(|id| ("mcp-session-id".to_owned(), (*id).to_owned())));
        scene.ok("connect", None).request(delete).teardown()
    };
    const GIVEN: &str = "HTTP/1.1 200 OK\r\nMcp-Session-Id: session-one\r\ncontent-length: 0\r\n\r\n";
    let check = "header = { of = { on = 'DELETE' }, name = 'mcp-session-id', is = '$session:connect' }";
    let any = "header = { of = { on = 'DELETE' }, name = 'mcp-session-id', is = '$any:text' }";
    let found = |check: &str, scene: &Scene| {
        let case = case(&format!("servers = {{}}\n[[check]]\nid = 'it'\n{check}\n"));
        let found = results(&case, scene).remove(0);
        (found.outcome, found.expected, found.actual)
    };
    let expected = "every DELETE carries header mcp-session-id once, the session id that step `connect` got";
    for (given, sent, outcome, actual) in [
        (Some(GIVEN), &["session-one"][..], Pass, "so it was"),
        (Some(GIVEN), &["session-two"], Fail, "DELETE carries mcp-session-id: \"<session:1>\""),
        (Some(GIVEN), &[], Fail, "DELETE carries no mcp-session-id"),
        (None, &["session-one"], Unexercised, "step `connect` got no session id"),
    ] {
        let wanted = (outcome, expected.to_owned(), actual.to_owned());
        assert_eq!(found(check, &scene(given, sent)), wanted, "{sent:?}");
    }
    let twice = "DELETE carries mcp-session-id: \"<session:1>\" and \"<session:1>\"";
    assert_eq!(found(any, &scene(None, &["session-one"])).0, Pass);
    assert_eq!(found(any, &scene(None, &["session-one"; 2])).2, twice);
    assert_eq!(found(any, &scene(None, &[])).2, "DELETE carries no mcp-session-id");
}

#[test]
fn what_the_tap_withholds_is_its_script() {
    let scene = || {
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "echo", "arguments": { "text": "first" } } });
        Scene::connected().began("first", "call_tool").post(2, "tap:0", &call)
    };
    let outcome = |rule: &str, check: &str, scene: Scene| {
        let text = format!(
            "servers = {{}}\n[[tap]]\non = 'tools/call'\n{rule}\n[[step]]\ncall = 'echo'\nas = 'first'\n"
        );
        results(&case(&format!("{text}[[check]]\nid = 'it'\n{check}\n")), &scene.teardown())[0].outcome
    };
    let result = "result = { of = 'first' }";
    assert_eq!(outcome("withhold = true", result, scene()), Fail, "the client waits for ever");
    assert_eq!(outcome("slice = 'every-3'", result, scene()), Inconclusive, "the tap owes an answer");
    let closed = "closed = { by = 'client', request = 'first' }";
    assert_eq!(outcome("withhold = true", closed, scene().closed(2, Side::Client)), Pass);
}
