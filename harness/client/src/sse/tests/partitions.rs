//! The same bytes have the same outcome in every partition, and it is the one of a decoder too simple to be
//! wrong.

use proptest::prelude::*;

use super::*;

/// Decodes a whole stream byte by byte, with everything that came kept.
fn model(stream: &[u8], limits: SseLimits) -> Outcome {
    let mut events = Vec::new();
    let mut line = Vec::new();
    let mut data: Option<String> = None;
    let mut consumed = 0;
    let mut after_cr = false;
    let mut mark = if stream.starts_with(&BOM) { BOM.len() } else { 0 };
    let fail = |events: &Vec<_>, kind, consumed: usize| Outcome {
        events: events.clone(),
        error: Some(kind),
        consumed: consumed as u64,
    };
    for &byte in stream {
        if consumed == limits.max_response_bytes {
            return fail(&events, "response_byte_limit", consumed);
        }
        consumed += 1;
        if mark > 0 {
            mark -= 1;
            continue;
        }
        if std::mem::take(&mut after_cr) && byte == b'\n' {
            continue;
        }
        if byte != b'\n' && byte != b'\r' {
            line.push(byte);
            if line.len() > limits.max_line_bytes {
                return fail(&events, "sse_line_limit", consumed);
            }
            continue;
        }
        after_cr = byte == b'\r';
        let Ok(text) = String::from_utf8(std::mem::take(&mut line)) else {
            return fail(&events, "invalid_sse_utf8", consumed);
        };
        if text.is_empty() {
            events.extend(data.take().map(|data| (data, consumed as u64)));
            continue;
        }
        let (name, value) = text.split_once(':').unwrap_or((&text, ""));
        if name != "data" {
            continue;
        }
        let value = value.strip_prefix(' ').unwrap_or(value);
        let joined = data.take().map_or_else(|| value.to_owned(), |data| format!("{data}\n{value}"));
        if joined.len() > limits.max_event_bytes {
            return fail(&events, "sse_event_limit", consumed);
        }
        data = Some(joined);
    }
    let cut = !line.is_empty() || data.is_some();
    Outcome { events, error: cut.then_some("incomplete_sse"), consumed: consumed as u64 }
}

/// Streams in which everything that the grammar knows is likely.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(vec![
        &b"data"[..],
        b"data:",
        b"data: ",
        b"data: x",
        b":",
        b" ",
        b"id: 1",
        b"event",
        b"\n",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\r\n\r\n",
        b"x",
        b"yyyyyyyyyy",
        "雪".as_bytes(),
        "😀".as_bytes(),
        &BOM,
        b"\xEF",
        b"\xBB",
    ]);
    // Bytes that end a stream early are rare, or nothing would come after them.
    let token = prop_oneof![200 => token, 1 => Just(&b"\xFF"[..]), 1 => Just(&b"\0"[..])];
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

fn limits() -> impl Strategy<Value = SseLimits> {
    let wide = Just(SseLimits::default());
    let narrow = (3_usize..40, 1_usize..40, 1_usize..300).prop_map(
        |(max_line_bytes, max_event_bytes, max_response_bytes)| SseLimits {
            max_line_bytes,
            max_event_bytes,
            max_response_bytes,
        },
    );
    prop_oneof![wide, narrow]
}

/// Cuts a stream at the given places.
fn parts<'s>(stream: &'s [u8], cuts: &[prop::sample::Index]) -> Vec<&'s [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    places.sort_unstable();
    let mut rest = stream;
    let mut taken = 0;
    let mut parts = Vec::new();
    for place in places {
        let (part, after) = rest.split_at(place - taken);
        parts.push(part);
        rest = after;
        taken = place;
    }
    parts.push(rest);
    parts
}

fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..12)
}

/// An event's data: lines without line ends.
fn event_lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ :a-z雪😀\\x00\"{}]{0,12}", 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_partition_has_the_outcome_of_the_model(stream in stream(), limits in limits(), cuts in cuts()) {
        let expected = model(&stream, limits);
        prop_assert_eq!(&decode_whole(&stream, limits), &expected);
        prop_assert_eq!(&decode(parts(&stream, &cuts), limits), &expected);
        prop_assert_eq!(&decode(stream.chunks(1), limits), &expected);
    }

    /// The narrowest limits too, where a byte order mark that is none meets the line limit.
    #[test]
    fn the_tightest_limits_do_not_depend_on_the_partition(
        stream in stream(),
        max_line_bytes in 1_usize..4,
        max_response_bytes in 1_usize..30,
        cuts in cuts(),
    ) {
        let limits = SseLimits { max_line_bytes, max_event_bytes: 3, max_response_bytes };
        let expected = decode_whole(&stream, limits);
        prop_assert_eq!(&decode(parts(&stream, &cuts), limits), &expected);
        prop_assert_eq!(&decode(stream.chunks(1), limits), &expected);
    }

    /// Encode, then decode: any events, with any line end after each line, any comments and fields between.
    #[test]
    fn events_survive_any_line_ends_and_any_partition(
        events in prop::collection::vec(event_lines(), 0..6),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r", "\r\n"]), 1..8),
        noise in prop::collection::vec(prop::sample::select(vec!["", ": c", "id: 7", "event: x", "retry: 1", "x"]), 1..6),
        mark in any::<bool>(),
        cuts in cuts(),
    ) {
        let mut ends = ends.iter().cycle();
        let mut noise = noise.iter().cycle();
        let mut text = String::from(if mark { "\u{feff}" } else { "" });
        let mut push = |line: &str| {
            // A CR before an empty line that LF ends would be one line end.
            let end = ends.next().copied().unwrap_or("\n");
            let end = if line.is_empty() && end == "\n" && text.ends_with('\r') { "\r\n" } else { end };
            text.push_str(line);
            text.push_str(end);
        };
        for lines in &events {
            for line in lines {
                push(&format!("data: {line}"));
                match noise.next() {
                    Some(line) if !line.is_empty() => push(line),
                    _ => {}
                }
            }
            push("");
        }
        let outcome = decode(parts(text.as_bytes(), &cuts), SseLimits::default());
        let decoded: Vec<_> = outcome.events.into_iter().map(|(data, _)| data).collect();
        let sent: Vec<_> = events.iter().map(|lines| lines.join("\n")).collect();
        prop_assert_eq!(decoded, sent);
        prop_assert_eq!(outcome.error, None);
    }
}
