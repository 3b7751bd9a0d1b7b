//! Neither a chunk plan nor a slice plan changes the content, and every offset lies where its bytes are.

use super::{compiled, text};
use proptest::prelude::*;

const ITEMS: &str = "stream = [{ text = \": é\\n\\n\" }, { result = \"snow 雪 {{arg.text}}\" }, { hold = \"h\" }, \
                     { event = [\"data: x\", \"id: 1\"], mark = \"mine\" }]";

/// Takes the chunked coding off, strictly.
fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    loop {
        let Ok(httparse::Status::Complete((used, len))) = httparse::parse_chunk_size(bytes) else {
            panic!("no chunk size line: {bytes:?}")
        };
        let len = usize::try_from(len).expect("small");
        let (data, rest) = bytes[used..].split_at(len);
        content.extend_from_slice(data);
        bytes = rest.strip_prefix(b"\r\n").expect("CR LF");
        if len == 0 {
            assert!(bytes.is_empty());
            return content;
        }
    }
}

proptest! {
    #[test]
    fn plans_change_no_content(
        eol in prop::sample::select(vec!["lf", "crlf", "cr"]),
        chunks in "whole|every-byte|every-[1-9]|at-marks|seeded-[0-9]|each-cut@[1-9]|at:2,[3-9]",
        slice in "whole|every-byte|every-[1-9]|at-marks|seeded-[0-9]|each-cut@[1-9]",
        region in prop::sample::select(vec!["reply", "head", "body", "suffix"]),
    ) {
        let rule = format!("{ITEMS}\neol = \"{eol}\"\n");
        let plain = compiled(&format!("{rule}framing = \"close\""));
        let plain_body = &text(&plain)[plain.body.clone()];
        let cut = compiled(&format!("{rule}chunks = \"{chunks}\"\nslice = \"{slice}\"\nslice_over = \"{region}\""));
        prop_assert_eq!(unchunk(&cut.bytes[cut.body.clone()]), plain_body.as_bytes());
        prop_assert!(cut.cuts.is_sorted_by(|a, b| a < b));
        prop_assert!(cut.cuts.iter().all(|at| (1..cut.bytes.len()).contains(at)));
        prop_assert!(cut.marks.iter().all(|mark| mark.at <= cut.bytes.len()));
        prop_assert!(cut.stops.iter().all(|stop| stop.at >= cut.suffix.start));
        // What stands right before a mark is the same on every layer, and so is the number of marks of content.
        for name in ["terminal", "mine", "event:1", "event:2", "inside-utf8", "between-cr-lf"] {
            let before = |reply: &super::Compiled| -> Vec<u8> {
                reply.marks.iter().filter(|mark| mark.name == name).map(|mark| reply.bytes[mark.at - 1]).collect()
            };
            prop_assert_eq!(before(&plain), before(&cut), "{}", name);
        }
    }
}
