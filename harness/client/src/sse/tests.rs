use crate::json::JsonLimits;
use crate::jsonrpc::{Answer, Incoming};
use crate::policy::ResponseId;

use super::*;

mod grammar;
mod partitions;

/// All that a stream leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    /// Each event's data, and the bytes consumed up to its end.
    events: Vec<(String, u64)>,
    /// The first error, of a step or of the end.
    error: Option<&'static str>,
    consumed: u64,
}

const LIMITS: SseLimits =
    SseLimits { max_line_bytes: 256, max_event_bytes: 128, max_response_bytes: 1_048_576 };

/// Decodes the parts of a stream one after the other, to its end.
fn decode<'p>(parts: impl IntoIterator<Item = &'p [u8]>, limits: SseLimits) -> Outcome {
    let mut decoder = Decoder::new(limits);
    let mut events = Vec::new();
    for part in parts {
        let mut rest = part;
        loop {
            let before = rest.len();
            let consumed = decoder.consumed();
            let step = decoder.next(&mut rest).map(|event| event.map(|event| event.data.to_owned()));
            assert_eq!(decoder.consumed() - consumed, (before - rest.len()) as u64);
            match step {
                Ok(Some(data)) => events.push((data, decoder.consumed())),
                Ok(None) => break assert!(rest.is_empty()),
                Err(error) => {
                    assert_eq!(decoder.next(&mut rest), Err(error.clone()), "an error is final");
                    return Outcome { events, error: Some(error.kind()), consumed: decoder.consumed() };
                }
            }
        }
    }
    let error = decoder.finish().err().map(|error| error.kind());
    Outcome { events, error, consumed: decoder.consumed() }
}

fn decode_whole(stream: &[u8], limits: SseLimits) -> Outcome {
    decode([stream], limits)
}

/// The data of all events, for a stream that ends well.
fn data(stream: &[u8]) -> Vec<String> {
    let outcome = decode_whole(stream, SseLimits::default());
    assert_eq!(outcome.error, None, "{outcome:?}");
    outcome.events.into_iter().map(|(data, _)| data).collect()
}

/// Every partition into two parts.
fn two_parts(stream: &[u8]) -> impl Iterator<Item = [&[u8]; 2]> {
    (0..=stream.len()).map(|cut| <[&[u8]; 2]>::from(stream.split_at(cut)))
}

/// The first event of a stream that is held open, or the error before it.
fn first(stream: &[u8], limits: SseLimits) -> Result<String, &'static str> {
    let mut results = Vec::new();
    for size in [stream.len().max(1), 3, 1] {
        let mut decoder = Decoder::new(limits);
        let found = stream.chunks(size).find_map(|mut part| match decoder.next(&mut part) {
            Ok(event) => event.map(|event| Ok(event.data.to_owned())),
            Err(error) => Some(Err(error.kind())),
        });
        results.push(found.unwrap_or(Err("nothing")));
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{results:?}");
    results.remove(0)
}

fn event(data: &str) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

