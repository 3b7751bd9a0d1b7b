//! The tap between a client and a server that says what it is told to.

mod layout;

use super::Tap;
use crate::case::reply::{Item, Region, Then};
use crate::case::tap::At;
use crate::case::{Case, TapRule};
use crate::judge::scene::case;
use crate::revision::Revision;
use crate::timeline::{Close, EventKind, Recorder, Reply, Side};
use crate::wire::tcp::TcpSlot;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{}}}"#;
const EVENT: &str = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n";

fn length() -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n{EVENT}",
        EVENT.len()
    )
}

fn chunked() -> String {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    format!("{head}{:x}\r\n{EVENT}\r\n0\r\n\r\n", EVENT.len())
}

/// Sends one call through the tap to a server that answers with these parts and then closes, or keeps on.
async fn through(rule: Option<TapRule>, answer: &[&str], closes: bool) -> (Vec<u8>, Vec<EventKind>) {
    let case = Case { tap: rule.into_iter().collect(), ..case("") };
    let said = Arc::new(Notify::new());
    let server = serve(answer, closes, Arc::clone(&said)).await;
    let recorder = Recorder::start();
    let tap = Tap::new(&case, server, Revision::V20250618, 1, recorder.clone()).unwrap();
    let mut slot = TcpSlot::bind().unwrap();
    let lent = slot.lend(tap.clone()).unwrap();
    let address = lent.url().split('/').nth(2).unwrap().to_owned();
    let mut client = TcpStream::connect(&address).await.unwrap();
    let request =
        format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{CALL}", CALL.len());
    client.write_all(request.as_bytes()).await.unwrap();
    let mut got = Vec::new();
    loop {
        let seen = recorder.snapshot();
        let written = seen.iter().find_map(|event| match &event.kind {
            EventKind::Replied(reply) => Some(reply.written),
            _ => None,
        });
        // A connection that is kept ends with us, once all has come that was written.
        if !closes && !ends(&case) && written.is_some_and(|written| got.len() >= written) {
            break;
        }
        if case.tap.iter().any(|rule| rule.withhold) {
            // What the server could write has been taken, and would stand before the end that answers ours.
            said.notified().await;
            client.shutdown().await.unwrap();
            client.read_to_end(&mut got).await.unwrap();
            break;
        }
        tokio::select! {
            read = client.read_buf(&mut got) => if read.unwrap_or(0) == 0 { break },
            () = recorder.grown_past(seen.len()) => {}
        }
    }
    drop(client);
    loop {
        let events = recorder.snapshot();
        if events.iter().any(|event| matches!(event.kind, EventKind::Closed { .. })) {
            break;
        }
        recorder.grown_past(events.len()).await;
    }
    tap.finish().await;
    lent.end().await;
    (got, recorder.snapshot().into_iter().map(|event| event.kind).collect())
}

fn ends(case: &Case) -> bool {
    case.tap.iter().any(|rule| !matches!(rule.then, Then::Continue | Then::Hold))
}

async fn serve(answer: &[&str], closes: bool, said: Arc<Notify>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let parts: Vec<String> = answer.iter().map(|part| (*part).to_owned()).collect();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(CALL.as_bytes()) {
            assert!(stream.read_buf(&mut request).await.unwrap() > 0, "the request came cut short");
        }
        for part in parts {
            stream.write_all(part.as_bytes()).await.unwrap();
        }
        said.notify_one();
        if closes {
            return;
        }
        // Until the tap closes.
        while stream.read_buf(&mut request).await.is_ok_and(|read| read > 0) {}
    });
    address
}

fn reply(events: &[EventKind]) -> Reply {
    let replied = events.iter().find_map(|event| match event {
        EventKind::Replied(reply) => Some(reply.as_ref().clone()),
        _ => None,
    });
    replied.expect("a reply on the timeline")
}

fn rule(rule: TapRule) -> Option<TapRule> {
    Some(TapRule { on: "tools/call".to_owned(), ..rule })
}

