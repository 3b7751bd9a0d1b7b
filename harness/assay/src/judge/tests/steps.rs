//! Which request belongs to which step.

use crate::case::Case;
use crate::judge::Moment;
use crate::judge::index::{Index, Role};
use crate::judge::scene::{Scene, call, case, request};
use serde_json::{Value, json};

/// Number, step and role of each request.
#[track_caller]
fn assert_owners(case: &Case, scene: &Scene, expected: &[(u32, &str, Role)]) {
    let index = Index::new(case, &scene.events);
    let owners: Vec<(u32, &str, Role)> = index
        .requests
        .iter()
        .filter_map(|r| r.owner.map(|(step, role)| (r.request.number, index.steps[step].name.as_str(), role)))
        .collect();
    assert_eq!(owners, expected);
}

fn message(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

const CONNECTED: [(u32, &str, Role); 2] = [(1, "connect", Role::Own), (2, "connect", Role::Own)];

#[test]
fn a_call_takes_the_request_with_its_tool_and_arguments_and_keeps_retries() {
    let case = case("[[step]]\ncall = 'echo'\nas = 'a'\nstart = true\n[[step]]\ncall = 'echo'\nas = 'b'\n");
    let scene = Scene::connected()
        .began("a", "call_tool")
        .began("b", "call_tool")
        .call(2, "x", 3, "b")
        .call(3, "x", 2, "a")
        .call(4, "x", 4, "b")
        .post(5, "x", &json!({"method": "tools/call", "id": 9, "params": {"name": "other"}}));
    let expected = [(3, "b", Role::Own), (4, "a", Role::Own), (5, "b", Role::Own)];
    assert_owners(&case, &scene, &[&CONNECTED[..], &expected].concat());
}

#[test]
fn a_call_with_other_arguments_goes_to_the_step_with_that_tool() {
    let case = case("[[step]]\ncall = 'echo'\nas = 'a'\nargs = { n = 1 }\n");
    let scene = Scene::connected().began("a", "call_tool").call(2, "x", 3, "z");
    assert_owners(&case, &scene, &[&CONNECTED[..], &[(3, "a", Role::Own)]].concat());
}

#[test]
fn equal_calls_at_once_are_told_apart_by_id_unless_that_cannot_be() {
    let case = case(
        "[[step]]\ncall = 'echo'\nas = 'a'\nstart = true\nargs = { text = 't' }\n\
         [[step]]\ncall = 'echo'\nas = 'b'\nargs = { text = 't' }\n",
    );
    let both = || Scene::connected().began("a", "call_tool").began("b", "call_tool");
    let crossed = both().call(2, "x", 3, "t").call(3, "x", 2, "t");
    let expected = [(3, "b", Role::Own), (4, "a", Role::Own)];
    assert_owners(&case, &crossed, &[&CONNECTED[..], &expected].concat());
    // Cancellations go with the request they name.
    let cancelled = crossed.post(4, "x", &message("notifications/cancelled", &json!({"requestId": 3})));
    let expected = [&expected[..], &[(5, "b", Role::Cancellation)]].concat();
    assert_owners(&case, &cancelled, &[&CONNECTED[..], &expected].concat());
    // The first was over before the second began, so ids that count downwards are no reason.
    let apart = Scene::connected()
        .began("a", "call_tool")
        .call(2, "x", 3, "t")
        .ok("a", None)
        .began("b", "call_tool")
        .call(3, "x", 2, "t");
    let expected = [(3, "a", Role::Own), (4, "b", Role::Own)];
    assert_owners(&case, &apart, &[&CONNECTED[..], &expected].concat());
}

#[test]
fn pages_streams_closes_and_reconnects_find_their_steps() {
    let case = case(
        "[[step]]\nlist = true\nas = 'one'\n[[step]]\nlist = true\nas = 'two'\n[[step]]\nreconnect = true\n\
         as = 'again'\n[[step]]\nclose = true\nas = 'close'\n",
    );
    let list = |cursor: Value| message("tools/list", &json!({ "cursor": cursor }));
    let scene = Scene::connected()
        .request(request(9, "x", "GET", None))
        .began("one", "list_tools")
        .post(2, "x", &list(Value::Null))
        .post(2, "x", &list(json!("page 2")))
        .ok("one", None)
        .began("two", "list_tools")
        .post(2, "x", &list(Value::Null))
        .ok("two", None)
        .began("again", "reconnect")
        .request(request(2, "x", "DELETE", None))
        .post(3, "x", &message("initialize", &Value::Null))
        .post(3, "x", &message("notifications/initialized", &Value::Null))
        .ok("again", None)
        .request(request(8, "x", "GET", None))
        .began("close", "close")
        .request(request(3, "x", "DELETE", None));
    let expected = [
        (3, "connect", Role::Stream),
        (4, "one", Role::Own),
        (5, "one", Role::Own),
        (6, "two", Role::Own),
        (7, "again", Role::Own),
        (8, "again", Role::Own),
        (9, "again", Role::Own),
        (10, "again", Role::Stream),
        (11, "close", Role::Own),
    ];
    assert_owners(&case, &scene, &[&CONNECTED[..], &expected].concat());
    let index = Index::new(&case, &scene.events);
    let stands_for = |step| index.request_of(step).map(|record| record.request.number);
    assert_eq!(["again", "close", "one"].map(stands_for), [Some(8), Some(11), Some(4)]);
}

#[test]
fn answers_go_to_the_step_whose_reply_asked() {
    let case = case(
        "[[peer]]\non = 'tools/call'\nnth = 1\nstream = [{ items = [{ request = { id = '\"p{{n}}\"', method = 'ping' } \
         }] }]\n[[peer]]\non = 'tools/call'\nstream = [{ request = { id = '7', method = 'ping' } }]\n\
         [[step]]\ncall = 'echo'\nas = 'a'\nstart = true\n[[step]]\ncall = 'echo'\nas = 'b'\n",
    );
    let answer = |id: Value| json!({"jsonrpc": "2.0", "id": id, "result": {}});
    let scene = Scene::connected()
        .began("a", "call_tool")
        .began("b", "call_tool")
        .post(2, "case:0", &call(2, "a"))
        .post(3, "case:1", &call(3, "b"))
        .post(4, "x", &answer(json!(7)))
        .post(4, "x", &answer(json!("p12")))
        .post(4, "x", &answer(json!("7")))
        .post(4, "x", &answer(json!("px")));
    let expected = [(3, "a", Role::Own), (4, "b", Role::Own), (5, "b", Role::Answer), (6, "a", Role::Answer)];
    assert_owners(&case, &scene, &[&CONNECTED[..], &expected].concat());
}

#[test]
fn moments_read_as_they_are_written() {
    for text in
        ["held:h1", "seen:tools/call", "seen:GET#2", "replied:first", "closed:a#2", "began:a", "ended:a"]
    {
        assert_eq!(text.parse::<Moment>().unwrap().to_string(), text);
    }
    for text in ["", "seen", "seen:", ":x", "Seen:x", "after:x"] {
        assert!(text.parse::<Moment>().is_err(), "{text}");
    }
}
