//! Failures as a person sees them.

use super::{Detail, Failure, View, annotated, dialogue};
use crate::case::Case;
use crate::clauses::Clauses;
use crate::judge::scene::{Scene, case, variant};
use crate::judge::{JudgeInput, Offers, judge};
use crate::returned::Returned;
use crate::run::DEFAULT_SEED;
use crate::timeline::{Event, EventKind, Mark, Reply, Side, Taken};
use bytes::Bytes;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

const CASE: &str = "[[peer]]\non = 'tools/call'\nstream = [{ result = 'snow 雪' }]\nthen = 'hold'\n\
    [[step]]\ncall = 'echo'\nas = 'first'\n\
    [[check]]\nid = 'delivered'\nclause = 'sse.disconnect-not-cancel'\nrows = ['EX-SSE-01']\n\
    result = { of = 'first', text = 'snow 雪' }\n\
    [[check]]\nid = 'released'\nrow = 'EX-NONE-99'\nclosed = { by = 'client', request = 'first' }\n\
    [[check]]\nid = 'deleted'\nseen = { on = 'DELETE' }\n";

fn sse_reply(tail: &[u8], cuts: Vec<usize>) -> EventKind {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let body = "43\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"text\":\"snow 雪\"}}\n\n";
    let bytes = Bytes::from([head.as_bytes(), body.as_bytes(), tail].concat());
    EventKind::Replied(Arc::new(Reply {
        request: 3,
        content_len: body.len(),
        written: bytes.len(),
        marks: vec![
            Mark { name: "head-end".to_owned(), at: head.len() },
            Mark { name: "chunk-size-line".to_owned(), at: head.len() + 4 },
            Mark { name: "terminal".to_owned(), at: head.len() + body.len() },
        ],
        cuts,
        proven: 1,
        complete: true,
        bytes,
    }))
}

fn failed(reply: EventKind) -> Scene {
    let returned = Returned::Error {
        kind: "invalid_sse_utf8".to_owned(),
        message: "byte 66 is no UTF-8 \u{1b}[31m".to_owned(),
        effect: Some("uncertain".to_owned()),
        status: None,
        code: None,
        text: None,
    };
    Scene::connected()
        .began("first", "call_tool")
        .call(2, "case:0", 2, "first")
        .push(reply)
        .returned("first", returned)
        .teardown()
}

fn rendered(case: &Case, scene: &Scene, check: &str) -> String {
    rendered_as("exagent", DEFAULT_SEED, case, scene, check)
}

fn rendered_as(profile: &str, seed: u64, case: &Case, scene: &Scene, check: &str) -> String {
    viewed(profile, seed, case, scene, check, View::Window)
}

fn viewed(profile: &str, seed: u64, case: &Case, scene: &Scene, check: &str, view: View) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clauses");
    let clauses = Clauses::load(root, "fixtures/clauses").unwrap_or_else(|problem| panic!("{problem}"));
    let (offers, variant) = (Offers::default(), variant());
    let input = JudgeInput {
        case,
        variant: &variant,
        policy: Some("exagent"),
        offers: &offers,
        clauses: &clauses,
        timeline: &scene.events,
    };
    let results = judge(&input);
    let result = results.iter().find(|result| result.id == check).unwrap();
    let case_id = "sse/suffix".parse().unwrap();
    let receipt = Some("receipts/runs/exagent/r1/claims/sse/suffix.json");
    Failure { program: "cargo xtask", profile, case_id: &case_id, input, result, seed, receipt, view }
        .to_string()
}

#[test]
fn a_failed_result_shows_clause_bytes_cut_and_commands() {
    let scene = failed(sse_reply(b"\r\n3\r\n\xff\n\n", vec![137]));
    insta::assert_snapshot!(rendered(&case(CASE), &scene, "delivered"));
}

