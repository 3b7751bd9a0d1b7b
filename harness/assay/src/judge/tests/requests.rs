//! Which requests a check means, and the kinds that are about them: seen, never, count.

use super::kinds::{assert_found, two_calls};
use crate::judge::scene::{Scene, call, request};
use crate::verdict::Outcome::{Fail, Pass, Unexercised};
use serde_json::json;

#[test]
fn seen_looks_for_method_body_header_place_and_number() {
    let scene = two_calls();
    assert_found("seen = { on = 'tools/call' }", &scene, Pass, "it was sent");
    assert_found("seen = { on = 'tools/call', nth = 2 }", &scene, Pass, "it was sent");
    assert_found(
        "seen = { on = 'tools/call', nth = 3 }",
        &scene,
        Fail,
        "none was sent (2 on tools/call did not match)",
    );
    assert_found("seen = { on = 'DELETE' }", &scene, Fail, "none was sent");
    assert_found(
        "seen = { on = 'tools/call', body = { params = { arguments = { text = 'second' } } } }",
        &scene,
        Pass,
        "it was sent",
    );
    assert_found(
        "seen = { on = 'tools/call', body = { params = { arguments = { text = 'third' } } } }",
        &scene,
        Fail,
        "none was sent (2 on tools/call did not match)",
    );
    assert_found("seen = { on = 'tools/call', body = { id = '$id:second' } }", &scene, Pass, "it was sent");
    assert_found(
        "seen = { on = 'tools/call', nth = 1, body = { id = '$id:second' } }",
        &scene,
        Fail,
        "none was sent (2 on tools/call did not match)",
    );
    assert_found(
        "seen = { on = 'initialize', header = ['mcp-protocol-version', '2025-06-18'] }",
        &scene,
        Pass,
        "it was sent",
    );
    assert_found(
        "seen = { on = 'initialize', header = ['mcp-protocol-version', '2025-11-25'] }",
        &scene,
        Fail,
        "none was sent (1 on initialize did not match)",
    );
    assert_found("seen = { on = 'tools/call', since = 'first' }", &scene, Pass, "it was sent");
    assert_found(
        "seen = { on = 'initialize', since = 'first' }",
        &scene,
        Fail,
        "none was sent (1 on initialize did not match)",
    );
    assert_found("seen = { on = 'any', since = 'third' }", &scene, Unexercised, "step `third` did not end");
}

#[test]
fn a_match_sees_the_target_a_header_that_is_there_and_a_member_that_is_not() {
    let mut queried = request(2, "case:0", "POST", Some(&call(2, "first")));
    queried.target = "/mcp?a=b".to_owned();
    let mut list = request(2, "default", "POST", None);
    list.json = Some(json!([]));
    let scene = Scene::connected()
        .began("first", "call_tool")
        .request(queried)
        .replied(3)
        .ok("first", Some("snow"))
        .request(list)
        .began("second", "call_tool")
        .ok("second", None)
        .teardown();
    let none = |on: &str, others: usize| format!("none was sent ({others} on {on} did not match)");
    for (check, outcome, actual) in [
        ("seen = { on = 'tools/call', target = '/mcp?a=b' }", Pass, "it was sent"),
        ("seen = { on = 'tools/call', target = '/mcp*' }", Pass, "it was sent"),
        ("seen = { on = 'tools/call', target = '/mcp' }", Fail, none("tools/call", 1).as_str()),
        ("never = { on = 'any', target = '*a=b*' }", Fail, "it was sent"),
        ("never = { on = 'initialize', target = '*a=b*' }", Pass, "none was sent"),
        ("count = { of = { on = 'any', target = '/mcp' }, is = 3 }", Pass, "3 sent"),
        (
            "never = { on = 'any', header = ['mcp-protocol-version', '$any:text'] }",
            Fail,
            "it was sent 4 times",
        ),
        ("never = { on = 'any', header = ['mcp-session-id', '$any:text'] }", Pass, "none was sent"),
        ("seen = { on = 'notifications/initialized', absent = ['/id'] }", Pass, "it was sent"),
        ("seen = { on = 'tools/call', absent = ['/id'] }", Fail, none("tools/call", 1).as_str()),
        ("seen = { on = 'tools/call', absent = ['/params/_meta', '/error'] }", Pass, "it was sent"),
        (
            "seen = { on = 'tools/call', absent = ['/params/_meta', '/params/name'] }",
            Fail,
            none("tools/call", 1).as_str(),
        ),
        // A body that is no object has no members.
        ("seen = { on = 'invalid', absent = ['/id'] }", Pass, "it was sent"),
    ] {
        assert_found(check, &scene, outcome, actual);
    }
}

