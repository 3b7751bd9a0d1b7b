//! The units of an SSE body that limits bound, measured on the encoded bytes.

use std::ops::Range;

/// The lines of a body without their ends; LF, CR and CR LF end a line.
pub(crate) fn lines(body: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = body.get(at..).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        let end = match rest.get(len..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([_, ..]) => 1,
            _ => 0,
        };
        let line = at..at + len;
        at += len + end;
        Some(line)
    })
}

/// The joined data of one event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Data {
    /// The data lines, joined by LF.
    pub(crate) joined: Vec<u8>,
    /// Where the blank line that ends the event begins, or the body's end.
    pub(crate) end: usize,
}

/// The events of a body that have data, an unfinished last one included.
pub(crate) fn events(body: &[u8]) -> Vec<Data> {
    let mut found = Vec::new();
    let mut joined: Option<Vec<u8>> = None;
    let start = if body.starts_with("\u{FEFF}".as_bytes()) { 3 } else { 0 };
    for line in lines(&body[start..]) {
        let (text, end) = (&body[start..][line.clone()], start + line.start);
        if text.is_empty() {
            found.extend(joined.take().map(|joined| Data { joined, end }));
        } else if let Some(value) = data_value(text) {
            match &mut joined {
                Some(joined) => {
                    joined.push(b'\n');
                    joined.extend_from_slice(value);
                }
                None => joined = Some(value.to_vec()),
            }
        }
    }
    found.extend(joined.map(|joined| Data { joined, end: body.len() }));
    found
}

fn data_value(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

/// Whether joined data is a server's request or notification.
pub(crate) fn is_control(data: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(data).is_ok_and(|json| json.get("method").is_some())
}
