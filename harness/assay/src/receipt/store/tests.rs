use super::line::{VERBS, fold_cuts, unfold_cuts};
use super::*;
use crate::receipt::problem::Problem;
use crate::returned::Returned;
use crate::revision::Revision;
use crate::timeline::{Close, Event, EventKind, Mark, Reply, Request, Side, Taken};
use crate::variant::{CaseId, Variant, Wire};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

fn case() -> CaseId {
    "sse/bom".parse().unwrap()
}

fn variant(cut: usize) -> Variant {
    let keys = vec![("slice".to_owned(), format!("each-cut@{cut}"))];
    Variant { revision: Revision::V20250618, server: None, keys, wire: Wire::Memory }
}

fn write(timelines: &[Vec<Event>]) -> Vec<u8> {
    let mut writer = TimelineWriter::new("exagent", &case()).unwrap();
    for (cut, timeline) in timelines.iter().enumerate() {
        writer.variant(&variant(cut), timeline).unwrap();
    }
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> Result<Vec<StoredVariant>, Problem> {
    let mut reader = TimelineReader::open(bytes, "exagent", &case())?;
    let mut variants = Vec::new();
    while let Some(variant) = reader.next_variant()? {
        variants.push(variant);
    }
    Ok(variants)
}

fn lines(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

fn reply(bytes: Vec<u8>, cuts: Vec<usize>) -> EventKind {
    EventKind::Replied(Arc::new(Reply {
        request: 1,
        content_len: 3,
        written: bytes.len(),
        bytes: bytes.into(),
        cuts,
        proven: 1,
        marks: vec![Mark { name: "terminal".into(), at: 7 }],
        complete: true,
    }))
}

fn example() -> Vec<Vec<Event>> {
    let event = |at_us, kind| Event { at_us, kind };
    let mut snow = b"HTTP/1.1 200 OK\r\n\r\ndata: \xff".to_vec();
    snow.extend("雪".repeat(500).into_bytes());
    let of = |cut| {
        vec![
            event(0, EventKind::StepBegan { step: "first".into(), verb: "call_tool", client: "a".into() }),
            event(1, EventKind::Accepted { conn: 1 }),
            event(
                2,
                EventKind::Request(Arc::new(Request {
                    conn: 1,
                    number: 1,
                    reused: false,
                    method: "POST".into(),
                    target: "/mcp".into(),
                    headers: vec![("accept".into(), "application/json".into())],
                    head: "POST /mcp HTTP/1.1\r\naccept: application/json\r\n\r\n".into(),
                    body: r#"{"id":1}"#.into(),
                    json: Some(serde_json::json!({ "id": 1 })),
                    rule: "case:0".into(),
                })),
            ),
            event(3, reply(snow.clone(), vec![cut])),
            event(
                4,
                EventKind::StepEnded {
                    step: "first".into(),
                    returned: Returned::Ok { text: Some("snow 雪".into()), tools: None },
                },
            ),
            event(5, EventKind::Teardown),
            event(6, EventKind::Closed { conn: 1, by: Side::Client, how: Close::Rst }),
        ]
    };
    vec![of(3), of(4)]
}

#[test]
fn a_byte_string_of_many_variants_is_stored_once() {
    let stored = write(&example());
    insta::assert_snapshot!(lines(&stored));
    let timelines: Vec<_> = read(&stored).unwrap().into_iter().map(|stored| stored.timeline).collect();
    assert_eq!(timelines, example());
}

#[test]
fn twenty_thousand_variants_stay_far_below_sixty_megabytes() {
    // Four exchanges a variant with uneven times: 60 MB are 3,000 bytes a variant.
    let variants: Vec<Vec<Event>> = (0..200)
        .map(|cut| {
            let mut timeline = Vec::new();
            for round in 0..4_u64 {
                for (at, mut event) in example()[0].clone().into_iter().enumerate() {
                    event.at_us = round * 1000 + (at as u64 * 37 + cut as u64 * 7919) % 911;
                    if let EventKind::Replied(reply) = &mut event.kind {
                        Arc::make_mut(reply).cuts = (1..cut).collect();
                    }
                    timeline.push(event);
                }
            }
            timeline
        })
        .collect();
    let bytes = write(&variants).len();
    assert!(bytes / variants.len() < 1000, "{} bytes a variant", bytes / variants.len());
}

#[test]
fn equal_timelines_make_equal_files() {
    assert_eq!(write(&example()), write(&example()));
}

#[test]
fn cuts_of_equal_steps_are_one_run() {
    assert_eq!(fold_cuts(&[1, 2, 3, 4, 9, 12, 15, 15]), [(1, 1, 4), (9, 3, 3), (15, 0, 1)]);
    assert_eq!(unfold_cuts(&[(0, 0, usize::MAX)], 100), None);
    assert_eq!(unfold_cuts(&[(usize::MAX, 1, 2)], 100), None);
}

#[test]
fn damaged_files_are_problems() {
    let stored = write(&example());
    let text = lines(&stored);
    for cut in 0..stored.len() {
        assert!(read(&stored[..cut]).is_err(), "cut short at byte {cut}");
    }
    assert!(read(&[stored.as_slice(), b"x"].concat()).is_err(), "bytes after the member");
    assert!(read(&[stored.as_slice(), &stored].concat()).is_err(), "a second member");
    let tampers = [
        ("\"case\":\"sse/bom\"", "\"case\":\"sse/crlf\""),
        ("call_tool", "dance"),
        ("\"times\":500", "\"times\":501"),
        ("\"times\":500", "\"times\":99999999999999"),
        ("\"events\":7", "\"events\":8"),
        ("\"events\":7", "\"events\":18446744073709551615"),
        ("\"variants\":2", "\"variants\":3"),
        ("\"bytes\":3", "\"bytes\":4294967295"),
        ("\"conn\":1", "\"conn\":1,\"conn\":1"),
        ("\"conn\":1", "\"conn\":1,\"extra\":1"),
        ("\"cuts\":[[3,0,1]]", "\"cuts\":[[0,0,9999999999]]"),
        ("each-cut@0", "each-cut@0..7"),
        ("\"marks\":4", "\"marks\":0"),
    ];
    for (from, to) in tampers {
        assert!(text.contains(from), "{from}\n{text}");
        assert!(read(&gzip(&text.replacen(from, to, 1))).is_err(), "{from} -> {to}");
    }
    let problem = read(&gzip(&text.replacen("\"times\":500", "\"times\":501", 1))).unwrap_err();
    assert!(problem.to_string().starts_with("timelines/sse/bom.jsonl.gz line "), "{problem}");
}

#[test]
fn a_bomb_costs_no_more_than_its_line_may() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..130 {
        gzip.write_all(&zeros).unwrap();
    }
    let problem = read(&gzip.finish().unwrap()).unwrap_err();
    assert!(problem.seen.contains("more than the bounds"), "{problem}");
}

#[test]
fn an_event_that_cannot_be_read_back_is_not_written() {
    let mut writer = TimelineWriter::new("exagent", &case()).unwrap();
    let kind = EventKind::StepBegan { step: "s".into(), verb: "dance", client: "a".into() };
    assert!(writer.variant(&variant(0), &[Event { at_us: 0, kind }]).is_err());
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        "[a-c雪]{0,20}".prop_map(String::into_bytes),
        (any::<u8>(), 1000_usize..1100).prop_map(|(b, n)| vec![b; n]),
    ]
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        Just(serde_json::json!(null)),
        any::<i64>().prop_map(Into::into),
        ".{0,8}".prop_map(Into::into)
    ]
    .prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Into::into),
            prop::collection::btree_map(".{0,4}", inner, 0..3)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

