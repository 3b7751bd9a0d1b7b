use super::*;
use crate::timeline::Mark;
use proptest::prelude::*;
use std::sync::Arc;

const UUID: &str = "123e4567-e89b-12d3-a456-426614174000";

fn event(kind: EventKind) -> Event {
    Event { at_us: 1, kind }
}

fn request(headers: &[(&str, &str)], body: &str) -> Event {
    let head: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    event(EventKind::Request(Arc::new(Request {
        conn: 1,
        number: 1,
        reused: false,
        method: "POST".into(),
        target: "http://127.0.0.1:40001/mcp".into(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        head: format!("POST /mcp HTTP/1.1\r\n{head}\r\n").into(),
        body: body.to_owned().into(),
        json: serde_json::from_str(body).ok(),
        rule: "polite:0".into(),
    })))
}

fn reply(bytes: &str, cuts: &[usize]) -> Event {
    event(EventKind::Replied(Arc::new(Reply {
        request: 1,
        bytes: bytes.to_owned().into(),
        content_len: 0,
        written: bytes.len(),
        cuts: cuts.to_vec(),
        proven: 0,
        marks: cuts.iter().map(|at| Mark { name: "m".into(), at: *at }).collect(),
        complete: true,
    })))
}

fn the_request(event: &Event) -> &Request {
    let EventKind::Request(request) = &event.kind else { panic!("{event:?}") };
    request
}

fn the_reply(event: &Event) -> &Reply {
    let EventKind::Replied(reply) = &event.kind else { panic!("{event:?}") };
    reply
}

#[test]
fn equal_values_get_equal_tokens_everywhere() {
    let body = format!(r#"{{"id":"{UUID}","url":"http://localhost:40001/x","at":"127.0.0.1:40002"}}"#);
    let out = redact(
        vec![
            reply("HTTP/1.1 200 OK\r\nMcp-Session-Id:  0123456789abcdef \r\n\r\n", &[]),
            request(
                &[
                    ("host", "127.0.0.1:40001"),
                    ("authorization", "Bearer top-secret"),
                    ("mcp-session-id", "0123456789abcdef"),
                ],
                &body,
            ),
            event(EventKind::HarnessError { problem: "0123456789abcdef top-secret".into() }),
        ],
        &["a case that spells nothing"],
    );
    assert_eq!(the_reply(&out[0]).bytes, "HTTP/1.1 200 OK\r\nMcp-Session-Id:  <session:1.....> \r\n\r\n");
    let request = the_request(&out[1]);
    assert_eq!(request.target, "http://127.0.0.1:<port:1>/mcp");
    let head = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:<port:1>\r\nauthorization: Bearer <secret:1>\r\nmcp-session-id: <session:1.....>\r\n\r\n";
    assert_eq!(request.head, head);
    let values: Vec<&str> = request.headers.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["127.0.0.1:<port:1>", "Bearer <secret:1>", "<session:1.....>"]);
    let uuid = "<uuid:1............................>";
    let body = format!(r#"{{"id":"{uuid}","url":"http://localhost:<port:1>/x","at":"127.0.0.1:<port:2>"}}"#);
    assert_eq!(request.body, body);
    assert_eq!(request.json, serde_json::from_str(&body).ok());
    assert_eq!(out[2].kind, EventKind::HarnessError { problem: "<session:1.....> <secret:1>".into() });
}

#[test]
fn what_the_case_spells_stays() {
    let timeline = vec![
        request(
            &[("mcp-session-id", "session-1"), ("authorization", "Bearer spelled"), ("host", "127.0.0.1:9")],
            &format!(r#"{{"id":"{UUID}"}}"#),
        ),
        reply("HTTP/1.1 200 OK\r\nmcp-session-id: session-1\r\n\r\n", &[20]),
    ];
    let case = format!("session = \"session-1\" headers spelled, a redirect to 127.0.0.1:9, {UUID}");
    let out = redact(timeline.clone(), &["", &case]);
    let Request { target, .. } = the_request(&out[0]);
    assert_eq!(target, "http://127.0.0.1:<port:1>/mcp");
    let mut expected = the_request(&timeline[0]).clone();
    expected.target.clone_from(target);
    assert_eq!(*the_request(&out[0]), expected);
    assert_eq!(out[1], timeline[1]);
}

#[test]
fn a_short_session_id_is_replaced_in_its_header_only() {
    let out = redact(vec![reply("HTTP/1.1 200 OK\r\nmcp-session-id: 200\r\n\r\n200", &[])], &[]);
    assert_eq!(the_reply(&out[0]).bytes, "HTTP/1.1 200 OK\r\nmcp-session-id: <session:1>\r\n\r\n200");
}

#[test]
fn offsets_move_with_the_bytes_they_point_at() {
    let bytes = "set-cookie: abcdefghijklmnop; Path=/\r\nlocation: http://127.0.0.1:1/\r\n\r\nEND";
    let all: Vec<usize> = (0..=bytes.len()).collect();
    let out = redact(vec![reply(bytes, &all)], &[]);
    let reply = the_reply(&out[0]);
    assert_eq!(
        reply.bytes,
        "set-cookie: <secret:1>; Path=/\r\nlocation: http://127.0.0.1:<port:1>/\r\n\r\nEND"
    );
    assert_eq!(reply.written, reply.bytes.len());
    assert!(reply.cuts.is_sorted() && reply.cuts.len() == all.len());
    let at = |text: &str, of: &[u8]| memchr::memmem::find(of, text.as_bytes()).unwrap();
    for text in ["; Path", "location", "/\r\n\r\n", "END"] {
        assert_eq!(reply.cuts[at(text, bytes.as_bytes())], at(text, &reply.bytes), "{text}");
        assert_eq!(reply.marks[at(text, bytes.as_bytes())].at, at(text, &reply.bytes), "{text}");
    }
}

#[test]
fn returned_values_and_journals_are_redacted() {
    let returned =
        Returned::Ok { text: Some(UUID.into()), tools: Some(vec![serde_json::json!({ UUID: [UUID, 1] })]) };
    let out = redact(
        vec![
            event(EventKind::StepEnded { step: "first".into(), returned }),
            event(EventKind::Witness { journal: serde_json::json!([{ "session": UUID }]) }),
        ],
        &[],
    );
    assert!(!format!("{out:?}").contains("e89b"), "{out:?}");
}

proptest! {
    #[test]
    fn a_second_redaction_changes_nothing(
        bytes in "((mcp-session-id|authorization|set-cookie|x): [a-z<>:; .1-]{0,20}\r\n|127\\.0\\.0\\.1:[0-9]{1,6}|123e4567-e89b-12d3-a456-42661417400[0-9]){0,6}",
        cuts in prop::collection::vec(0_usize..40, 0..4),
    ) {
        let cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        let once = redact(vec![reply(&bytes, &cuts)], &[]);
        let reply = the_reply(&once[0]);
        prop_assert!(reply.cuts.iter().all(|cut| *cut <= reply.bytes.len()));
        prop_assert_eq!(reply.written, reply.bytes.len());
        prop_assert_eq!(redact(once.clone(), &[]), once);
    }
}

#[test]
fn a_client_of_very_many_sessions_is_not_judged_beyond_them() {
    let mut timeline: Vec<Event> = (0..50_000)
        .map(|at| request(&[("mcp-session-id", &format!("session-{at}"))], r#"{"id":1}"#))
        .collect();
    timeline.push(event(EventKind::Teardown));
    let out = redact(timeline, &[]);
    assert_eq!(out.len(), VALUES_MAX + 2);
    assert!(the_request(&out[255]).headers[0].1.starts_with("<session:256"));
    assert!(
        matches!(&out[256].kind, EventKind::HarnessError { problem } if problem.contains("session ids and credentials"))
    );
    assert_eq!(out[257].kind, EventKind::Teardown);
    assert_eq!(redact(out.clone(), &[]), out);
}
