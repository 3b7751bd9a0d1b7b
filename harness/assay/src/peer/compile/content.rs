//! The content layer: items to the bytes of a body, with marks and stops.

use super::item::{eol_text, one_content_key, opening, quoted, unhex};
use super::tokens::{Escape, Tokens};
use super::{CompileError, REPLY_MAX, Stop, Until};
use crate::case::reply::{Eol, Item};
use crate::revision::Revision;
use crate::timeline::Mark;
use serde_json::Value;
use std::time::Duration;

/// How messages are put into a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shape {
    /// As server-sent events with these line ends.
    Sse(Eol),
    /// As they are, one after the other.
    Plain,
}

/// A body before framing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// In the order in which they arose.
    pub(super) marks: Vec<Mark>,
    /// Ascending.
    pub(super) stops: Vec<Stop>,
    /// Where items end, strictly ascending: the default chunks.
    pub(super) ends: Vec<usize>,
    /// Where the terminal message ends.
    pub(super) terminal: Option<usize>,
    /// Bytes of the terminal message's last line end that a client need not read to have it: the LF of a CR LF.
    pub(super) terminal_free: usize,
}

/// Encodes items.
pub(super) fn encode(items: &[Item], shape: Shape, tokens: &Tokens) -> Result<Content, CompileError> {
    let mut encoder =
        Encoder { tokens, shape, out: Content::default(), events: 0, foreign: None, given: false };
    for item in items {
        encoder.item(item, &Outer::default())?;
    }
    let Encoder { mut out, foreign, .. } = encoder;
    if out.terminal.is_none()
        && let Some((at, free)) = foreign
    {
        out.terminal = Some(at);
        out.terminal_free = free;
    }
    if let Some(at) = out.terminal
        && !out.marks.iter().any(|mark| mark.name == "terminal")
    {
        out.marks.push(Mark { name: "terminal".to_owned(), at });
    }
    Ok(out)
}

struct Encoder<'a> {
    tokens: &'a Tokens,
    shape: Shape,
    out: Content,
    events: usize,
    /// The first reply whose id is not the request's: terminal if no better one comes.
    foreign: Option<(usize, usize)>,
    /// Whether the case itself has put the mark `terminal`.
    given: bool,
}

/// Modifiers of the items around an item: it has them unless it says otherwise.
#[derive(Clone, Copy, Default)]
struct Outer<'a> {
    id: Option<&'a str>,
    eol: Option<Eol>,
    n: Option<u64>,
}

