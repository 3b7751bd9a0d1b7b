//! The framing layer: a body, its head, and how its end is told.

use super::content::{self, Content, Shape};
use super::tokens::{Escape, Tokens};
use super::{CompileError, Stop, marks, status};
use crate::case::reply::{Framing, Item, Rule, Then};
use crate::plan::Plan;
use crate::timeline::{Mark, Request};
use bytes::Bytes;
use std::fmt::Write as _;
use std::time::Duration;

/// A reply before its framing: what bounds measure.
pub(super) struct Parts {
    pub(super) status: u16,
    /// The final reply's header lines, framing headers included.
    pub(super) headers: Vec<(String, String)>,
    pub(super) trailers: Vec<(String, String)>,
    pub(super) content: Content,
    /// Whether the content is SSE.
    pub(super) sse: bool,
    framing: Framing,
}

/// A reply as bytes, everything mapped to them.
pub(super) struct Framed {
    pub(super) bytes: Vec<u8>,
    pub(super) marks: Vec<Mark>,
    pub(super) stops: Vec<Stop>,
    pub(super) head_end: usize,
    pub(super) terminal: Option<usize>,
    pub(super) content_len: usize,
}

impl Parts {
    pub(super) fn of(rule: &Rule, request: &Request, tokens: &Tokens) -> Result<Self, CompileError> {
        let (items, shape): (&[Item], _) = match (&rule.stream, &rule.body) {
            (Some(items), _) => (items, Shape::Sse(rule.eol)),
            (None, Some(items)) => (items, Shape::Plain),
            (None, None) => (&[], Shape::Plain),
        };
        let content = content::encode(items, shape, tokens)?;
        let sse = rule.stream.is_some();
        let has_content = sse || rule.body.is_some();
        let status =
            rule.status.unwrap_or_else(|| if has_content || expects_answer(request) { 200 } else { 202 });
        let framing = rule.framing.unwrap_or_else(|| match (sse, status::bodiless(status) && !has_content) {
            (_, true) => Framing::None,
            (true, false) => Framing::Chunked,
            (false, false) => Framing::Length,
        });

        let expand = |text: &str| tokens.expand(text, 1, Escape::None);
        let mut headers = Vec::new();
        let mut push = |name: &str, value: String| headers.push((name.to_owned(), value));
        let usual = if sse { "text/event-stream" } else { "application/json" };
        match rule.content_type.as_deref() {
            Some("") => {}
            Some(given) => push("content-type", expand(given)?),
            None if has_content => push("content-type", usual.to_owned()),
            None => {}
        }
        if let Some(session) = &rule.session {
            push("mcp-session-id", expand(session)?);
        }
        match framing {
            Framing::Length => {
                let (len, lie) = (content.bytes.len(), rule.length_lie);
                let told =
                    i64::try_from(len).ok().and_then(|len| len.checked_add(lie)).filter(|told| *told >= 0);
                push("content-length", told.ok_or(CompileError::NegativeLength { lie, len })?.to_string());
            }
            Framing::Chunked => push("transfer-encoding", "chunked".to_owned()),
            Framing::Close => push("connection", "close".to_owned()),
            Framing::None => {}
        }
        for (name, value) in &rule.headers {
            headers.push((expand(name)?, expand(value)?));
        }
        let trailers = match framing {
            Framing::Chunked => rule
                .trailers
                .iter()
                .map(|(n, v)| Ok((expand(n)?, expand(v)?)))
                .collect::<Result<_, CompileError>>()?,
            _ => Vec::new(),
        };
        Ok(Self { status, headers, trailers, content, sse, framing })
    }

    /// Content without a head, as under `wire`.
    pub(super) fn bare(content: Content) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            trailers: Vec::new(),
            content,
            sse: false,
            framing: Framing::None,
        }
    }
}

/// Whether the protocol wants more than 202 to this request.
fn expects_answer(request: &Request) -> bool {
    let has_id = request.json.as_ref().is_some_and(|json| json.get("id").is_some());
    match request.on() {
        "reply" => false,
        _ => request.method != "POST" || has_id || request.on() == "invalid",
    }
}

