//! A client that sends without end: the judge's time grows with the timeline, not with its square.

use super::super::index::{Index, Role};
use crate::case::Case;
use crate::judge::scene::{Scene, call, case, request, results};
use serde_json::{Value, json};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// As many requests as a timeline may have events.
const FLOOD: usize = 100_000;

/// Far more than a linear judge needs on a busy machine, far less than a quadratic one on an idle one.
const PATIENCE: Duration = Duration::from_secs(60);

/// Does the work on a thread of its own, and gives up waiting for it.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, heard) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    heard.recv_timeout(PATIENCE).expect("the judge still counts")
}

fn flood(begin: Scene, body: impl Fn(usize) -> Value) -> Scene {
    (0..FLOOD).fold(begin, |scene, at| {
        let mut request = request(1, "case:0", "POST", Some(&body(at)));
        request.headers.push(("mcp-session-id".to_owned(), format!("session-{at}")));
        scene.request(request)
    })
}

fn asking() -> Case {
    case(
        r#"
        step = [{ connect = {} }, { call = "echo", as = "first" }]
        [[peer]]
        on = "tools/call"
        stream = [{ request = { id = '"ask-{{n}}"', method = "ping" } }]
        [[check]]
        id = "one"
        count = { of = { on = "tools/call" }, max = 1 }
        "#,
    )
}

#[test]
fn many_calls_are_numbered_and_counted_in_time() {
    let (last, outcome) = in_time(|| {
        let case = asking();
        let scene = flood(Scene::connected().began("first", "call_tool"), |at| call(at as u64, "first"));
        let index = Index::new(&case, &scene.events);
        let last = index.requests.last().map(|record| (record.nth, record.owner));
        (last, results(&case, &scene.teardown())[0].actual.clone())
    });
    assert_eq!(last, Some((100_000, Some((1, Role::Own)))));
    assert_eq!(outcome, "100000 sent");
}

#[test]
fn many_cancellations_and_answers_find_their_step_in_time() {
    let owners = in_time(|| {
        let case = asking();
        let calls = flood(Scene::connected().began("first", "call_tool"), |at| call(at as u64, "first"));
        let scene = flood(calls, |at| match at % 2 {
            0 => {
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": at } })
            }
            _ => json!({ "jsonrpc": "2.0", "id": format!("ask-{at}"), "result": {} }),
        });
        let index = Index::new(&case, &scene.events);
        index.requests.iter().skip(2 + FLOOD).map(|record| record.owner).collect::<Vec<_>>()
    });
    assert_eq!(owners.len(), FLOOD);
    assert_eq!(owners[..2], [Some((1, Role::Cancellation)), Some((1, Role::Answer))]);
    assert!(owners.chunks(2).all(|pair| pair == &owners[..2]));
}

#[test]
fn a_cancellation_goes_by_its_session_before_it_goes_by_the_latest() {
    let two = case(
        r#"
        step = [{ call = "echo", as = "a" }, { call = "echo", as = "b", client = "b" }]
        "#,
    );
    let with = |body: &Value, session: &str| {
        let mut request = request(1, "default", "POST", Some(body));
        request.headers.push(("mcp-session-id".to_owned(), session.to_owned()));
        request
    };
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    let scene = Scene::new()
        .began("a", "call_tool")
        .began("b", "call_tool")
        .request(with(&call(7, "a"), "one"))
        .request(with(&call(7, "b"), "two"))
        .request(with(&cancel, "one"))
        .request(with(&cancel, "two"))
        .request(with(&cancel, "three"));
    let index = Index::new(&two, &scene.events);
    let owners: Vec<_> =
        index.requests.iter().skip(2).map(|record| record.owner.map(|(step, _)| step)).collect();
    assert_eq!(owners, [Some(1), Some(2), Some(2)]);
}
