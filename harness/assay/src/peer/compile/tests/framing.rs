//! Heads, lengths, chunks, trailers, and raw replies.

use super::{CALL, CompileError, body, compile_for, compiled, reply, request, text, try_compiled};
use crate::case::reply::Then;
use crate::revision::Revision;
use std::time::Duration;

#[test]
fn heads_have_their_lines_in_order() {
    assert_eq!(
        reply(
            "status = 299\nreason = \"Fine\"\nsession = \"{{session}}-2\"\nheaders = [[\"X-A\", \"1\"], [\"X-A\", \"2\"]]\n\
             interim = [103, 100]\nbody = [{ text = \"[]\" }]"
        ),
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 299 Fine\r\n\
         content-type: application/json\r\nmcp-session-id: s1-2\r\ncontent-length: 2\r\nX-A: 1\r\nX-A: 2\r\n\r\n[]"
    );
    assert_eq!(
        reply("content_type = \"\"\nbody = [{ text = \"x\" }]"),
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx"
    );
    assert_eq!(
        reply("content_type = \"text/plain\"\nstatus = 500"),
        "HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/plain\r\ncontent-length: 0\r\n\r\n"
    );
    assert_eq!(reply("status = 204"), "HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(reply("status = 304"), "HTTP/1.1 304 Not Modified\r\n\r\n");
}

#[test]
fn the_usual_status_depends_on_the_request() {
    let status = |method: &str, json: &str| {
        let compiled = compile_for(&request(method, json), Revision::V20250618, "").expect("no knob is bad");
        text(&compiled)[9..12].to_owned()
    };
    assert_eq!(status("POST", CALL), "200");
    assert_eq!(status("POST", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), "202");
    assert_eq!(status("POST", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), "202");
    assert_eq!(status("DELETE", ""), "200");
}

#[test]
fn lengths_lie_on_demand() {
    let head = |lie: &str| reply(&format!("length_lie = {lie}\nbody = [{{ text = \"abc\" }}]"));
    assert!(head("2").contains("content-length: 5\r\n\r\nabc"));
    assert!(head("-3").contains("content-length: 0\r\n\r\nabc"));
    let negative = try_compiled("length_lie = -4\nbody = [{ text = \"abc\" }]");
    assert_eq!(negative, Err(CompileError::NegativeLength { lie: -4, len: 3 }));
}

#[test]
fn other_framings_say_what_they_say() {
    let close = compiled("framing = \"close\"\nbody = [{ text = \"abc\" }]");
    assert!(text(&close).ends_with("application/json\r\nconnection: close\r\n\r\nabc"));
    assert_eq!(close.then, Then::Fin);
    let none = compiled("framing = \"none\"\nbody = [{ text = \"abc\" }]");
    assert_eq!(text(&none), "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\nabc");
    assert_eq!(none.then, Then::Continue);
    let held = compiled("framing = \"close\"\nthen = \"hold\"");
    assert_eq!(held.then, Then::Hold);
}

const ITEMS: &str = "stream = [{ text = \"abcdefghij\" }, { text = \"\" }, { text = \"kl\" }]";

#[test]
fn chunks_follow_items_or_their_plan() {
    assert_eq!(compiled(ITEMS).content_len, 12);
    assert_eq!(body(ITEMS), "a\r\nabcdefghij\r\n2\r\nkl\r\n0\r\n\r\n");
    assert_eq!(body(&format!("{ITEMS}\nchunks = \"whole\"")), "c\r\nabcdefghijkl\r\n0\r\n\r\n");
    assert_eq!(
        body(&format!("{ITEMS}\nchunks = \"at:1,11\"")),
        "1\r\na\r\na\r\nbcdefghijk\r\n1\r\nl\r\n0\r\n\r\n"
    );
    assert_eq!(
        body(&format!("{ITEMS}\nchunks = \"every-8\"\nchunk_extension = \";q=\\\"1\\\"\"")),
        "8;q=\"1\"\r\nabcdefgh\r\n4;q=\"1\"\r\nijkl\r\n0\r\n\r\n"
    );
    let outside = try_compiled(&format!("{ITEMS}\nchunks = \"at:12\""));
    assert_eq!(outside, Err(CompileError::CutOutside { plan: "at:12".to_owned(), reach: 12, len: 12 }));
    assert_eq!(body("stream = []"), "0\r\n\r\n");
}

#[test]
fn trailers_follow_the_last_chunk_and_open_endings_have_none() {
    let trailers = format!("{ITEMS}\ntrailers = [[\"X-T\", \"{{{{id}}}}\"]]\nchunks = \"whole\"");
    assert_eq!(body(&trailers), "c\r\nabcdefghijkl\r\n0\r\nX-T: 7\r\n\r\n");
    for then in ["hold", "truncate", "truncate-rst"] {
        assert_eq!(body(&format!("{trailers}\nthen = \"{then}\"")), "c\r\nabcdefghijkl\r\n");
    }
    for then in ["fin", "rst"] {
        assert_eq!(body(&format!("{trailers}\nthen = \"{then}\"")), body(&trailers));
    }
}

#[test]
fn drips_are_framed_like_the_body() {
    let drip = |rule: &str| {
        compiled(&format!(
            "{rule}\nthen = \"drip\"\ndrip = {{ item = {{ event = [\": x\"] }}, every_ms = 20 }}"
        ))
        .drip
    };
    let every = Duration::from_millis(20);
    assert_eq!(drip("stream = []"), Some(("5\r\n: x\n\n\r\n".into(), every)));
    assert_eq!(drip("stream = []\neol = \"cr\"\nframing = \"close\""), Some((": x\r\r".into(), every)));
    assert_eq!(drip("body = []"), Some((": x\n\n".into(), every)));
    assert_eq!(try_compiled("then = \"drip\""), Err(CompileError::Drip));
    let alone = "drip = { item = { text = \"x\" }, every_ms = 20 }";
    assert_eq!(try_compiled(alone), Err(CompileError::Drip));
}

#[test]
fn wire_replaces_the_whole_reply() {
    let raw = compiled(
        "status = 500\ninterim = [100]\nwire = [{ text = \"HTTP/1.1 200 OK\\r\\nbad\\r\\n\\r\\n\" }, { result_json = {} }, { text = \"!\" }]",
    );
    assert_eq!(text(&raw), "HTTP/1.1 200 OK\r\nbad\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}!");
    assert_eq!((raw.head.end, raw.suffix.clone()), (24, raw.bytes.len() - 1..raw.bytes.len()));
    let garbage = compiled("wire = [{ hex = \"00ff\" }]");
    assert_eq!((garbage.head.clone(), garbage.body.clone()), (0..2, 2..2));
    assert!(compiled("wire = []").bytes.is_empty());
}
