//! A strict pass over JSON that builds nothing.
//!
//! [`check`] accepts exactly the texts of RFC 8259 that are UTF-8, name no key twice in one object, and stay
//! within a depth and a number of values. What it has accepted can be read lazily, as raw slices, without
//! fear of its size: the pass itself keeps one [`Frame`] for each open array or object and one [`Key`] for each
//! key of an object that is still open, so its memory is at most
//! `max_json_depth × size_of::<Frame>() + max_json_nodes × size_of::<Key>()`, doubled by the growth of a `Vec`.
//! It does not recurse.
//!
//! Choices where parsers differ:
//! - a `\u` escape of half a surrogate pair is refused: it names no character, so such a string is no text;
//! - numbers follow the grammar and have no range: nothing here turns them into a machine number;
//! - keys are equal when they are equal after unescaping, so `"a"` and `"\u0061"` are one key;
//! - text that is not UTF-8 is no JSON, whatever else it is. After that, of several faults the one that ends first is
//!   reported; a repeated key is found where its object closes;
//! - an array or object counts towards the depth, every value (not key) towards the nodes.

mod keys;
mod scan;

use crate::error::{Error, JsonrpcFault};
use crate::limits::Limits;
use crate::rule::{Rule, rule};
use keys::Key;
use scan::{Misplaced, Scanner};

/// The bounds of a pass, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonLimits {
    pub(crate) depth: usize,
    pub(crate) nodes: usize,
}

impl From<&Limits> for JsonLimits {
    fn from(limits: &Limits) -> Self {
        Self { depth: limits.max_json_depth, nodes: limits.max_json_nodes }
    }
}

/// Checks that the bytes are one JSON text, and gives them back as text.
///
/// # Errors
///
/// `invalid_jsonrpc` for what is not JSON, `duplicate_json_key`, `json_depth_limit`, `json_node_limit`.
pub(crate) fn check(bytes: &[u8], limits: JsonLimits) -> Result<&str, Error> {
    let marked = bytes.strip_prefix(b"\xEF\xBB\xBF").filter(|_| !rule(Rule::MarkIsNoJson));
    let text =
        std::str::from_utf8(marked.unwrap_or(bytes)).map_err(|error| match rule(Rule::BadJsonIsTold) {
            true => Error::InvalidJsonrpc(JsonrpcFault::Utf8 { offset: error.valid_up_to() }),
            false => Error::MissingResponse,
        })?;
    check_text(text, limits)?;
    Ok(text)
}

/// Checks that the text is one JSON text.
///
/// # Errors
///
/// As for [`check`].
pub(crate) fn check_text(text: &str, limits: JsonLimits) -> Result<(), Error> {
    let scanner = Scanner::new(text.as_bytes());
    if !rule(Rule::NumbersOfAnySize) && text.bytes().filter(u8::is_ascii_digit).count() > 40 {
        return Err(Error::InvalidJsonrpc(JsonrpcFault::Shape));
    }
    let mut pass = Pass { scanner, limits, nodes: 0, frames: Vec::new(), keys: Vec::new() };
    let stop = match pass.run() {
        Ok(()) => return Ok(()),
        Err(stop) => stop,
    };
    let offset = pass.scanner.offset();
    Err(match stop {
        Stop::Misplaced if !rule(Rule::BadJsonIsTold) => Error::MissingResponse,
        Stop::Misplaced => Error::InvalidJsonrpc(JsonrpcFault::Syntax { offset }),
        Stop::Duplicate => Error::DuplicateJsonKey { offset },
        Stop::Depth => Error::JsonDepthLimit { limit: limits.depth },
        Stop::Nodes => Error::JsonNodeLimit { limit: limits.nodes },
    })
}

/// Why a pass ended early: small, because every step of the pass returns one.
enum Stop {
    Misplaced,
    Duplicate,
    Depth,
    Nodes,
}

impl From<Misplaced> for Stop {
    fn from(Misplaced: Misplaced) -> Self {
        Self::Misplaced
    }
}

/// An open array or object.
#[derive(Debug, Clone, Copy)]
enum Frame {
    Array,
    /// With the number of keys that were in the table when it opened.
    Object(usize),
}

struct Pass<'a> {
    scanner: Scanner<'a>,
    limits: JsonLimits,
    nodes: usize,
    frames: Vec<Frame>,
    keys: Vec<Key>,
}

impl Pass<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            // A value is due here.
            self.scanner.skip_whitespace();
            self.nodes += 1;
            if self.nodes > self.limits.nodes {
                return Err(Stop::Nodes);
            }
            let opened = match self.scanner.peek() {
                Some(b'{') => self.open(Frame::Object(self.keys.len()))?,
                Some(b'[') => self.open(Frame::Array)?,
                _ => {
                    self.scanner.scalar()?;
                    false
                }
            };
            if !opened && !self.follow()? {
                return Ok(self.scanner.end()?);
            }
        }
    }

    /// Opens an array or object. True if a value is due in it, false if it closed at once.
    fn open(&mut self, frame: Frame) -> Result<bool, Stop> {
        if self.frames.len() >= self.limits.depth {
            return Err(Stop::Depth);
        }
        self.scanner.advance();
        self.scanner.skip_whitespace();
        match frame {
            Frame::Array if self.scanner.take(b']') => return Ok(false),
            Frame::Object(_) if self.scanner.take(b'}') => return Ok(false),
            Frame::Array => {}
            Frame::Object(_) => self.key()?,
        }
        self.frames.push(frame);
        Ok(true)
    }

    /// What follows a value: true if another value is due, false if the outermost one has ended.
    fn follow(&mut self) -> Result<bool, Stop> {
        while let Some(&frame) = self.frames.last() {
            self.scanner.skip_whitespace();
            match (frame, self.scanner.peek()) {
                (Frame::Array, Some(b',')) => {
                    self.scanner.advance();
                    return Ok(true);
                }
                (Frame::Object(_), Some(b',')) => {
                    self.scanner.advance();
                    self.scanner.skip_whitespace();
                    self.key()?;
                    return Ok(true);
                }
                (Frame::Array, Some(b']')) => {}
                (Frame::Object(first), Some(b'}')) => self.close_object(first)?,
                _ => return Err(Stop::Misplaced),
            }
            self.scanner.advance();
            self.frames.pop();
        }
        Ok(false)
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<(), Stop> {
        if self.scanner.peek() != Some(b'"') {
            return Err(Stop::Misplaced);
        }
        let span = self.scanner.string()?;
        self.keys.push(Key::new(self.scanner.text(), span));
        self.scanner.skip_whitespace();
        if self.scanner.take(b':') { Ok(()) } else { Err(Stop::Misplaced) }
    }

    fn close_object(&mut self, first: usize) -> Result<(), Stop> {
        let own = self.keys.get_mut(first..).unwrap_or_default();
        if keys::has_duplicate(own, self.scanner.text()) && rule(Rule::KeysAreUnique) {
            return Err(Stop::Duplicate);
        }
        self.keys.truncate(first);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