#[test]
fn the_command_names_the_profile_as_the_person_did_and_a_seed_of_their_own() {
    let again = |profile: &str, seed: u64| {
        let text = rendered_as(profile, seed, &case(CASE), &failed(sse_reply(b"", vec![])), "delivered");
        text.lines().find_map(|line| Some(line.split_once("conformance ")?.1.to_owned())).unwrap_or_default()
    };
    assert!(again("exagent", DEFAULT_SEED).starts_with("--profile exagent --filter "));
    assert!(again("my own/p.toml", 7).starts_with("--profile 'my own/p.toml' --seed 7 --filter "));
}

#[test]
fn an_open_connection_shows_its_reply() {
    let scene = failed(sse_reply(b"", (1..100).collect()));
    insta::assert_snapshot!(rendered(&case(CASE), &scene, "released"));
}

#[test]
fn a_missing_request_shows_the_last_one_and_what_was_no_request() {
    let bad = EventKind::BadRequest {
        conn: 7,
        raw: Bytes::from_static(b"DELETE /mcp\x00\xffHTTP/1.1\r\n"),
        problem: "expected a request line, saw a NUL".to_owned(),
    };
    let scene = Scene::connected()
        .began("first", "call_tool")
        .call(2, "case:0", 2, "first")
        .held("h\u{1b}1", 3)
        .closed(2, Side::Client)
        .failed("first", "timeout")
        .push(bad)
        .teardown();
    insta::assert_snapshot!(rendered(&case(CASE), &scene, "deleted"));
}

#[test]
fn a_silent_client_is_shown_without_a_wire() {
    let scene = Scene::new().began("connect", "connect").teardown();
    insta::assert_snapshot!(rendered(&case(CASE), &scene, "delivered"));
}

#[test]
fn secrets_in_headers_are_not_shown() {
    let mut scene = failed(sse_reply(b"", vec![]));
    for event in &mut scene.events {
        if let EventKind::Request(request) = &mut event.kind {
            let request = Arc::make_mut(request);
            request.headers.push(("authorization".to_owned(), "Bearer s3cret".to_owned()));
            request.headers.push(("cookie".to_owned(), "s3cret".to_owned()));
        }
    }
    let text = rendered(&case(CASE), &scene, "delivered");
    assert!(text.contains("authorization: (not shown)") && !text.contains("s3cret"), "{text}");
}

#[test]
fn long_bytes_are_shortened_around_the_cut() {
    let mut bytes = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    bytes.extend("雪".repeat(2000).bytes());
    let marks = [Mark { name: "terminal".to_owned(), at: bytes.len() }];
    let text = annotated(&bytes, &marks, &[3001]);
    insta::assert_snapshot!(text);
}

/// A reply of so many chunks of three bytes, with each write ended where a chunk does, as long as the terminal event and
/// a suffix are: the wire of `chunks = every-3`.
fn in_chunks(chunks: usize) -> EventKind {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let body = "3\r\nabc\r\n".repeat(chunks);
    let starts = (0..chunks).map(|chunk| head.len() + chunk * 8);
    let mark = |at| Mark { name: "chunk-size-line".to_owned(), at };
    let terminal = Mark { name: "terminal".to_owned(), at: head.len() + (chunks - 4) * 8 + 3 };
    let bytes = Bytes::from([head, &body].concat());
    EventKind::Replied(Arc::new(Reply {
        request: 3,
        content_len: body.len(),
        written: bytes.len(),
        marks: starts.clone().map(mark).chain([terminal]).collect(),
        cuts: starts.skip(1).collect(),
        proven: 1,
        complete: true,
        bytes,
    }))
}