/// Puts a reply together.
pub(super) fn frame(rule: &Rule, parts: &Parts) -> Result<Framed, CompileError> {
    let mut head = String::new();
    for status in &rule.interim {
        // Writing to a String cannot fail.
        let _ = write!(head, "HTTP/1.1 {status} {}\r\n\r\n", status::reason(*status));
    }
    let reason = rule.reason.as_deref().unwrap_or_else(|| status::reason(parts.status));
    let _ = write!(head, "HTTP/1.1 {} {reason}\r\n", parts.status);
    for (name, value) in &parts.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");

    let content = &parts.content;
    let mut inner = content.marks.clone();
    marks::inside(&content.bytes, &mut inner);
    let mut wire = head.into_bytes();
    let head_end = wire.len();
    let mut marks = vec![Mark { name: "head-end".to_owned(), at: head_end }];
    let map = match parts.framing {
        Framing::Chunked => chunk(rule, content, &inner, &mut wire, &mut marks)?,
        Framing::Length | Framing::Close | Framing::None => {
            wire.extend_from_slice(&content.bytes);
            Map {
                chunks: vec![Chunk { data: head_end, from: 0, to: content.bytes.len(), next: wire.len() }],
                head_end,
            }
        }
    };
    if parts.framing == Framing::Chunked && ends_body(rule.then) {
        let size = wire.len();
        wire.extend_from_slice(b"0\r\n");
        marks::size_line(size, 1, wire.len(), &mut marks);
        for (name, value) in &parts.trailers {
            wire.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        wire.extend_from_slice(b"\r\n");
    }
    marks.extend(inner.into_iter().map(|mark| Mark { at: map.before(mark.at), name: mark.name }));
    let stops =
        content.stops.iter().map(|stop| Stop { at: map.after(stop.at), until: stop.until.clone() }).collect();
    let terminal = content.terminal.map(|at| map.before(at));
    let content_len = content.bytes.len();
    Ok(Framed { bytes: wire, marks: marks::tidy(marks), stops, head_end, terminal, content_len })
}

/// Takes raw content as the whole reply.
pub(super) fn raw(content: Content) -> Framed {
    let Content { bytes, mut marks, stops, terminal, .. } = content;
    marks::inside(&bytes, &mut marks);
    let head_end = memchr::memmem::find(&bytes, b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    marks.push(Mark { name: "head-end".to_owned(), at: head_end });
    let content_len = bytes.len();
    Framed { bytes, marks: marks::tidy(marks), stops, head_end, terminal, content_len }
}

/// What `drip` sends each time, framed like the body.
pub(super) fn drip(rule: &Rule, tokens: &Tokens) -> Result<Option<(Bytes, Duration)>, CompileError> {
    let drip = match (rule.then, &rule.drip) {
        (Then::Drip, Some(drip)) => drip,
        (Then::Drip, None) | (_, Some(_)) => return Err(CompileError::Drip),
        (_, None) => return Ok(None),
    };
    let shape = if rule.stream.is_some() { Shape::Sse(rule.eol) } else { Shape::Plain };
    let mut bytes = content::encode(std::slice::from_ref(&drip.item), shape, tokens)?.bytes;
    let chunked = match rule.framing {
        Some(framing) => framing == Framing::Chunked,
        None => rule.stream.is_some(),
    };
    if chunked && rule.wire.is_none() && !bytes.is_empty() {
        let extension = rule.chunk_extension.as_deref().unwrap_or_default();
        bytes = [format!("{:x}{extension}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
    }
    Ok(Some((bytes.into(), Duration::from_millis(drip.every_ms.max(1)))))
}

/// Whether this ending ends the body as framed first.
fn ends_body(then: Then) -> bool {
    match then {
        Then::Continue | Then::Fin | Then::Rst => true,
        Then::Hold | Then::Truncate | Then::TruncateRst | Then::Drip => false,
    }
}

/// Writes the chunks of a body, marking their size lines.
fn chunk(
    rule: &Rule,
    content: &Content,
    inner: &[Mark],
    wire: &mut Vec<u8>,
    marks: &mut Vec<Mark>,
) -> Result<Map, CompileError> {
    let body = &content.bytes;
    let ends = match &rule.chunks {
        None => content.ends.clone(),
        Some(text) => {
            let plan: Plan = text.parse()?;
            if let Some(reach) = plan.reach().filter(|reach| *reach >= body.len()) {
                return Err(CompileError::CutOutside { plan: text.clone(), reach, len: body.len() });
            }
            let mut sorted = inner.to_vec();
            sorted.sort_by_key(|mark| mark.at);
            plan.cuts(0..body.len(), &sorted, 0)
        }
    };
    let extension = rule.chunk_extension.as_deref().unwrap_or_default();
    let head_end = wire.len();
    let mut chunks = Vec::new();
    let mut from = 0;
    for to in ends.into_iter().chain([body.len()]) {
        if to <= from {
            continue;
        }
        let size = wire.len();
        let digits = format!("{:x}", to - from);
        wire.extend_from_slice(format!("{digits}{extension}\r\n").as_bytes());
        let data = wire.len();
        marks::size_line(size, digits.len(), data, marks);
        wire.extend_from_slice(&body[from..to]);
        wire.extend_from_slice(b"\r\n");
        chunks.push(Chunk { data, from, to, next: wire.len() });
        from = to;
    }
    Ok(Map { chunks, head_end })
}

/// Where the bytes of a body stand on the wire.
struct Map {
    /// Ascending, without gaps.
    chunks: Vec<Chunk>,
    head_end: usize,
}

struct Chunk {
    /// Where its data begins on the wire.
    data: usize,
    /// The part of the body that it holds.
    from: usize,
    to: usize,
    /// Where it ends on the wire, its line end included.
    next: usize,
}

impl Map {
    /// The offset right behind the body's first `at` bytes, before anything of the framing that follows them.
    fn before(&self, at: usize) -> usize {
        if at == 0 {
            return self.head_end;
        }
        let chunk = &self.chunks.get(self.chunks.partition_point(|chunk| chunk.to < at));
        chunk.map_or(self.head_end, |chunk| chunk.data + (at - chunk.from))
    }

    /// The same, but behind the line end of a chunk that ends there: where the writing can rest with all read.
    fn after(&self, at: usize) -> usize {
        match self.chunks.get(self.chunks.partition_point(|chunk| chunk.to < at)) {
            Some(chunk) if at > 0 && chunk.to == at => chunk.next,
            _ => self.before(at),
        }
    }
}
