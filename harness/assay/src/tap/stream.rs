//! What lies in the content of an answer: events, the terminal message, and the marks they make on the wire.

use crate::layout::Layout;
use crate::peer::compile::{marks, sse};
use crate::timeline::Mark;
use serde_json::Value;

/// An event of a stream that has data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// Its joined data.
    pub(crate) data: Vec<u8>,
    /// Where the event ends in the content, its blank line included.
    pub(crate) end: usize,
    /// Bytes of the blank line's end that a client need not read to have the event: the LF of a CR LF.
    pub(crate) free: usize,
}

/// The whole events of a stream.
pub(crate) fn events(content: &[u8]) -> Vec<Event> {
    let unfinished = |data: &sse::Data| data.end >= content.len();
    sse::events(content)
        .into_iter()
        .filter(|data| !unfinished(data))
        .map(|data| {
            let (len, free) = match content.get(data.end..) {
                Some([b'\r', b'\n', ..]) => (2, 1),
                _ => (1, 0),
            };
            Event { data: data.joined, end: data.end + len, free }
        })
        .collect()
}

/// Where the message with the answer ends in the content, and how many bytes of that need not be read. A body that
/// is no stream ends with it.
pub(crate) fn terminal(layout: &Layout, id: Option<&Value>) -> Option<(usize, usize)> {
    if !layout.is_stream() {
        return Some((layout.content.len(), 0)).filter(|(len, _)| *len > 0);
    }
    let answers = |event: &Event| {
        let Ok(Value::Object(message)) = serde_json::from_slice(&event.data) else { return false };
        let ends = message.contains_key("result") || message.contains_key("error");
        ends && id.is_some() && message.get("id") == id
    };
    events(&layout.content).into_iter().find(answers).map(|event| (event.end, event.free))
}

/// All marks of an answer's bytes.
pub(crate) fn marks_of(raw: &[u8], layout: &Layout, id: Option<&Value>) -> Vec<Mark> {
    let mut found = Vec::new();
    let mut mark = |name: String, at: usize| found.push(Mark { name, at });
    mark("head-end".to_owned(), layout.head.end);
    if layout.is_stream() {
        for (index, event) in events(&layout.content).into_iter().enumerate() {
            mark(format!("event:{}", index + 1), layout.on_wire(event.end));
        }
    }
    if let Some((at, _)) = terminal(layout, id) {
        mark("terminal".to_owned(), layout.on_wire(at));
    }
    for (start, digits, end) in &layout.size_lines {
        marks::size_line(*start, *digits, *end, &mut found);
    }
    let mut inside = Vec::new();
    marks::inside(&layout.content, &mut inside);
    found.extend(inside.into_iter().map(|inner| Mark { at: layout.on_wire(inner.at), name: inner.name }));
    found.retain(|mark| mark.at <= raw.len());
    marks::tidy(found)
}
