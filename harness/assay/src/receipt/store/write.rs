//! Writing timelines, one variant after the other.

use super::SCHEMA;
use super::blob::{MAX_BLOB, Part, split};
use super::line::{self, Blob, How, Json, Line, Outcome, VERBS, What};
use crate::digest::Digest;
use crate::receipt::fold;
use crate::receipt::problem::Problem;
use crate::returned::Returned;
use crate::timeline::{Close, Event, EventKind, Reply, Request, Taken};
use crate::variant::{CaseId, Variant};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufWriter, Write as _};

/// Bytes that wait to be compressed together.
const BUFFER: usize = 65_536;

/// The most bytes of a body whose value is kept.
const SHORT_BODY: usize = 1_024;

/// Writes the timelines of a case. Holds what it compressed and the digests of the byte strings, never a timeline.
#[derive(Debug)]
pub struct TimelineWriter {
    place: String,
    /// Buffered: the encoder takes as long for a token as for a line, and JSON is written token by token.
    gzip: BufWriter<GzEncoder<Vec<u8>>>,
    blobs: HashMap<Digest, Blob>,
    /// What short bodies hold, by the number of their bytes: variants of a case have most of them in common.
    parsed: HashMap<Blob, Option<Value>>,
    variants: u64,
}

impl TimelineWriter {
    /// Begins the file of a case.
    ///
    /// # Errors
    ///
    /// None that is known: the signature is that of the other steps.
    pub fn new(profile: &str, case: &CaseId) -> Result<Self, Problem> {
        let mut writer = Self {
            place: format!("timelines/{case}.jsonl.gz"),
            gzip: BufWriter::with_capacity(BUFFER, GzEncoder::new(Vec::new(), Compression::default())),
            blobs: HashMap::new(),
            parsed: HashMap::new(),
            variants: 0,
        };
        let line =
            Line::Case { schema: SCHEMA.to_owned(), profile: profile.to_owned(), case: case.to_string() };
        writer.line(&line)?;
        Ok(writer)
    }

    /// Appends a variant.
    ///
    /// # Errors
    ///
    /// When an event holds what could not be read back: a verb without a name, a byte string of over 64 MiB.
    pub fn variant(&mut self, variant: &Variant, timeline: &[Event]) -> Result<(), Problem> {
        self.variants += 1;
        self.line(&Line::Variant { id: fold::id(variant), events: timeline.len() as u64 })?;
        for event in timeline {
            let what = self.what(&event.kind)?;
            self.line(&Line::Event { at: event.at_us, what })?;
        }
        Ok(())
    }

    /// Ends the file and hands its bytes out.
    ///
    /// # Errors
    ///
    /// As [`TimelineWriter::new`].
    pub fn finish(mut self) -> Result<Vec<u8>, Problem> {
        self.line(&Line::End { variants: self.variants })?;
        let gzip = self.gzip.into_inner().map_err(|e| failed(&self.place, &e.to_string()))?;
        gzip.finish().map_err(|e| failed(&self.place, &e.to_string()))
    }

    fn what(&mut self, kind: &EventKind) -> Result<What, Problem> {
        Ok(match kind {
            EventKind::Teardown => What::Teardown {},
            EventKind::StepBegan { step, verb, client } => {
                if !VERBS.contains(verb) {
                    return Err(failed(&self.place, &format!("a step with the verb {verb}")));
                }
                What::StepBegan { step: step.clone(), verb: (*verb).to_owned(), client: client.clone() }
            }
            EventKind::StepEnded { step, returned } => {
                What::StepEnded { step: step.clone(), returned: self.returned(returned)? }
            }
            EventKind::Accepted { conn } => What::Accepted { conn: *conn },
            EventKind::Request(request) => What::Request(Box::new(self.request(request)?)),
            EventKind::BadRequest { conn, raw, problem } => {
                What::BadRequest { conn: *conn, raw: self.blob(raw)?, problem: problem.clone() }
            }
            EventKind::Held { name, request } => What::Held { name: name.clone(), request: *request },
            EventKind::Released { name } => What::Released { name: name.clone() },
            EventKind::Replied(reply) => What::Replied(Box::new(self.reply(reply)?)),
            EventKind::Closed { conn, by, how } => {
                let how = match how {
                    Close::Fin => How::Fin,
                    Close::Rst => How::Rst,
                };
                What::Closed { conn: *conn, by: *by, how }
            }
            EventKind::Memory(taken) => {
                let taken = taken.map(|Taken { peak, now }| line::Taken { peak, now });
                What::Memory { taken }
            }
            EventKind::Witness { journal } => What::Witness { journal: self.json(journal)? },
            EventKind::HarnessError { problem } => What::HarnessError { problem: problem.clone() },
        })
    }