fn suffix() -> Option<Vec<Item>> {
    Some(vec![Item { text: Some(":late\n\n".to_owned()), ..Item::default() }])
}

fn marks<'a>(reply: &'a Reply, name: &'a str) -> Vec<usize> {
    reply.marks.iter().filter(|mark| mark.name == name).map(|mark| mark.at).collect()
}

#[tokio::test]
async fn what_no_rule_names_passes_byte_by_byte() {
    for answer in [length(), chunked()] {
        let (head, rest) = answer.split_at(40);
        let (got, events) = through(None, &[head, rest], false).await;
        assert_eq!(String::from_utf8_lossy(&got), answer);
        let reply = reply(&events);
        assert!(reply.complete);
        assert_eq!(reply.bytes, answer.as_bytes());
        assert_eq!(reply.content_len, EVENT.len());
        assert_eq!(marks(&reply, "head-end"), [answer.find("\r\n\r\n").unwrap() + 4]);
        assert_eq!(marks(&reply, "terminal"), [answer.find(EVENT).unwrap() + EVENT.len()]);
        assert_eq!(marks(&reply, "terminal"), marks(&reply, "event:1"));
        assert!(matches!(&events[1], EventKind::Request(request) if request.rule == "server"));
        assert!(matches!(events.last(), Some(EventKind::Closed { by: Side::Client, .. })));
    }
}

#[tokio::test]
async fn a_server_that_closes_in_mid_answer_is_seen_as_it_is() {
    let answer = chunked();
    let (got, events) = through(None, &[&answer[..120]], true).await;
    assert_eq!(got, &answer.as_bytes()[..120]);
    assert!(matches!(events.last(), Some(EventKind::Closed { by: Side::Peer, how: Close::Fin, .. })));
    assert_eq!(reply(&events).written, 120);
}

#[tokio::test]
async fn an_answer_is_cut_where_the_plan_says() {
    let answer = chunked();
    let slice = TapRule { slice: Some("at:1,3".to_owned()), slice_over: Region::Body, ..TapRule::default() };
    let (got, events) = through(rule(slice), &[&answer], false).await;
    assert_eq!(String::from_utf8_lossy(&got), answer);
    let body = answer.find("\r\n\r\n").unwrap() + 4;
    assert_eq!(reply(&events).cuts, [body + 1, body + 3]);
}

#[tokio::test]
async fn a_length_becomes_chunks_for_injected_bytes() {
    let inject = TapRule { inject: suffix(), then: Then::Fin, ..TapRule::default() };
    let (got, events) = through(rule(inject), &[&length()], false).await;
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let expected = format!("{head}{:x}\r\n{EVENT}\r\n7\r\n:late\n\n\r\n0\r\n\r\n", EVENT.len());
    assert_eq!(String::from_utf8_lossy(&got), expected);
    assert!(matches!(events.last(), Some(EventKind::Closed { by: Side::Peer, how: Close::Fin, .. })));
}

#[tokio::test]
async fn a_held_answer_lacks_its_last_chunk() {
    let hold = TapRule { inject: suffix(), then: Then::Hold, ..TapRule::default() };
    let (got, events) = through(rule(hold), &[&chunked()], false).await;
    let answer = chunked();
    let expected = format!("{}7\r\n:late\n\n\r\n", answer.strip_suffix("0\r\n\r\n").unwrap());
    assert_eq!(String::from_utf8_lossy(&got), expected);
    assert!(reply(&events).complete);
    assert!(matches!(events.last(), Some(EventKind::Closed { by: Side::Client, .. })));
}

#[tokio::test]
async fn a_reset_comes_after_all_was_read() {
    let rst = TapRule { then: Then::Rst, ..TapRule::default() };
    let (got, events) = through(rule(rst), &[&chunked()], false).await;
    assert_eq!(String::from_utf8_lossy(&got), chunked());
    assert!(matches!(events.last(), Some(EventKind::Closed { by: Side::Peer, how: Close::Rst, .. })));
}

