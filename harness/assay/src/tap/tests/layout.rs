//! Layouts are the same however the bytes come, and total over any bytes.

use super::{chunked, length};
use crate::case::reply::Framing;
use crate::layout::Layout;
use crate::tap::stream::{events, marks_of};
use proptest::prelude::*;

#[test]
fn interim_replies_come_before_the_head() {
    let raw = format!("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n{}", length());
    let layout = Layout::of(raw.as_bytes(), "POST");
    assert_eq!((layout.status, layout.framing), (200, Framing::Length));
    assert_eq!(layout.head.start, raw.len() - length().len());
}

#[test]
fn a_body_may_end_with_the_connection_or_not_be_there() {
    let close = b"HTTP/1.1 200 OK\r\n\r\nall of it";
    let layout = Layout::of(close, "GET");
    assert_eq!((layout.framing, layout.content.as_slice()), (Framing::Close, &b"all of it"[..]));
    for (raw, method) in [(&b"HTTP/1.1 204 No Content\r\n\r\n"[..], "POST"), (close, "HEAD")] {
        assert_eq!(Layout::new(method).read(raw), memchr::memmem::find(raw, b"\r\n\r\n").map(|end| end + 4));
    }
}

#[test]
fn the_lf_of_a_crlf_stream_need_not_be_read() {
    let found = events(b"event: message\r\ndata: {}\r\n\r\ndata: half\r\n");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].end, found[0].free, found[0].data.as_slice()), (28, 1, &b"{}"[..]));
}

proptest! {
    #[test]
    fn a_layout_does_not_depend_on_how_bytes_come(cuts in proptest::collection::vec(0_usize..400, 0..6)) {
        for answer in [chunked(), length()] {
            let raw = answer.as_bytes();
            let mut layout = Layout::new("POST");
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % raw.len()).collect();
            ends.sort_unstable();
            for end in ends {
                prop_assert_eq!(layout.read(&raw[..end]), None);
            }
            prop_assert_eq!(layout.read(raw), Some(raw.len()));
            let whole = Layout::of(raw, "POST");
            prop_assert_eq!(&layout.content, &whole.content);
            let id = serde_json::json!(7);
            prop_assert_eq!(marks_of(raw, &layout, Some(&id)), marks_of(raw, &whole, Some(&id)));
        }
    }

    #[test]
    fn any_bytes_have_a_layout(raw in proptest::collection::vec(any::<u8>(), 0..300)) {
        let answer = [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", raw.as_slice()].concat();
        for raw in [raw, answer] {
            let layout = Layout::of(&raw, "POST");
            for mark in marks_of(&raw, &layout, None) {
                prop_assert!(mark.at <= raw.len());
            }
        }
    }
}
