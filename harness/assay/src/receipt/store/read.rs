//! Reading timelines, one variant after the other, within bounds.

use super::SCHEMA;
use super::blob;
use super::budget::{Beyond, Budget, MAX_EVENTS};
use super::line::{self, Blob, How, Json, Line, Outcome, VERBS, What};
use crate::digest::Digest;
use crate::json;
use crate::receipt::fold;
use crate::receipt::problem::Problem;
use crate::returned::Returned;
use crate::timeline::{Close, Event, EventKind, Mark, Reply, Request, Taken};
use crate::variant::{CaseId, Variant};
use bytes::Bytes;
use flate2::bufread::GzDecoder;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Read as _};
use std::sync::Arc;

/// The most bytes that the file of one case may inflate to, and its byte strings may add up to.
pub const MAX_INFLATED: u64 = 1 << 30;

/// The longest line, in bytes.
const MAX_LINE: u64 = 128 << 20;

/// The most cuts of one reply.
const MAX_CUTS: usize = 1 << 22;

/// One variant of a stored file.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVariant {
    /// The variant.
    pub variant: Variant,
    /// Its timeline.
    pub timeline: Vec<Event>,
}

/// Reads the stored timelines of one case. Holds the byte strings of the case and one timeline.
#[derive(Debug)]
pub struct TimelineReader<R: BufRead> {
    place: String,
    lines: BufReader<GzDecoder<R>>,
    number: u64,
    inflated: u64,
    /// Bytes of the line read last.
    length: usize,
    joined: u64,
    blobs: Vec<Bytes>,
    budget: Budget,
    variants: u64,
    ended: bool,
}

impl<R: BufRead> TimelineReader<R> {
    /// Opens the file of a case of a profile.
    ///
    /// # Errors
    ///
    /// When it is no gzip, or is not the file of that case.
    pub fn open(file: R, profile: &str, case: &CaseId) -> Result<Self, Problem> {
        let mut reader = Self {
            place: format!("timelines/{case}.jsonl.gz"),
            lines: BufReader::new(GzDecoder::new(file)),
            number: 0,
            inflated: 0,
            length: 0,
            joined: 0,
            blobs: Vec::new(),
            budget: Budget::default(),
            variants: 0,
            ended: false,
        };
        let expected = format!("{SCHEMA} of {case} in {profile}");
        match reader.line()? {
            Line::Case { schema, profile: p, case: c }
                if schema == SCHEMA && p == profile && c == case.as_str() =>
            {
                Ok(reader)
            }
            Line::Case { schema, profile, case } => {
                Err(reader.bad(&expected, &format!("{schema} of {case} in {profile}")))
            }
            _ => Err(reader.bad(&expected, "another line first")),
        }
    }

    /// The next variant; none after the last, when the file has ended as it should.
    ///
    /// # Errors
    ///
    /// When the file is damaged, cut short or too large. Nothing more can be read then.
    pub fn next_variant(&mut self) -> Result<Option<StoredVariant>, Problem> {
        if self.ended {
            return Ok(None);
        }
        let (id, events) = match self.line()? {
            Line::Variant { id, events } => (id, events),
            Line::End { variants } if variants == self.variants => {
                self.end()?;
                return Ok(None);
            }
            Line::End { variants } => {
                return Err(self.bad(&format!("{variants} variants"), &format!("{}", self.variants)));
            }
            _ => return Err(self.bad("a variant or the end", "another line")),
        };
        self.variants += 1;
        let variant = fold::read_id(&id).map_err(|problem| self.bad(&problem.expected, &id))?;
        if events > MAX_EVENTS {
            return Err(self.bad(&format!("at most {MAX_EVENTS} events of a variant"), &events.to_string()));
        }
        self.budget.next_timeline();
        let mut timeline = Vec::new();
        while (timeline.len() as u64) < events {
            match self.line()? {
                Line::Event { at, what } => {
                    self.take(size_of::<Event>() + self.length)?;
                    timeline.push(Event { at_us: at, kind: self.kind(what)? });
                }
                Line::Blob { parts, sha256 } => self.blob(&parts, sha256)?,
                _ => return Err(self.bad(&format!("{events} events of {id}"), "another line")),
            }
        }
        Ok(Some(StoredVariant { variant, timeline }))
    }