fn returned() -> impl Strategy<Value = Returned> {
    let text = || prop::option::of(".{0,12}");
    prop_oneof![
        (text(), prop::option::of(prop::collection::vec(json(), 0..3)))
            .prop_map(|(text, tools)| Returned::Ok { text, tools }),
        (".{0,8}", ".{0,8}", text(), any::<Option<u16>>(), any::<Option<i64>>(), text()).prop_map(
            |(kind, message, effect, status, code, text)| Returned::Error {
                kind,
                message,
                effect,
                status,
                code,
                text
            }
        ),
        ".{0,8}".prop_map(|message| Returned::Unsupported { message }),
    ]
}

fn kind() -> impl Strategy<Value = EventKind> {
    let side = prop_oneof![Just(Side::Client), Just(Side::Peer)];
    let how = prop_oneof![Just(Close::Fin), Just(Close::Rst)];
    let request = (
        any::<u32>(),
        any::<bool>(),
        bytes(),
        bytes(),
        prop::option::of(json()),
        prop::collection::vec((".{0,4}", ".{0,6}"), 0..3),
    )
        .prop_map(|(number, reused, head, body, json, headers)| {
            let (method, target, rule) = ("POST".into(), "/mcp".into(), "default".into());
            let (head, body) = (head.into(), body.into());
            EventKind::Request(Arc::new(Request {
                conn: 1,
                number,
                reused,
                method,
                target,
                headers,
                head,
                body,
                json,
                rule,
            }))
        });
    prop_oneof![
        Just(EventKind::Teardown),
        (".{0,5}", prop::sample::select(VERBS.to_vec())).prop_map(|(step, verb)| EventKind::StepBegan {
            step,
            verb,
            client: "a".into()
        }),
        (".{0,5}", returned()).prop_map(|(step, returned)| EventKind::StepEnded { step, returned }),
        any::<u32>().prop_map(|conn| EventKind::Accepted { conn }),
        request,
        (any::<u32>(), bytes(), ".{0,9}").prop_map(|(conn, raw, problem)| EventKind::BadRequest {
            conn,
            raw: raw.into(),
            problem
        }),
        (".{0,5}", any::<u32>()).prop_map(|(name, request)| EventKind::Held { name, request }),
        ".{0,5}".prop_map(|name| EventKind::Released { name }),
        (bytes(), prop::collection::vec(0_usize..50, 0..9)).prop_map(|(bytes, cuts)| reply(bytes, cuts)),
        (any::<u32>(), side, how).prop_map(|(conn, by, how)| EventKind::Closed { conn, by, how }),
        any::<Option<(u64, u64)>>()
            .prop_map(|taken| { EventKind::Memory(taken.map(|(peak, now)| Taken { peak, now })) }),
        json().prop_map(|journal| EventKind::Witness { journal }),
        ".{0,9}".prop_map(|problem| EventKind::HarnessError { problem }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn timelines_read_back_as_they_were(
        timelines in prop::collection::vec(
            prop::collection::vec((any::<u64>(), kind()).prop_map(|(at_us, kind)| Event { at_us, kind }), 0..6), 0..4)
    ) {
        let stored = read(&write(&timelines)).unwrap();
        let expected: Vec<_> = timelines
            .into_iter()
            .enumerate()
            .map(|(cut, timeline)| StoredVariant { variant: variant(cut), timeline })
            .collect();
        prop_assert_eq!(stored, expected);
    }

    #[test]
    fn garbage_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>(), in_text in any::<bool>()) {
        let stored = write(&example());
        let damaged = if in_text {
            let mut text = lines(&stored).into_bytes();
            let at = at.index(text.len());
            text[at] = byte;
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(&text).unwrap();
            gzip.finish().unwrap()
        } else {
            let mut bytes = stored;
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes
        };
        if let Ok(variants) = read(&damaged) {
            prop_assert_eq!(variants.len(), 2);
        }
    }
}

/// A file with these blobs, and so many times this event in one variant.
fn bomb(blobs: &[&str], event: &str, times: usize) -> Vec<u8> {
    use std::fmt::Write as _;
    let mut text =
        format!("{{\"case\":{{\"schema\":{SCHEMA:?},\"profile\":\"exagent\",\"case\":\"sse/bom\"}}}}\n");
    let _ = writeln!(text, r#"{{"variant":{{"id":"revision=2025-06-18;wire=tcp","events":{times}}}}}"#);
    for blob in blobs {
        let _ = writeln!(text, r#"{{"blob":{{"parts":[{blob}]}}}}"#);
    }
    let event = format!("{{\"event\":{{\"at\":0,\"what\":{event}}}}}\n");
    text += &event.repeat(times);
    text += "{\"end\":{\"variants\":1}}\n";
    gzip(&text)
}

const EMPTY: &str = r#"{"text":"[]"}"#;

fn refused(file: &[u8]) -> String {
    read(file).expect_err("it is a bomb").expected
}

#[test]
fn a_body_that_many_requests_share_cannot_unfold_without_bound() {
    let zeros = r#"{"text":"["},{"repeat":{"unit":{"text":"0,"},"times":5000000}},{"text":"0]"}"#;
    let request = r#"{"request":{"conn":1,"number":1,"reused":false,"method":"POST","target":"/","headers":0,"head":0,"body":1,"json":"body","rule":"default"}}"#;
    let expected = refused(&bomb(&[EMPTY, zeros], request, 30));
    assert_eq!(expected, "a timeline that unfolds to at most 536870912 bytes");
}

#[test]
fn cuts_of_many_replies_cannot_unfold_without_bound() {
    let reply = r#"{"replied":{"request":1,"bytes":0,"content_len":0,"written":0,"cuts":[[0,1,4194304]],"proven":0,"marks":0,"complete":true}}"#;
    let expected = refused(&bomb(&[EMPTY], reply, 150));
    assert_eq!(expected, "a timeline that unfolds to at most 536870912 bytes");
}

#[test]
fn a_timeline_has_no_more_events_than_a_recording() {
    assert_eq!(refused(&bomb(&[], r#"{"teardown":{}}"#, 200_000)), "at most 100002 events of a variant");
    assert_eq!(read(&bomb(&[], r#"{"teardown":{}}"#, 100_002)).unwrap()[0].timeline.len(), 100_002);
}