#[test]
fn a_failure_is_a_screen_around_the_last_cut_and_the_end_of_what_decides() {
    let text = rendered(&case(CASE), &failed(in_chunks(100)), "delivered");
    assert!(text.lines().count() < 60, "{} lines\n{text}", text.lines().count());
    assert!(text.contains("│") && text.contains("^ terminal") && !text.contains("chunk-size-line"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_dialogue_has_every_byte_of_the_wire_and_a_failure_beside_it_none() {
    let (case, scene) = (case(CASE), failed(in_chunks(400)));
    let shown = |view| viewed("exagent", DEFAULT_SEED, &case, &scene, "delivered", view);
    assert!(shown(View::Window).contains(" bytes …"));
    assert!(!shown(View::Apart).contains("│"), "{}", shown(View::Apart));
    let raw = Bytes::from_static(b"GET ?");
    let bad = EventKind::BadRequest { conn: 9, raw, problem: "expected a version".to_owned() };
    let mut events = vec![Event { at_us: 0, kind: bad }];
    events.extend(scene.events.iter().cloned());
    let whole = dialogue(&case, &events, Detail::Everything);
    assert!(whole.contains("accept: ") && whole.contains("GET ?"), "{whole}");
    let sketch = dialogue(&case, &events, Detail::Sketch);
    assert!(!sketch.contains("accept: ") && sketch.contains(" bytes …"), "{sketch}");
    assert!(!whole.contains(" bytes …"), "{whole}");
    assert_eq!(whole.matches("│3\\r\\n").count(), 399, "each cut is drawn: {whole}");
}

#[test]
fn a_window_keeps_the_first_line_and_says_what_it_leaves_out() {
    let bytes: Vec<u8> = (0..500).flat_map(|n| format!("row {n:03}\n").into_bytes()).collect();
    let text = super::window::window(&bytes, &[], &[2_000], &[2_000], 5);
    assert_eq!(
        text,
        "0000  row 000\\n\n      … 1976 bytes …\n1984  row 248\\n\n1992  row 249\\n\n2000  │row 250\\n\n\
         2008  row 251\\n\n2016  row 252\\n\n      … 1976 bytes …\n"
    );
    let few = super::window::window(b"a\nb\nc\nd\ne\nf\n", &[], &[], &[8], 3);
    assert_eq!(few, "0000  a\\n\n0002  b\\n\n0004  c\\n\n0006  d\\n\n0008  e\\n\n0010  f\\n\n");
    assert_eq!(super::window::window(b"a\nb", &[], &[], &[1], 5), "0000  a\\n\n0002  b\n");
    assert_eq!(super::window::window(b"", &[], &[], &[0], 5), "");
}

#[test]
fn line_ends_cuts_and_lookalikes_are_told_apart() {
    let marks = |at: &[usize]| at.iter().map(|&at| Mark { name: format!("m{at}"), at }).collect::<Vec<_>>();
    for (bytes, at, cuts, expected) in [
        (&b""[..], &[][..], &[][..], ""),
        (b"a\nb\rc\r\nd", &[], &[], "0000  a\\n\n0002  b\\r\n0004  c\\r\\n\n0007  d\n"),
        (b"c\r\nd", &[], &[2], "0000  c\\r│\\n\n0003  d\n"),
        ("│\\".as_bytes(), &[], &[3], "0000  \\u{2502}│\\\\\n"),
        (b"\x1b[2J\xff", &[], &[], "0000  \\x1b[2J\\xff\n"),
        ("e\u{301}".as_bytes(), &[], &[], "0000  e\\u{301}\n"),
        ("雪ab".as_bytes(), &[3, 4], &[], "0000  雪ab\n        ^ m3\n         ^ m4\n"),
        (b"abcdefgh", &[0, 6], &[], "0000  abcdefgh\n      ^ m0  ^ m6\n"),
        (b"ab", &[2], &[], "0000  ab\n        ^ m2\n"),
        (b"a\n", &[2], &[], "0000  a\\n\n0002\n      ^ m2\n"),
    ] {
        assert_eq!(annotated(bytes, &marks(at), cuts), expected, "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_reach_the_terminal_raw(
        bytes in prop::collection::vec(any::<u8>(), 0..3000),
        cuts in prop::collection::vec(0..4000usize, 0..20),
        at in prop::collection::vec(0..4000usize, 0..8),
    ) {
        let marks: Vec<Mark> = at.into_iter().map(|at| Mark { name: "\u{1b}m".to_owned(), at }).collect();
        let text = annotated(&bytes, &marks, &cuts);
        let places: Vec<usize> = cuts.iter().copied().take(2).collect();
        let window = super::window::window(&bytes, &marks, &cuts, &places, 12);
        prop_assert!(text.chars().chain(window.chars()).all(|c| c == '\n' || !c.is_control()));
        prop_assert!(text.lines().all(|line| line.chars().count() < 1000));
    }

    #[test]
    fn short_bytes_can_be_read_back_from_what_is_shown(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            "\\PC{0,60}[\\\\ \\n\\r│\u{85}\u{301}]{0,9}".prop_map(String::into_bytes),
        ],
    ) {
        let text = annotated(&bytes, &[], &[]);
        // Rows end only where the input breaks a line or the row is full: joined they are the input, escaped.
        let joined: String = text.lines().map(|line| line.get(6..).unwrap_or_default()).collect();
        prop_assert_eq!(read_back(&joined), bytes, "{}", text);
    }
}

/// The bytes that shown text stands for.
fn read_back(mut text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(c) = text.chars().next() {
        let rest = &text[c.len_utf8()..];
        let (taken, bytes) = match (c, rest.chars().next()) {
            ('\\', Some('n')) => (1, vec![b'\n']),
            ('\\', Some('r')) => (1, vec![b'\r']),
            ('\\', Some('t')) => (1, vec![b'\t']),
            ('\\', Some('\\')) => (1, vec![b'\\']),
            ('\\', Some('x')) => (3, vec![u8::from_str_radix(&rest[1..3], 16).unwrap()]),
            ('\\', Some('u')) => {
                let end = rest.find('}').unwrap();
                let c = char::from_u32(u32::from_str_radix(&rest[2..end], 16).unwrap()).unwrap();
                (end + 1, c.to_string().into_bytes())
            }
            _ => (0, c.to_string().into_bytes()),
        };
        out.extend(bytes);
        text = &rest[taken..];
    }
    out
}

#[test]
fn a_space_at_the_end_of_a_row_is_shown() {
    assert_eq!(annotated(b"data: ", &[], &[]), "0000  data:\\x20\n");
}

#[test]
fn a_reply_cut_short_shows_only_what_was_written() {
    let mut scene = failed(sse_reply(b"never written", vec![]));
    for event in &mut scene.events {
        if let EventKind::Replied(reply) = &mut event.kind {
            let reply = Arc::make_mut(reply);
            (reply.written, reply.complete) = (100, false);
        }
    }
    let text = rendered(&case(CASE), &scene, "delivered");
    assert!(text.contains("reply, cut short: 100 of 158 bytes; written at once"), "{text}");
    assert!(!text.contains("never written") && !text.contains("^ terminal"), "{text}");
}

#[test]
fn a_client_that_grew_too_much_shows_by_how_much() {
    let case = case(
        "[[peer]]\non = 'tools/call'\nbody = [{ result = 'x' }]\n[[step]]\ncall = 'echo'\nas = 'flood'\n\
         [[check]]\nid = 'bounded'\nclause = 'http.limits'\nmemory = { at_most = 33554432, since = 'flood' }\n",
    );
    let taken = |peak| EventKind::Memory(Some(Taken { peak, now: peak }));
    let scene = Scene::connected()
        .push(taken(50_000_000))
        .began("flood", "call_tool")
        .call(2, "case:0", 2, "flood")
        .replied(3)
        .ok("flood", None)
        .push(taken(183_554_433))
        .teardown();
    insta::assert_snapshot!(rendered(&case, &scene, "bounded"));
}
