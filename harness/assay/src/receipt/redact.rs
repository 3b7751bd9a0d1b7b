//! Redaction: what differs from run to run, or must stay secret, becomes a typed token before anything is judged or
//! stored. Equal values get equal tokens, so every relation between them survives, and a stored timeline is judged
//! exactly as the live one was.
//!
//! | token | what it stands for |
//! | --- | --- |
//! | `<port:1>` | the digits after `127.0.0.1:`, `localhost:` or `[::1]:` |
//! | `<session:1>` | the value of an `mcp-session-id` header, wherever it comes again |
//! | `<uuid:1>` | a UUID |
//! | `<secret:1>` | the credentials of `authorization` and `proxy-authorization`, a cookie; wherever they come again |
//!
//! - **What a case spells is public** and stays: a session id `session-1` in a case file says what the case means. A
//!   run carries its cases so that it can be judged again, so a token would hide nothing there; the loader takes
//!   care instead that no credential in a case is a real one (it must hold the word
//!   [`synthetic`](crate::case::SYNTHETIC)). For SDK servers nothing is public.
//! - Session and UUID tokens are filled up with dots to the length of what they replace, so that recorded framing
//!   and cuts stay as they were on the wire. Ports and secrets are not (a secret's length is nobody's business):
//!   offsets into the reply move along, and one inside a replaced value lies at the same share of its token.
//! - Numbers count from 1 in the order in which the timeline first shows a value.
//! - A value of a header under [`SEARCHED`] bytes is replaced only where it is that header's value, since it would
//!   be found by chance elsewhere. Encodings of a secret (Base64, percent) are not looked for.

mod replace;
mod scan;

use crate::hidden;
use crate::returned::Returned;
use crate::timeline::{Event, EventKind, Reply, Request};
use replace::Edits;
use scan::Tokens;
use serde_json::Value;
use std::sync::Arc;

/// From how many bytes on a header's value is replaced wherever it comes.
pub const SEARCHED: usize = 8;

/// The most session ids and credentials of one variant that are searched for: each costs a look at everything.
///
/// A timeline with more ends where the next one comes, and says so in an [`EventKind::HarnessError`], so that no check
/// of the variant is decided.
pub const VALUES_MAX: usize = 256;

/// Redacts the timeline of one variant. `public` are the texts whose values stay: the case file and the polite script
/// of its revision, or nothing for an SDK server.
///
/// Doing it twice changes nothing.
#[must_use]
pub fn redact(timeline: Vec<Event>, public: &[&str]) -> Vec<Event> {
    let mut tokens = Tokens::new(public);
    let mut timeline = timeline;
    let too_many = timeline.iter().position(|event| {
        collect(&event.kind, &mut tokens);
        tokens.searched() > VALUES_MAX
    });
    if let Some(at) = too_many {
        end(&mut timeline, at);
    }
    timeline.into_iter().map(|event| Event { kind: kind(event.kind, &tokens), ..event }).collect()
}

/// Ends a timeline before the event at `at`, in whose place stands why; teardown stays.
fn end(timeline: &mut Vec<Event>, at: usize) {
    let rest = timeline.split_off(at);
    let problem =
        format!("expected at most {VALUES_MAX} session ids and credentials, saw more: the rest is left out");
    let problem = EventKind::HarnessError { problem };
    timeline.extend(rest.first().map(|event| Event { at_us: event.at_us, kind: problem }));
    timeline.extend(rest.into_iter().find(|event| event.kind == EventKind::Teardown));
}

fn collect(kind: &EventKind, tokens: &mut Tokens<'_>) {
    match kind {
        EventKind::Request(request) => {
            tokens.learn_headers(&request.headers);
            tokens.learn(request.target.as_bytes());
            tokens.learn(&request.head);
            tokens.learn(&request.body);
        }
        EventKind::BadRequest { raw, problem, .. } => {
            tokens.learn(raw);
            tokens.learn(problem.as_bytes());
        }
        EventKind::Replied(reply) => tokens.learn(&reply.bytes),
        EventKind::StepEnded { returned, .. } => {
            texts_of(returned, &mut |text| tokens.learn(text.as_bytes()));
        }
        EventKind::Witness { journal } => strings_of(journal, &mut |text| tokens.learn(text.as_bytes())),
        EventKind::HarnessError { problem } => tokens.learn(problem.as_bytes()),
        EventKind::Teardown
        | EventKind::StepBegan { .. }
        | EventKind::Accepted { .. }
        | EventKind::Held { .. }
        | EventKind::Released { .. }
        | EventKind::Closed { .. }
        | EventKind::Memory(_) => {}
    }
}