fn cat(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Row EX-SSE-01.
#[test]
fn nothing_after_the_terminal_event_matters() {
    let long = event(&"x".repeat(129));
    let colons = cat(&[&b":".repeat(257), b"\n\n"]);
    for suffix in [&b"\xFF\n"[..], &colons, &long, b"data: malformed\n\n"] {
        let stream = cat(&[&event("雪"), suffix]);
        assert_eq!(first(&stream, LIMITS), Ok("雪".to_owned()));
        let mut decoder = Decoder::new(LIMITS);
        let mut rest = &stream[..];
        decoder.next(&mut rest).unwrap();
        assert_eq!(rest, suffix, "the suffix is the caller's");
    }
}

/// Rows EX-SSE-02, EX-SSE-03.
#[test]
fn the_response_budget_goes_through_the_terminal_delimiter() {
    let prefix = cat(&[b":metadata\n", &event("雪")]);
    let stream = cat(&[&prefix, &b":".repeat(1_024)]);
    let with = |max_response_bytes| first(&stream, SseLimits { max_response_bytes, ..SseLimits::default() });
    assert_eq!(with(prefix.len()), Ok("雪".to_owned()));
    assert_eq!(with(prefix.len() - 1), Err("response_byte_limit"));
}

/// Row EX-SSE-27.
#[test]
fn with_crlf_the_last_lf_is_already_suffix() {
    for (stream, needed) in [
        (&b"data: x\r\n\r\n"[..], 10),
        (b"data: x\n\n", 9),
        (b"data: x\r\r", 9),
        (b"data: x\r\n\n", 10),
        (b"data: x\n\r\n", 9),
    ] {
        let with =
            |max_response_bytes| first(stream, SseLimits { max_response_bytes, ..SseLimits::default() });
        assert_eq!(with(needed), Ok("x".to_owned()), "{stream:?}");
        assert_eq!(with(needed - 1), Err("response_byte_limit"), "{stream:?}");
    }
}

/// Row EX-SSE-29.
#[test]
fn comments_use_up_the_response_budget() {
    let terminal = event("x");
    let room = 1_048_576 - terminal.len();
    let mut stream = b":c\n".repeat(room / 3);
    stream.extend(b"\n".repeat(room % 3));
    stream.extend(&terminal);
    assert_eq!(first(&stream, SseLimits::default()), Ok("x".to_owned()));
    stream.insert(0, b'\n');
    assert_eq!(first(&stream, SseLimits::default()), Err("response_byte_limit"));
}

/// Row EX-SSE-04.
#[test]
fn faults_before_the_terminal_event_count() {
    let terminal = event("雪");
    let before = |prefix: &[u8]| first(&cat(&[prefix, &terminal]), LIMITS);
    assert_eq!(before(b"\xFF\n"), Err("invalid_sse_utf8"));
    assert_eq!(before(&cat(&[&b":".repeat(257), b"\n"])), Err("sse_line_limit"));
    assert_eq!(before(&event(&"x".repeat(129))), Err("sse_event_limit"));
    let after_progress = decode_whole(&cat(&[&event("progress"), b"\xFF\n", &terminal]), LIMITS);
    assert_eq!(after_progress.events, [("progress".to_owned(), 16)]);
    assert_eq!((after_progress.error, after_progress.consumed), (Some("invalid_sse_utf8"), 18));
}

/// Row EX-SSE-05.
#[test]
fn a_terminal_error_wins_over_what_follows_it() {
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"private"}}"#;
    let stream = cat(&[&event(error), b"\xFF\n"]);
    let data = first(&stream, LIMITS).unwrap();
    let limits = JsonLimits { depth: 9, nodes: 99 };
    let response = Incoming::decode_text(&data, limits).unwrap().into_response().unwrap();
    let answer = response.answer_to(1, ResponseId::Exact).unwrap();
    assert!(matches!(answer, Answer::Error { code: -32603 }));
}

/// Row EX-SSE-06.
#[test]
fn data_lines_are_joined_in_every_partition() {
    let stream = "data: {\"text\":\r\ndata: \"雪\"}\r\n\r\n".as_bytes();
    for parts in two_parts(stream) {
        assert_eq!(decode(parts, LIMITS).events, [("{\"text\":\n\"雪\"}".to_owned(), 31)]);
    }
    assert_eq!(first(stream, LIMITS), Ok("{\"text\":\n\"雪\"}".to_owned()));
}

/// Row EX-SSE-07.
#[test]
fn line_ends_may_be_mixed_in_every_partition() {
    let stream = "\u{feff}: hi\r\nid: ignored\ndata: 雪\rdata: two\r\n\r\n".as_bytes();
    let expected = decode_whole(stream, LIMITS);
    assert_eq!(expected.events, [("雪\ntwo".to_owned(), stream.len() as u64 - 1)]);
    assert_eq!(expected.error, None);
    for parts in two_parts(stream) {
        assert_eq!(decode(parts, LIMITS), expected, "{parts:?}");
    }
}

/// Row EX-SSE-08.
#[test]
fn an_event_is_yielded_before_its_suffix_is_looked_at() {
    let terminal = b"data: x\r\n\r\n";
    for suffix in [&b""[..], b"\xFF\n", &b":".repeat(300), b"data: y\n\n"] {
        let stream = cat(&[terminal, suffix]);
        for parts in two_parts(&stream) {
            let outcome = decode(parts, LIMITS);
            assert_eq!(outcome.events.first(), Some(&("x".to_owned(), terminal.len() as u64 - 1)));
        }
    }
}

/// Row EX-SSE-09.
#[test]
fn each_step_takes_one_event_and_leaves_the_rest() {
    let mut decoder = Decoder::new(LIMITS);
    let mut rest: &[u8] = b"data: first\r\n\r\ndata: second\r\n\r\n\xFF\n";
    assert_eq!(decoder.next(&mut rest).map(|event| event.unwrap().data), Ok("first"));
    assert_eq!(rest, b"\ndata: second\r\n\r\n\xFF\n");
    assert_eq!(decoder.next(&mut rest).map(|event| event.unwrap().data), Ok("second"));
    assert_eq!(decoder.next(&mut rest), Err(Error::InvalidSseUtf8));
}

