//! The line and field grammar, rule by rule: the themes of the Web Platform Tests for EventSource, in the form
//! they take for a decoder that ignores `event`, `id` and `retry`.

use super::*;

#[test]
fn one_byte_order_mark_at_the_start_is_dropped() {
    assert_eq!(data("\u{feff}data: a\n\n".as_bytes()), ["a"]);
    assert_eq!(data("\u{feff}\u{feff}data: a\n\ndata: b\n\n".as_bytes()), ["b"]);
    assert_eq!(data(b"\xEF\xBB\xBF\n\ndata: a\n\n"), ["a"]);
}

/// Row EX-SSE-24.
#[test]
fn a_later_byte_order_mark_is_part_of_its_line() {
    assert_eq!(data("data: a\n\n\u{feff}data: b\n\ndata: c\n\n".as_bytes()), ["a", "c"]);
    assert_eq!(data("\n\u{feff}data: b\n\n".as_bytes()), [""; 0]);
    assert_eq!(data("data: \u{feff}\n\n".as_bytes()), ["\u{feff}"]);
}

#[test]
fn a_byte_order_mark_is_recognised_in_every_partition_and_is_in_no_line() {
    let stream = "\u{feff}data: a\n\n".as_bytes();
    for parts in two_parts(stream) {
        assert_eq!(decode(parts, LIMITS).events, [("a".to_owned(), 12)]);
    }
    assert_eq!(first(stream, SseLimits { max_line_bytes: 7, ..LIMITS }), Ok("a".to_owned()));
}

#[test]
fn what_only_begins_like_a_byte_order_mark_is_a_line() {
    assert_eq!(first(b"\xEF\xBB\n", LIMITS), Err("invalid_sse_utf8"));
    assert_eq!(first(b"\xEFdata: a\n\n", LIMITS), Err("invalid_sse_utf8"));
    assert_eq!(data("\u{fec0}\ndata: a\n\n".as_bytes()), ["a"]);
    let narrow = SseLimits { max_line_bytes: 1, ..LIMITS };
    assert_eq!(first(b"\xEF\xBBx", narrow), Err("sse_line_limit"));
}

#[test]
fn a_line_ends_at_lf_cr_or_crlf() {
    for stream in [
        &b"data: a\ndata: b\n\ndata: c\n\n"[..],
        b"data: a\rdata: b\r\rdata: c\r\r",
        b"data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n",
        b"data: a\ndata: b\r\r\ndata: c\n\r",
        b"data: a\rdata: b\n\r\ndata: c\r\n\n",
    ] {
        assert_eq!(data(stream), ["a\nb", "c"], "{stream:?}");
    }
    // LF, then CR, are two ends.
    assert_eq!(data(b"data: a\n\rdata: b\n\n"), ["a", "b"]);
}

#[test]
fn a_cr_ends_its_line_at_once() {
    let mut decoder = Decoder::new(LIMITS);
    let mut rest: &[u8] = b"data: a\r\r";
    assert_eq!(decoder.next(&mut rest).map(|event| event.map(|event| event.data)), Ok(Some("a")));
}

#[test]
fn an_lf_after_a_cr_is_one_end_across_parts() {
    let parts = [&b"data: a\r"[..], b"\n", b"", b"data: b\r", b"", b"\n\r", b"\n"];
    let outcome = decode(parts, LIMITS);
    assert_eq!(outcome.events, [("a\nb".to_owned(), 19)]);
    assert_eq!((outcome.error, outcome.consumed), (None, 20));
}

#[test]
fn comments_are_ignored_wherever_they_stand() {
    assert_eq!(data(b":\n: x\ndata: a\n:data: b\n:\r\n: data\rdata: c\n:\n\n"), ["a\nc"]);
    assert_eq!(data(b": \0\ndata: a\n\n:\n\n"), ["a"]);
    let long = cat(&[b":", &b"x".repeat(2_000), b"\rdata: a\n\n"]);
    assert_eq!(data(&long), ["a"]);
}

/// Row EX-SSE-22.
#[test]
fn data_without_a_colon_is_an_empty_line() {
    assert_eq!(data(b"data\n\n"), [""]);
    assert_eq!(data(b"data\ndata\n\n"), ["\n"]);
    assert_eq!(data(b"data:a\ndata\ndata:b\n\n"), ["a\n\nb"]);
}

/// Row EX-SSE-21.
#[test]
fn empty_data_is_an_event() {
    assert_eq!(data(b"id: 1\ndata:\n\ndata: \n\ndata: {}\n\n"), ["", "", "{}"]);
}

/// Row EX-SSE-23.
#[test]
fn exactly_one_space_is_removed() {
    assert_eq!(
        data(b"data:x\n\ndata: x\n\ndata:  x\n\ndata:\tx\n\ndata: x \n\n"),
        ["x", "x", " x", "\tx", "x "]
    );
    assert_eq!(data("data:\u{a0}x\n\n".as_bytes()), ["\u{a0}x"]);
}

#[test]
fn field_names_are_exact() {
    for line in
        ["Data: x", "DATA: x", " data: x", "data : x", "dat: x", "datax: x", "data\0: x", "ｄata: x", "\0"]
    {
        assert_eq!(data(format!("{line}\n\n").as_bytes()), [""; 0], "{line:?}");
        assert_eq!(data(format!("{line}\ndata: y\n\n").as_bytes()), ["y"], "{line:?}");
    }
    assert_eq!(data(b"data: a:b: c\n\n"), ["a:b: c"]);
    assert_eq!(data(b"data::\n\n"), [":"]);
}

/// Row EX-SSE-20.
#[test]
fn event_id_and_retry_are_ignored() {
    for line in [
        "event: x",
        "event",
        "event:",
        "id: 9",
        "id",
        "id: a\0b",
        "retry: 5",
        "retry: 05",
        "retry: 1000x",
        "retry",
    ] {
        assert_eq!(data(format!("{line}\ndata: y\n{line}\n\n").as_bytes()), ["y"], "{line:?}");
    }
}

#[test]
fn a_block_without_data_is_no_event() {
    assert_eq!(data(b"\n\n\r\n\revent: x\n\nid: 1\n\nretry: 1\n\n:\n\ndata: a\n\n\n\n"), ["a"]);
}

#[test]
fn a_null_character_is_data() {
    assert_eq!(data(b"data: \0\n\n"), ["\0"]);
}

#[test]
fn a_character_may_be_cut_anywhere() {
    let stream = "data: é雪😀\n\n".as_bytes();
    for parts in two_parts(stream) {
        assert_eq!(decode(parts, LIMITS).events, [("é雪😀".to_owned(), 17)]);
    }
}

#[test]
fn an_event_in_the_input_is_borrowed_from_it() {
    let stream = event("borrowed");
    let mut decoder = Decoder::new(LIMITS);
    let mut rest = &stream[..];
    let data = decoder.next(&mut rest).unwrap().unwrap().data;
    assert!(stream.as_ptr_range().contains(&data.as_ptr()));
}
