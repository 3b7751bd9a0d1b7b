//! Padding to limits, for each unit, exact and over.

use super::{CompileError, body, compiled, try_compiled};

fn bound(unit: &str, limit: &str, more: &str) -> String {
    format!("bound = {{ unit = \"{unit}\", limit = \"{limit}\"{more} }}\n")
}

fn line(more: &str) -> String {
    bound("line", "max_line_bytes", more)
}

#[test]
fn a_line_is_padded_without_its_end() {
    let stream =
        "framing = \"close\"\neol = \"crlf\"\nstream = [{ text = \": first\\n\" }, { result = \"{{pad}}\" }]";
    let longest = |rule: &str| body(rule).lines().map(str::len).max();
    assert_eq!(longest(&format!("{}{stream}", line(""))), Some(200));
    assert_eq!(longest(&format!("{}{stream}", line(", over = 1"))), Some(201));
}

#[test]
fn wide_padding_ends_on_the_bound() {
    let stream = "framing = \"close\"\nstream = [{ text = \": {{pad}}\\n\\n\" }]";
    for over in 0..3 {
        let body = body(&format!("{}{stream}", line(&format!(", fill = \"wide\", over = {over}"))));
        assert_eq!(body.trim_end_matches('\n').len(), 200 + over);
        assert!(body.starts_with(": ") && body.ends_with("雪\n\n"));
        assert_eq!(body.matches('x').count(), (198 + over) % 3);
    }
}

#[test]
fn a_body_counts_through_the_terminal_s_line_end() {
    for (eol, free) in [("lf", 0), ("cr", 0), ("crlf", 1)] {
        let rule = format!(
            "{}eol = \"{eol}\"\nframing = \"close\"\nstream = [{{ result = \"{{{{pad}}}}\" }}, {{ text = \"suffix\" }}]",
            bound("body", "max_line_bytes", "")
        );
        let reply = compiled(&rule);
        assert_eq!(reply.suffix.start - reply.head.end, 200 + free);
    }
    let json = compiled(&format!(
        "{}body = [{{ result = \"{{{{pad}}}}\" }}, {{ text = \" \" }}]",
        bound("body", "max_line_bytes", "")
    ));
    assert_eq!(json.body.len(), 200);
}

#[test]
fn an_event_counts_its_joined_data() {
    let rule = format!(
        "{}framing = \"close\"\nstream = [{{ event = [\"data: 1\"] }}, {{ event = [\"data:a\", \"id: 3\", \"data: {{{{pad}}}}\", \"data\"] }}]",
        bound("event", "max_line_bytes", "")
    );
    // "a", LF, the padding, LF, nothing.
    assert_eq!(body(&rule), format!("data: 1\n\ndata:a\nid: 3\ndata: {}\ndata\n\n", "x".repeat(197)));
}

#[test]
fn control_counts_what_the_server_says_before_the_terminal() {
    let note =
        "{ note = { method = \"notifications/message\", params = { data = \"{{pad}}\" } }, times = 2 }";
    let rule = format!(
        "{}framing = \"close\"\nstream = [{note}, {{ text = \": c\\n\\n\" }}, {{ result = \"r\" }}, {note}]",
        bound("control", "max_line_bytes", "")
    );
    let body = body(&rule);
    let control: usize = body.split("\n\n").take(2).map(|event| event.len() - "data: ".len()).sum();
    assert_eq!(control, 200);
    let odd = try_compiled(&rule.replace("max_line_bytes\"", "max_line_bytes\", over = 1"));
    assert!(matches!(odd, Err(CompileError::Unreachable { wanted: 201, step: 2, .. })), "{odd:?}");
}

#[test]
fn heads_and_sessions_count_names_and_values() {
    let rule = format!(
        "{}headers = [[\"X-Pad\", \"{{{{pad}}}}\"]]\nbody = [{{ text = \"[]\" }}]",
        bound("head", "max_line_bytes", "")
    );
    let reply = compiled(&rule);
    let head = std::str::from_utf8(&reply.bytes[reply.head.clone()]).expect("text");
    let sum = |head: &str| {
        head.lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .map(|(n, v)| n.len() + v.len())
            .sum::<usize>()
    };
    assert_eq!(sum(head), 200);
    let trailers = compiled(&format!(
        "{}stream = []\ntrailers = [[\"X-Pad\", \"{{{{pad}}}}\"]]",
        bound("head", "max_line_bytes", "")
    ));
    assert_eq!(sum(std::str::from_utf8(&trailers.bytes).expect("text")), 200);
    let session = compiled(&format!(
        "{}session = \"s-{{{{pad}}}}\"",
        bound("session", "max_session_bytes", ", over = 1")
    ));
    assert!(
        String::from_utf8_lossy(&session.bytes)
            .contains(&format!("mcp-session-id: s-{}\r\n", "x".repeat(15)))
    );
}

#[test]
fn raw_replies_are_padded_too() {
    let rule =
        format!("{}wire = [{{ text = \"HTTP/1.1 200 OK\\r\\nx: {{{{pad}}}}\\r\\n\\r\\n\" }}]", line(""));
    assert_eq!(compiled(&rule).bytes.len(), 17 + 200 + 4);
}

#[test]
fn bounds_out_of_reach_are_errors() {
    let stream = "stream = [{ result = \"{{pad}}\" }]";
    let unreachable = try_compiled(&format!("{}{stream}", bound("line", "tiny", "")));
    assert!(
        matches!(unreachable, Err(CompileError::Unreachable { wanted: 3, step: 1, .. })),
        "{unreachable:?}"
    );
    let unknown = try_compiled(&format!("{}{stream}", bound("line", "max_x", "")));
    assert_eq!(unknown, Err(CompileError::UnknownLimit("max_x".to_owned())));
    for (unit, rule) in [("head", stream), ("session", stream), ("line", "stream = [{ result = \"x\" }]")] {
        let without = try_compiled(&format!("{}{rule}", bound(unit, "max_line_bytes", "")));
        assert!(matches!(without, Err(CompileError::NoPadding(_))), "{without:?}");
    }
}