/// Rows EX-SSE-10, EX-SSE-11, EX-SSE-12.
#[test]
fn line_and_event_bounds_are_inclusive() {
    let body = r#"{"text":"x"}"#;
    let with = |max_event_bytes, max_line_bytes| {
        first(&event(body), SseLimits { max_event_bytes, max_line_bytes, ..SseLimits::default() })
    };
    assert_eq!(with(body.len(), body.len() + 6), Ok(body.to_owned()));
    assert_eq!(with(body.len() - 1, body.len() + 6), Err("sse_event_limit"));
    assert_eq!(with(body.len(), body.len() + 5), Err("sse_line_limit"));
}

/// Row EX-LIM-01.
#[test]
fn bounds_are_bytes_and_not_characters() {
    let with = |max_event_bytes, max_line_bytes| {
        first(&event("雪"), SseLimits { max_event_bytes, max_line_bytes, ..SseLimits::default() })
    };
    assert_eq!(with(3, 9), Ok("雪".to_owned()));
    assert_eq!(with(2, 9), Err("sse_event_limit"));
    assert_eq!(with(3, 8), Err("sse_line_limit"));
}

/// Row EX-SSE-13.
#[test]
fn the_newlines_between_data_lines_count() {
    let with = |max_event_bytes| {
        first(b"data: 1\ndata: 2\n\n", SseLimits { max_event_bytes, ..SseLimits::default() })
    };
    assert_eq!(with(3), Ok("1\n2".to_owned()));
    assert_eq!(with(2), Err("sse_event_limit"));
    // Empty lines are joined by a newline as well.
    let empty = SseLimits { max_event_bytes: 1, ..SseLimits::default() };
    assert_eq!(first(b"data\ndata\n\n", empty), Ok("\n".to_owned()));
    assert_eq!(first(b"data\ndata\ndata\n\n", empty), Err("sse_event_limit"));
}

/// Row EX-SSE-14.
#[test]
fn a_line_fails_while_it_is_still_partial() {
    let mut decoder = Decoder::new(SseLimits { max_line_bytes: 9, ..LIMITS });
    assert_eq!(decoder.next(&mut &b"data: 123"[..]), Ok(None));
    let mut rest: &[u8] = b"45";
    assert_eq!(decoder.next(&mut rest), Err(Error::SseLineLimit { limit: 9 }));
    assert_eq!((rest, decoder.consumed()), (&b"5"[..], 10));
}

/// Row EX-SSE-15.
#[test]
fn every_line_is_utf8() {
    for line in
        [&b"data: \xFF\n"[..], b": \xFF\n", b"x\xFF\n", b"id: \xC3\n", b"data: \xED\xA0\x80\n", b"\xFF\r"]
    {
        assert_eq!(first(line, LIMITS), Err("invalid_sse_utf8"), "{line:?}");
    }
}

/// Rows EX-SSE-16, EX-SSE-18.
#[test]
fn an_event_that_the_end_cuts_off_is_incomplete() {
    for stream in [&b"data: {"[..], b"data: {}\n", b"data\r", b"x", b"\xEF", b"data: {}\nid: 1\n"] {
        let outcome = decode_whole(stream, LIMITS);
        assert_eq!((outcome.events, outcome.error), (vec![], Some("incomplete_sse")), "{stream:?}");
    }
    for stream in [&b""[..], b"data: {}\n\n", b"id: 1\n", b": hi\r", b"\xEF\xBB\xBF"] {
        assert_eq!(decode_whole(stream, LIMITS).error, None, "{stream:?}");
    }
}

/// Row EX-SSE-28.
#[test]
fn a_carried_partial_is_a_small_copy() {
    let mut backing = event(&"x".repeat(99_000));
    backing.extend_from_slice(b"data: partial");
    let mut decoder = Decoder::new(SseLimits { max_line_bytes: 100_000, max_event_bytes: 100_000, ..LIMITS });
    let mut rest = &backing[..];
    while decoder.next(&mut rest).unwrap().is_some() {}
    drop(backing);
    assert_eq!(decoder.line, b"data: partial");
    assert!(decoder.line.capacity() < 64 && decoder.data.text.capacity() == 0);
}