#[tokio::test]
async fn a_truncated_answer_ends_without_its_last_chunk() {
    for (then, how) in [(Then::Truncate, Close::Fin), (Then::TruncateRst, Close::Rst)] {
        let truncate = TapRule { then, ..TapRule::default() };
        let (got, events) = through(rule(truncate), &[&chunked()], false).await;
        assert_eq!(String::from_utf8_lossy(&got), chunked().strip_suffix("0\r\n\r\n").unwrap());
        assert!(
            matches!(events.last(), Some(EventKind::Closed { by: Side::Peer, how: seen, .. }) if *seen == how)
        );
    }
}

#[tokio::test]
async fn a_withheld_answer_is_taken_from_the_server_and_not_passed_on() {
    for closes in [false, true] {
        let withhold = TapRule { withhold: true, ..TapRule::default() };
        // More than sockets hold: once all is written, the tap has taken the answer and most of what follows.
        let more = "x".repeat(16 << 20);
        let (got, events) = through(rule(withhold), &[&chunked(), &more], closes).await;
        assert_eq!(String::from_utf8_lossy(&got), "");
        assert!(!events.iter().any(|event| matches!(event, EventKind::Replied(_))), "{events:?}");
        assert!(matches!(events.last(), Some(EventKind::Closed { by: Side::Client, .. })), "{events:?}");
    }
}

#[tokio::test]
async fn injected_bytes_are_cut_like_those_of_the_server() {
    let both = TapRule {
        inject: suffix(),
        slice: Some("every-byte".to_owned()),
        slice_over: Region::Body,
        ..TapRule::default()
    };
    let answer = chunked();
    let (got, events) = through(rule(both), &[&answer], false).await;
    let body = answer.strip_suffix("0\r\n\r\n").unwrap();
    let expected = format!("{body}7\r\n:late\n\n\r\n0\r\n\r\n");
    assert_eq!(String::from_utf8_lossy(&got), expected);
    // Its first byte comes by itself too, so the head is cut off.
    let first = answer.find("\r\n\r\n").unwrap() + 4;
    assert_eq!(reply(&events).cuts, (first..expected.len()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_rule_for_another_request_changes_nothing() {
    for other in [
        TapRule { on: "tools/list".to_owned(), inject: suffix(), ..TapRule::default() },
        TapRule { on: "tools/call".to_owned(), nth: Some(2), inject: suffix(), ..TapRule::default() },
    ] {
        let (got, events) = through(Some(other), &[&length()], false).await;
        assert_eq!(String::from_utf8_lossy(&got), length());
        assert!(matches!(&events[1], EventKind::Request(request) if request.rule == "server"));
    }
}

#[tokio::test]
async fn bytes_go_before_a_body_that_passes_as_it_comes() {
    let start = TapRule { inject: suffix(), at: At::Start, ..TapRule::default() };
    let answer = chunked();
    let body = answer.find("\r\n\r\n").unwrap() + 4;
    let (got, _) = through(rule(start), &[&answer[..body], &answer[body..]], false).await;
    let expected = format!("{}7\r\n:late\n\n\r\n{}", &answer[..body], &answer[body..]);
    assert_eq!(String::from_utf8_lossy(&got), expected);
}

#[tokio::test]
async fn bytes_cannot_be_put_after_what_is_no_stream() {
    let inject = TapRule { inject: suffix(), ..TapRule::default() };
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    let (_, events) = through(rule(inject), &[answer], true).await;
    let told = events.iter().any(|event| {
        matches!(event, EventKind::HarnessError { problem }
        if problem.starts_with("rule tap:0 cannot be carried out: expected an event stream"))
    });
    assert!(told, "{events:?}");
}

#[tokio::test]
async fn bytes_cannot_go_before_a_body_whose_length_has_been_sent() {
    let start = TapRule { inject: suffix(), at: At::Start, ..TapRule::default() };
    let (_, events) = through(rule(start), &[&length()], false).await;
    let told = events.iter().any(|event| {
        matches!(event, EventKind::HarnessError { problem }
        if problem.ends_with("expected a chunked event stream, to put bytes before its body"))
    });
    assert!(told, "{events:?}");
}