fn kind(kind: EventKind, tokens: &Tokens<'_>) -> EventKind {
    match kind {
        EventKind::Request(request) => {
            EventKind::Request(Arc::new(redact_request(Arc::unwrap_or_clone(request), tokens)))
        }
        EventKind::BadRequest { conn, raw, problem } => EventKind::BadRequest {
            conn,
            raw: Edits::of(&raw, tokens).bytes(&raw),
            problem: text(problem, tokens),
        },
        EventKind::Replied(reply) => {
            EventKind::Replied(Arc::new(redact_reply(Arc::unwrap_or_clone(reply), tokens)))
        }
        EventKind::StepEnded { step, returned } => {
            EventKind::StepEnded { step, returned: redact_returned(returned, tokens) }
        }
        EventKind::Witness { journal } => EventKind::Witness { journal: json(journal, tokens) },
        EventKind::HarnessError { problem } => EventKind::HarnessError { problem: text(problem, tokens) },
        kept @ (EventKind::Teardown
        | EventKind::StepBegan { .. }
        | EventKind::Accepted { .. }
        | EventKind::Held { .. }
        | EventKind::Released { .. }
        | EventKind::Closed { .. }
        | EventKind::Memory(_)) => kept,
    }
}

fn redact_request(request: Request, tokens: &Tokens<'_>) -> Request {
    let header = |(name, value): (String, String)| {
        let value = match hidden::hidden(&name, &value) {
            Some((kind, range)) => match tokens.of_field(kind, &value.as_bytes()[range.clone()]) {
                Some(token) => format!("{}{token}{}", &value[..range.start], &value[range.end..]),
                None => value,
            },
            None => text(value, tokens),
        };
        (name, value)
    };
    Request {
        target: text(request.target, tokens),
        headers: request.headers.into_iter().map(header).collect(),
        head: Edits::of(&request.head, tokens).bytes(&request.head),
        body: Edits::of(&request.body, tokens).bytes(&request.body),
        json: request.json.map(|value| json(value, tokens)),
        ..request
    }
}

fn redact_reply(reply: Reply, tokens: &Tokens<'_>) -> Reply {
    let edits = Edits::of(&reply.bytes, tokens);
    let mut marks = reply.marks;
    marks.iter_mut().for_each(|mark| mark.at = edits.offset(mark.at));
    Reply {
        written: edits.offset(reply.written),
        cuts: reply.cuts.iter().map(|&cut| edits.offset(cut)).collect(),
        bytes: edits.bytes(&reply.bytes),
        marks,
        ..reply
    }
}

fn redact_returned(returned: Returned, tokens: &Tokens<'_>) -> Returned {
    let optional = |value: Option<String>| value.map(|value| text(value, tokens));
    match returned {
        Returned::Ok { text: value, tools } => Returned::Ok {
            text: optional(value),
            tools: tools.map(|tools| tools.into_iter().map(|tool| json(tool, tokens)).collect()),
        },
        Returned::Error { kind, message, effect, status, code, text: value } => Returned::Error {
            kind,
            message: text(message, tokens),
            effect,
            status,
            code,
            text: optional(value),
        },
        Returned::Unsupported { message } => Returned::Unsupported { message: text(message, tokens) },
    }
}

fn texts_of(returned: &Returned, each: &mut dyn FnMut(&str)) {
    match returned {
        Returned::Ok { text, tools } => {
            text.iter().for_each(|text| each(text));
            tools.iter().flatten().for_each(|tool| strings_of(tool, each));
        }
        Returned::Error { message, text, .. } => {
            each(message);
            text.iter().for_each(|text| each(text));
        }
        Returned::Unsupported { message } => each(message),
    }
}

fn strings_of(value: &Value, each: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| strings_of(item, each)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            each(key);
            strings_of(value, each);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Values stay where they are unless something in them is replaced: hardly ever is.
fn json(mut value: Value, tokens: &Tokens<'_>) -> Value {
    redact_json(&mut value, tokens);
    value
}

fn redact_json(value: &mut Value, tokens: &Tokens<'_>) {
    match value {
        Value::String(value) => {
            let edits = Edits::of(value.as_bytes(), tokens);
            if !edits.is_empty() {
                *value = edits.text(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_json(item, tokens)),
        Value::Object(members) => {
            members.values_mut().for_each(|value| redact_json(value, tokens));
            if members.keys().any(|key| !Edits::of(key.as_bytes(), tokens).is_empty()) {
                let redacted = |(key, value)| (text(key, tokens), value);
                *members = std::mem::take(members).into_iter().map(redacted).collect();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn text(text: String, tokens: &Tokens<'_>) -> String {
    let edits = Edits::of(text.as_bytes(), tokens);
    if edits.is_empty() { text } else { edits.text(&text) }
}

#[cfg(test)]
mod tests;
