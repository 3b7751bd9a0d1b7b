//! What changes an exchange, and what does not.

use super::{exchange_digest, exchange_text};
use crate::case::Case;
use crate::judge::scene::{Scene, call, case, reply, request};
use crate::timeline::{Close, EventKind, Side};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

fn two_calls() -> Case {
    case(
        "[[peer]]\non = 'tools/call'\n\
         stream = [{ request = { id = '\"p{{n}}\"', method = 'ping' }, times = 2 }, { result = 'x' }]\n\
         [[step]]\ncall = 'echo'\nas = 'first'\nstart = true\n[[step]]\ncall = 'echo'\nas = 'second'\n\
         [[step]]\nawait = 'first'\n",
    )
}

fn answer(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

/// Both calls at once, the first one's pings answered on a socket of their own.
fn both(first_conn: u32) -> Scene {
    Scene::connected()
        .began("first", "call_tool")
        .began("second", "call_tool")
        .call(first_conn, "case:0", 2, "first")
        .call(5, "polite:4", 3, "second")
        .post(6, "polite:2", &answer("p1"))
        .post(6, "polite:2", &answer("p2"))
        .replied(3)
        .replied(4)
        .ok("first", Some("x"))
        .ok("second", Some("y"))
        .teardown()
}

#[test]
fn the_text_is_readable_and_canonical() {
    let text = exchange_text(&two_calls(), &both(2).events);
    let value: Value = serde_json::from_str(&text).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
    assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), text);
    let digest = exchange_digest(&two_calls(), &both(2).events);
    assert!(digest.len() == 64 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
}

#[test]
fn what_transport_decides_does_not_count() {
    let case = two_calls();
    let plain = exchange_digest(&case, &both(2).events);
    // Another connection, other cuts and marks, closes of any kind, other times.
    let mut other = both(9);
    for (at, event) in other.events.iter_mut().enumerate() {
        event.at_us += 7_000_000;
        match &mut event.kind {
            EventKind::Replied(reply) => {
                let reply = Arc::make_mut(reply);
                (reply.cuts, reply.proven) = (vec![1, 2, 3, at], 4);
            }
            EventKind::Request(request) => Arc::make_mut(request).reused = true,
            _ => {}
        }
    }
    let other =
        other.closed(9, Side::Client).push(EventKind::Closed { conn: 1, by: Side::Peer, how: Close::Rst });
    assert_eq!(exchange_digest(&case, &other.events), plain);
    // Another order between sockets, and a late request after teardown.
    let reordered = Scene::connected()
        .began("first", "call_tool")
        .began("second", "call_tool")
        .call(5, "polite:4", 3, "second")
        .call(2, "case:0", 2, "first")
        .post(6, "polite:2", &answer("p2"))
        .post(7, "polite:2", &answer("p1"))
        .ok("second", Some("y"))
        .ok("first", Some("x"))
        .teardown()
        .request(request(1, "polite:5", "DELETE", None));
    assert_eq!(exchange_digest(&case, &reordered.events), plain);
}

#[test]
fn ports_sessions_uuids_and_credentials_are_tokens() {
    let case = two_calls();
    let with = |port: u16, session: &str, uuid: &str, secret: &str| {
        let mut first = request(2, "case:0", "POST", Some(&call(2, "first")));
        first.headers.push(("mcp-session-id".to_owned(), session.to_owned()));
        first.headers.push(("authorization".to_owned(), format!("Bearer {secret}")));
        first.headers.push(("user-agent".to_owned(), uuid.to_owned()));
        let text = format!("http://127.0.0.1:{port}/ {session} {uuid}");
        let scene = Scene::connected().began("first", "call_tool").request(first).ok("first", Some(&text));
        exchange_text(&case, &scene.teardown().events)
    };
    let a = with(4711, "session-a", "0b2c1e38-94b1-4d8f-9a55-0123456789ab", "s1");
    assert_eq!(a, with(9, "session-b", "11111111-94b1-4d8f-9a55-0123456789ab", "s2"));
    assert!(a.contains("http://127.0.0.1:<port:1>/ <session:1> <uuid:1>"), "{a}");
    assert!(a.contains("Bearer <token:1>") && !a.contains("s1\"") && !a.contains("user-agent"), "{a}");
}

#[test]
fn what_the_client_says_counts() {
    let case = two_calls();
    let plain = exchange_digest(&case, &both(2).events);
    let changed = |change: &dyn Fn(&mut EventKind)| {
        let mut scene = both(2);
        scene.events.iter_mut().for_each(|event| change(&mut event.kind));
        exchange_digest(&case, &scene.events)
    };
    let on_calls = |change: &dyn Fn(&mut crate::timeline::Request)| {
        changed(&|kind| {
            if let EventKind::Request(request) = kind
                && request.on() == "tools/call"
            {
                change(Arc::make_mut(request));
            }
        })
    };
    assert_ne!(on_calls(&|r| r.target = "/other".to_owned()), plain);
    assert_ne!(on_calls(&|r| r.headers.push(("mcp-name".to_owned(), "echo".to_owned()))), plain);
    assert_ne!(on_calls(&|r| r.headers.retain(|(name, _)| name != "accept")), plain);
    assert_ne!(on_calls(&|r| r.json = Some(call(9, "first"))), plain);
    assert_eq!(on_calls(&|r| r.headers.push(("x-trace".to_owned(), "1".to_owned()))), plain);
    assert_eq!(on_calls(&|r| r.headers.reverse()), plain);
    assert_ne!(
        changed(&|kind| if let EventKind::StepEnded { returned, .. } = kind {
            *returned = crate::judge::scene::failure("timeout");
        }),
        plain
    );
    // One answer more, and one that no rule asked for.
    let mut more = both(2);
    more.events.pop();
    assert_ne!(exchange_digest(&case, &more.clone().post(6, "x", &answer("p2")).teardown().events), plain);
    assert_ne!(exchange_digest(&case, &more.clone().post(6, "x", &answer("q")).teardown().events), plain);
    assert_eq!(exchange_digest(&case, &more.teardown().events), plain);
}

#[test]
fn large_integers_are_not_rounded_and_other_bodies_are_kept() {
    let case = two_calls();
    let with = |change: &dyn Fn(&mut crate::timeline::Request)| {
        let mut odd = request(2, "default", "POST", Some(&json!({})));
        change(&mut odd);
        exchange_text(&case, &Scene::connected().request(odd).teardown().events)
    };
    let number = |n: u64| with(&|r| r.json = Some(json!({ "id": n })));
    assert_ne!(number(9_007_199_254_740_993), number(9_007_199_254_740_992));
    assert!(number(9_007_199_254_740_993).contains("<integer:9007199254740993>"));
    let raw = |bytes: &'static [u8]| with(&|r| (r.json, r.body) = (None, Bytes::from_static(bytes)));
    assert_ne!(raw(b"\xff"), raw(b"\xfe"));
    assert!(raw(b"\xff{").contains(r"\\xff{"), "{}", raw(b"\xff{"));
}

#[test]
fn every_cut_of_a_reply_gives_the_same_exchange() {
    let case = two_calls();
    let scene = both(2);
    let plain = exchange_digest(&case, &scene.events);
    for cut in 0..reply(3, true).bytes.len() {
        let mut scene = scene.clone();
        for event in &mut scene.events {
            if let EventKind::Replied(reply) = &mut event.kind {
                Arc::make_mut(reply).cuts = vec![cut];
            }
        }
        assert_eq!(exchange_digest(&case, &scene.events), plain);
    }
}