    fn end(&mut self) -> Result<(), Problem> {
        self.ended = true;
        let rest = self.lines.fill_buf().map(<[u8]>::len);
        match rest {
            Ok(0) => {}
            Ok(_) => return Err(self.bad("no line after the end", "more bytes")),
            Err(error) => return Err(self.bad("the end of the gzip member", &error.to_string())),
        }
        match self.lines.get_mut().get_mut().fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => Err(self.bad("nothing after the gzip member", "more bytes")),
            Err(error) => Err(self.bad("nothing after the gzip member", &error.to_string())),
        }
    }

    fn line(&mut self) -> Result<Line, Problem> {
        self.number += 1;
        let mut line = Vec::new();
        let room = MAX_LINE.min(MAX_INFLATED.saturating_sub(self.inflated));
        let read = (&mut self.lines).take(room).read_until(b'\n', &mut line);
        let read = read.map_err(|e| self.bad("whole gzip", &e.to_string()))?;
        self.inflated += read as u64;
        self.length = read;
        if line.last() != Some(&b'\n') {
            let seen = if read as u64 == room { "more than the bounds of a file allow" } else { "its end" };
            return Err(self.bad("a whole line", seen));
        }
        serde_json::from_slice(&line).map_err(|e| self.bad("a line of the format", &e.to_string()))
    }

    fn blob(&mut self, parts: &[blob::Part], sha256: Option<Digest>) -> Result<(), Problem> {
        let bytes =
            blob::join(parts).ok_or_else(|| self.bad("a byte string of at most 64 MiB", "other parts"))?;
        self.joined += bytes.len() as u64;
        if self.joined > MAX_INFLATED {
            return Err(self.bad("byte strings of at most 1 GiB", "more"));
        }
        let digest = sha256.map(|expected| (expected, Digest::of(&bytes)));
        if let Some((expected, seen)) = digest.filter(|(expected, seen)| expected != seen) {
            return Err(self.bad(&format!("a byte string with the digest {expected}"), &seen.to_string()));
        }
        self.blobs.push(bytes.into());
        Ok(())
    }

    fn kind(&mut self, what: What) -> Result<EventKind, Problem> {
        Ok(match what {
            What::Teardown {} => EventKind::Teardown,
            What::StepBegan { step, verb, client } => {
                let known = VERBS.into_iter().find(|known| *known == verb);
                let verb = known.ok_or_else(|| self.bad("the verb of a step", &verb))?;
                EventKind::StepBegan { step, verb, client }
            }
            What::StepEnded { step, returned } => {
                EventKind::StepEnded { step, returned: self.returned(returned)? }
            }
            What::Accepted { conn } => EventKind::Accepted { conn },
            What::Request(request) => EventKind::Request(Arc::new(self.request(*request)?)),
            What::BadRequest { conn, raw, problem } => {
                EventKind::BadRequest { conn, raw: self.bytes(raw)?, problem }
            }
            What::Held { name, request } => EventKind::Held { name, request },
            What::Released { name } => EventKind::Released { name },
            What::Replied(reply) => EventKind::Replied(Arc::new(self.reply(&reply)?)),
            What::Closed { conn, by, how } => {
                let how = match how {
                    How::Fin => Close::Fin,
                    How::Rst => Close::Rst,
                };
                EventKind::Closed { conn, by, how }
            }
            What::Memory { taken } => {
                EventKind::Memory(taken.map(|line::Taken { peak, now }| Taken { peak, now }))
            }
            What::Witness { journal } => EventKind::Witness { journal: self.json(journal)? },
            What::HarnessError { problem } => EventKind::HarnessError { problem },
        })
    }

    fn returned(&mut self, returned: Outcome) -> Result<Returned, Problem> {
        Ok(match returned {
            Outcome::Ok { text, tools } => Returned::Ok {
                text: self.text(text)?,
                tools: match tools {
                    Some(tools) => {
                        Some(tools.into_iter().map(|tool| self.json(tool)).collect::<Result<_, _>>()?)
                    }
                    None => None,
                },
            },
            Outcome::Error { kind, message, effect, status, code, text } => {
                Returned::Error { kind, message, effect, status, code, text: self.text(text)? }
            }
            Outcome::Unsupported { message } => Returned::Unsupported { message },
        })
    }

    fn request(&mut self, request: line::Request) -> Result<Request, Problem> {
        Ok(Request {
            conn: request.conn,
            number: request.number,
            reused: request.reused,
            method: request.method,
            target: request.target,
            headers: self.json(request.headers)?,
            head: self.bytes(request.head)?,
            body: self.bytes(request.body)?,
            json: match request.json {
                Json::None => None,
                Json::Body => Some(self.json(request.body)?),
                Json::Is(blob) => Some(self.json(blob)?),
            },
            rule: request.rule,
        })
    }

    fn reply(&mut self, reply: &line::Reply) -> Result<Reply, Problem> {
        let marks: Vec<(String, usize)> = self.json(reply.marks)?;
        let cuts = reply.cuts.iter().fold(0_usize, |sum, (_, _, count)| sum.saturating_add(*count));
        self.take(cuts.saturating_mul(size_of::<usize>()))?;
        Ok(Reply {
            request: reply.request,
            bytes: self.bytes(reply.bytes)?,
            content_len: reply.content_len,
            written: reply.written,
            cuts: line::unfold_cuts(&reply.cuts, MAX_CUTS)
                .ok_or_else(|| self.bad("at most 4,194,304 cuts", "other runs"))?,
            proven: reply.proven,
            marks: marks.into_iter().map(|(name, at)| Mark { name, at }).collect(),
            complete: reply.complete,
        })
    }

    fn text(&mut self, blob: Option<Blob>) -> Result<Option<String>, Problem> {
        let Some(blob) = blob else { return Ok(None) };
        let bytes = self.bytes(blob)?;
        self.take(bytes.len())?;
        let text = String::from_utf8(bytes.into());
        text.map(Some).map_err(|e| self.bad("UTF-8 text", &e.to_string()))
    }

    fn json<T: DeserializeOwned>(&mut self, blob: Blob) -> Result<T, Problem> {
        let bytes = self.bytes(blob)?;
        // What is no JSON weighs nothing: it is told below.
        let weigh = |most| json::weigh(&bytes, most).ok().map(Option::unwrap_or_default);
        let taken = self.budget.take_json(blob, weigh);
        taken.map_err(|beyond| self.beyond(beyond))?;
        serde_json::from_slice(&bytes).map_err(|e| self.bad("JSON in a byte string", &e.to_string()))
    }

    fn bytes(&self, blob: Blob) -> Result<Bytes, Problem> {
        let bytes = usize::try_from(blob).ok().and_then(|blob| self.blobs.get(blob));
        bytes.cloned().ok_or_else(|| self.bad("the number of a byte string before it", &blob.to_string()))
    }

    /// Counts memory that is about to be taken.
    fn take(&mut self, bytes: usize) -> Result<(), Problem> {
        let taken = self.budget.take(u64::try_from(bytes).unwrap_or(u64::MAX));
        taken.map_err(|beyond| self.beyond(beyond))
    }

    fn beyond(&self, Beyond(expected): Beyond) -> Problem {
        self.bad(&expected, "more")
    }

    fn bad(&self, expected: &str, seen: &str) -> Problem {
        let place = format!("{} line {}", self.place, self.number);
        Problem::new(place, expected, seen, "restore the file, or run the case again")
    }
}