impl Encoder<'_> {
    fn item(&mut self, item: &Item, outer: &Outer<'_>) -> Result<(), CompileError> {
        one_content_key(item)?;
        let outer = Outer { id: item.id.as_deref().or(outer.id), eol: item.eol.or(outer.eol), n: outer.n };
        if let Some(text) = &item.repeat {
            self.repeat(text, item, outer.n.unwrap_or(1))?;
        } else {
            for n in 1..=item.times.unwrap_or(1) {
                // Without `times` of its own, an item inside a repeated one counts along with it.
                let n = if item.times.is_some() { n } else { outer.n.unwrap_or(1) };
                self.once(item, &Outer { n: Some(n), ..outer }, n)?;
                if self.out.bytes.len() > REPLY_MAX {
                    return Err(CompileError::TooLarge);
                }
            }
        }
        if let Some(name) = &item.mark {
            self.mark(name);
            if name == "terminal" && !self.given {
                self.given = true;
                self.out.terminal = Some(self.out.bytes.len());
                self.out.terminal_free = usize::from(self.out.bytes.ends_with(b"\r\n"));
            }
        }
        Ok(())
    }

    fn once(&mut self, item: &Item, outer: &Outer<'_>, n: u64) -> Result<(), CompileError> {
        let tokens = self.tokens;
        if let Some(text) = &item.result {
            let text = quoted(&tokens.expand(text, n, Escape::None)?);
            // Clause resp.resulttype-present.
            let modern = tokens.revision >= Revision::V20260728;
            let kind = if modern { ",\"resultType\":\"complete\"" } else { "" };
            let result = format!("{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]{kind}}}");
            self.reply(("result", &result), outer, n)?;
        } else if let Some(value) = &item.result_json {
            self.reply(("result", &tokens.expand_value(value, n)?), outer, n)?;
        } else if let Some(error) = &item.error {
            let mut value = format!(
                "{{\"code\":{},\"message\":{}",
                error.code,
                quoted(&tokens.expand(&error.message, n, Escape::None)?)
            );
            if let Some(data) = &error.data {
                value.push_str(&format!(",\"data\":{}", tokens.expand_value(data, n)?));
            }
            value.push('}');
            self.reply(("error", &value), outer, n)?;
        } else if let Some(request) = &item.request {
            let id = tokens.expand(outer.id.unwrap_or(&request.id), n, Escape::Json)?;
            self.call(&id, &request.method, request.params.as_ref(), outer, n)?;
        } else if let Some(note) = &item.note {
            let id = tokens.expand(outer.id.unwrap_or(""), n, Escape::Json)?;
            self.call(&id, &note.method, note.params.as_ref(), outer, n)?;
        } else if let Some(text) = &item.json {
            self.message(&tokens.expand(text, n, Escape::Json)?, outer);
        } else if let Some(lines) = &item.event {
            let eol = eol_text(self.eol(outer));
            for line in lines {
                let line = tokens.expand(line, n, Escape::Json)?;
                self.out.bytes.extend_from_slice(line.as_bytes());
                self.out.bytes.extend_from_slice(eol);
            }
            self.out.bytes.extend_from_slice(eol);
            self.event_end();
        } else if let Some(text) = &item.text {
            let text = tokens.expand(text, n, Escape::Json)?;
            self.out.bytes.extend_from_slice(text.as_bytes());
        } else if let Some(hex) = &item.hex {
            let bytes = unhex(hex).ok_or_else(|| CompileError::Hex(hex.clone()))?;
            self.out.bytes.extend_from_slice(&bytes);
        } else if let Some(inner) = &item.bytes {
            return self.item(inner, outer);
        } else if let Some(items) = &item.items {
            return items.iter().try_for_each(|item| self.item(item, outer));
        } else if let Some(ms) = item.pause_ms {
            self.stop(Until::Passed(Duration::from_millis(ms)));
        } else if let Some(name) = &item.hold {
            self.stop(Until::Released(name.clone()));
        }
        self.item_end();
        Ok(())
    }

    fn repeat(&mut self, text: &str, item: &Item, n: u64) -> Result<(), CompileError> {
        let times = item.times.unwrap_or(1);
        let len = usize::try_from(times).ok().and_then(|times| times.checked_mul(text.len().max(1)));
        if len.is_none_or(|len| len > REPLY_MAX) {
            return Err(CompileError::TooLarge);
        }
        if text.contains("{{n}}") {
            for n in 1..=times {
                let text = self.tokens.expand(text, n, Escape::Json)?;
                self.out.bytes.extend_from_slice(text.as_bytes());
                if self.out.bytes.len() > REPLY_MAX {
                    return Err(CompileError::TooLarge);
                }
            }
        } else {
            let text = self.tokens.expand(text, n, Escape::Json)?;
            let total = usize::try_from(times).ok().and_then(|times| times.checked_mul(text.len()));
            let Some(total) = total.filter(|total| *total <= REPLY_MAX) else {
                return Err(CompileError::TooLarge);
            };
            self.out.bytes.reserve(total);
            for _ in 0..times {
                self.out.bytes.extend_from_slice(text.as_bytes());
            }
        }
        if let Some(then) = &item.then {
            let then = self.tokens.expand(then, n, Escape::Json)?;
            self.out.bytes.extend_from_slice(then.as_bytes());
        }
        self.item_end();
        Ok(())
    }

    fn reply(
        &mut self,
        (key, value): (&str, &impl std::fmt::Display),
        outer: &Outer<'_>,
        n: u64,
    ) -> Result<(), CompileError> {
        let id = self.tokens.expand(outer.id.unwrap_or("{{id}}"), n, Escape::Json)?;
        let own = id == self.tokens.id;
        self.message(&format!("{}\"{key}\":{value}}}", opening(&id)), outer);
        let end = (self.out.bytes.len(), self.free_end(outer));
        if own && !self.given && self.out.terminal.is_none() {
            (self.out.terminal, self.out.terminal_free) = (Some(end.0), end.1);
        } else if !own && self.foreign.is_none() {
            self.foreign = Some(end);
        }
        Ok(())
    }

    fn call(
        &mut self,
        id: &str,
        method: &str,
        params: Option<&Value>,
        outer: &Outer<'_>,
        n: u64,
    ) -> Result<(), CompileError> {
        let method = quoted(&self.tokens.expand(method, n, Escape::None)?);
        let params = match params {
            Some(params) => format!(",\"params\":{}", self.tokens.expand_value(params, n)?),
            None => String::new(),
        };
        self.message(&format!("{}\"method\":{method}{params}}}", opening(id)), outer);
        Ok(())
    }

    fn message(&mut self, json: &str, outer: &Outer<'_>) {
        let Shape::Sse(_) = self.shape else {
            self.out.bytes.extend_from_slice(json.as_bytes());
            return;
        };
        let eol = eol_text(self.eol(outer));
        // Line ends inside JSON text would end the event's line: each line is a data line of its own.
        for line in json.split('\n') {
            self.out.bytes.extend_from_slice(b"data: ");
            self.out.bytes.extend_from_slice(line.as_bytes());
            self.out.bytes.extend_from_slice(eol);
        }
        self.out.bytes.extend_from_slice(eol);
        self.event_end();
    }

    fn eol(&self, outer: &Outer<'_>) -> Eol {
        match (outer.eol, self.shape) {
            (Some(eol), _) | (None, Shape::Sse(eol)) => eol,
            (None, Shape::Plain) => Eol::Lf,
        }
    }

    fn free_end(&self, outer: &Outer<'_>) -> usize {
        usize::from(self.shape != Shape::Plain && self.eol(outer) == Eol::Crlf)
    }

    fn event_end(&mut self) {
        self.events += 1;
        self.mark(&format!("event:{}", self.events));
    }

    fn item_end(&mut self) {
        let end = self.out.bytes.len();
        if end > self.out.ends.last().copied().unwrap_or(0) {
            self.out.ends.push(end);
        }
    }

    fn mark(&mut self, name: &str) {
        self.out.marks.push(Mark { name: name.to_owned(), at: self.out.bytes.len() });
    }

    fn stop(&mut self, until: Until) {
        self.out.stops.push(Stop { at: self.out.bytes.len(), until });
    }
}