#[test]
fn a_null_member_is_there_and_what_is_no_json_lacks_nothing() {
    let id =
        |id: serde_json::Value| json!({ "jsonrpc": "2.0", "id": id, "method": "notifications/cancelled" });
    let scene = |body: serde_json::Value| {
        let scene =
            Scene::connected().post(1, "default", &body).began("first", "call_tool").ok("first", None);
        scene.began("second", "call_tool").ok("second", None).teardown()
    };
    let check = "seen = { on = 'notifications/cancelled', nth = 1, absent = ['/id'] }";
    let actual = "none was sent (1 on notifications/cancelled did not match)";
    for value in [json!(null), json!(7), json!("")] {
        assert_found(check, &scene(id(value)), Fail, actual);
    }
    let empty = Scene::connected().request(request(1, "default", "DELETE", None));
    let empty = empty.began("first", "call_tool").ok("first", None);
    let empty = empty.began("second", "call_tool").ok("second", None).teardown();
    let actual = "none was sent (1 on DELETE did not match)";
    assert_found("seen = { on = 'DELETE', absent = ['/id'] }", &empty, Fail, actual);
}

#[test]
fn a_resume_is_a_get_with_the_last_event_id() {
    let get = |id: Option<&str>| {
        let mut get = request(1, "default", "GET", None);
        get.headers.extend(id.map(|id| ("last-event-id".to_owned(), id.to_owned())));
        get
    };
    let scene = Scene::connected().request(get(None)).request(get(Some("s-1")));
    let scene = scene.began("first", "call_tool").ok("first", None);
    let scene = scene.began("second", "call_tool").ok("second", None).teardown();
    for (check, outcome, actual) in [
        ("count = { of = { on = 'GET' }, is = 2 }", Pass, "2 sent"),
        ("count = { of = { on = 'resume' }, is = 1 }", Pass, "1 sent"),
        ("seen = { on = 'resume', nth = 1, header = ['last-event-id', '$any:text'] }", Pass, "it was sent"),
        ("seen = { on = 'resume', nth = 2 }", Fail, "none was sent (1 on resume did not match)"),
        ("never = { on = 'GET', header = ['x-other', '$any:text'] }", Pass, "none was sent"),
        ("order = ['resume', 'GET']", Fail, "GET came before resume"),
    ] {
        assert_found(check, &scene, outcome, actual);
    }
}

#[test]
fn never_and_count_look_both_ways() {
    let scene = two_calls();
    assert_found("never = { on = 'DELETE' }", &scene, Pass, "none was sent");
    assert_found("never = { on = 'initialize' }", &scene, Fail, "it was sent");
    assert_found("never = { on = 'tools/call' }", &scene, Fail, "it was sent 2 times");
    for (range, outcome) in [
        ("is = 2", Pass),
        ("is = 1", Fail),
        ("is = 3", Fail),
        ("min = 2", Pass),
        ("min = 3", Fail),
        ("max = 2", Pass),
        ("max = 1", Fail),
        ("min = 1, max = 2", Pass),
    ] {
        assert_found(
            &format!("count = {{ of = {{ on = 'tools/call' }}, {range} }}"),
            &scene,
            outcome,
            "2 sent",
        );
    }
}