    fn returned(&mut self, returned: &Returned) -> Result<Outcome, Problem> {
        Ok(match returned {
            Returned::Ok { text, tools } => Outcome::Ok {
                text: self.text(text.as_ref())?,
                tools: match tools {
                    Some(tools) => Some(tools.iter().map(|tool| self.json(tool)).collect::<Result<_, _>>()?),
                    None => None,
                },
            },
            Returned::Error { kind, message, effect, status, code, text } => Outcome::Error {
                kind: kind.clone(),
                message: message.clone(),
                effect: effect.clone(),
                status: *status,
                code: *code,
                text: self.text(text.as_ref())?,
            },
            Returned::Unsupported { message } => Outcome::Unsupported { message: message.clone() },
        })
    }

    fn request(&mut self, request: &Request) -> Result<line::Request, Problem> {
        let (headers, head) = (self.json(&request.headers)?, self.blob(&request.head)?);
        let body = self.blob(&request.body)?;
        let json = match &request.json {
            None => Json::None,
            Some(json) if self.holds(body, &request.body, json) => Json::Body,
            Some(json) => Json::Is(self.json(json)?),
        };
        Ok(line::Request {
            conn: request.conn,
            number: request.number,
            reused: request.reused,
            method: request.method.clone(),
            target: request.target.clone(),
            headers,
            head,
            body,
            json,
            rule: request.rule.clone(),
        })
    }

    /// Whether a body, read as JSON, is this value.
    fn holds(&mut self, number: Blob, body: &[u8], json: &Value) -> bool {
        let read = || serde_json::from_slice(body).ok();
        if body.len() > SHORT_BODY {
            return read().as_ref() == Some(json);
        }
        self.parsed.entry(number).or_insert_with(read).as_ref() == Some(json)
    }

    fn reply(&mut self, reply: &Reply) -> Result<line::Reply, Problem> {
        let marks: Vec<(&str, usize)> =
            reply.marks.iter().map(|mark| (mark.name.as_str(), mark.at)).collect();
        Ok(line::Reply {
            request: reply.request,
            bytes: self.blob(&reply.bytes)?,
            content_len: reply.content_len,
            written: reply.written,
            cuts: line::fold_cuts(&reply.cuts),
            proven: reply.proven,
            marks: self.json(&marks)?,
            complete: reply.complete,
        })
    }

    fn text(&mut self, text: Option<&String>) -> Result<Option<Blob>, Problem> {
        text.map(|text| self.blob(text.as_bytes())).transpose()
    }

    fn json<T: Serialize>(&mut self, value: &T) -> Result<Blob, Problem> {
        let bytes = serde_json::to_vec(value).map_err(|e| failed(&self.place, &e.to_string()))?;
        self.blob(&bytes)
    }

    /// The number of a byte string, which is written out when it is new.
    fn blob(&mut self, bytes: &[u8]) -> Result<Blob, Problem> {
        let digest = Digest::of(bytes);
        if let Some(number) = self.blobs.get(&digest) {
            return Ok(*number);
        }
        if bytes.len() > MAX_BLOB {
            return Err(failed(&self.place, &format!("a byte string of {} bytes", bytes.len())));
        }
        let number = Blob::try_from(self.blobs.len()).map_err(|e| failed(&self.place, &e.to_string()))?;
        let parts = split(bytes);
        let generated = parts.iter().any(|part| matches!(part, Part::Repeat { .. }));
        self.line(&Line::Blob { parts, sha256: generated.then_some(digest) })?;
        self.blobs.insert(digest, number);
        Ok(number)
    }

    fn line(&mut self, line: &Line) -> Result<(), Problem> {
        let failed = |error: &dyn std::fmt::Display| failed(&self.place, &error.to_string());
        serde_json::to_writer(&mut self.gzip, line).map_err(|e| failed(&e))?;
        self.gzip.write_all(b"\n").map_err(|e| failed(&e))
    }
}

fn failed(place: &str, seen: &str) -> Problem {
    Problem::new(place, "events that can be stored and read back", seen, "report it: the harness wrote this")
}
