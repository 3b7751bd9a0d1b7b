//! The exchange: what a client said and what its API returned, without anything that transport decides.
//!
//! Two runs of a case in which a correct client did the same have the same exchange, however replies were cut and
//! whichever wire carried them. It holds, step by step in the case's order, the logical requests (method, target,
//! MCP headers sorted, body in the canonical form of RFC 8785) and what the step returned. Ports, session ids,
//! UUIDs and credentials are typed tokens. Left out: connection numbers, reuse, where writes and reads end, how
//! sockets close, order between sockets, and everything after teardown.
//!
//! Inside a step, its own requests stand in the order sent (retries behind the first), then its streams, then the
//! client's answers to requests of the server and cancellations, each sorted by body, since they may travel on
//! sockets of their own. Requests of no step stand at the end, sorted likewise.

use crate::case::Case;
use crate::digest::Digest;
use crate::judge::index::{Index, RequestRecord, Role};
use crate::receipt::canonical;
use crate::timeline::{Event, Request};
use crate::tokens::Tokens;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Headers of a request that belong to the exchange, beside `mcp-…` and those a case configures.
const HEADERS: [&str; 4] = ["accept", "authorization", "content-type", "last-event-id"];

/// Up to here a double holds every integer.
const EXACT: u64 = 1 << 53;

/// SHA-256 in hexadecimal over [`exchange_text`].
#[must_use]
pub fn exchange_digest(case: &Case, timeline: &[Event]) -> String {
    digest_index(&Index::new(case, timeline))
}

/// The same, where the timeline has been arranged already.
pub(crate) fn digest_index(index: &Index<'_>) -> String {
    Digest::of(text(index).as_bytes()).to_string()
}

/// The exchange as canonical JSON text: what the digest is taken over, and what a person compares.
///
/// Written as it goes, without a tree of values between: every variant of a run has one.
#[must_use]
pub fn exchange_text(case: &Case, timeline: &[Event]) -> String {
    text(&Index::new(case, timeline))
}

fn text(index: &Index<'_>) -> String {
    let ordered = in_case_order(index);
    let sessions = ordered.iter().flat_map(|record| record.request.header("mcp-session-id"));
    let mut teller =
        Teller { configured: configured_headers(index.case), tokens: Tokens::with_sessions(sessions) };
    let mut steps = String::with_capacity(4_096);
    for (at, step) in index.steps.iter().enumerate() {
        if matches!(step.verb, "await" | "release" | "linger" | "admin") {
            continue;
        }
        comma(&mut steps);
        steps.push_str(r#"{"requests":["#);
        teller.requests(&ordered, Some(at), &mut steps);
        steps.push_str(r#"],"returned":"#);
        match step.ended.map(|(_, returned)| serde_json::to_value(returned)) {
            Some(Ok(returned)) => teller.value(&returned, &mut steps),
            Some(Err(problem)) => {
                canonical::write(&json!({ "unreadable": problem.to_string() }), &mut steps, &mut |_, _| {
                    false
                });
            }
            None => steps.push_str("null"),
        }
        steps.push_str(r#","step":"#);
        canonical::write_text(&step.name, &mut steps);
        steps.push_str(r#","verb":"#);
        canonical::write_text(step.verb, &mut steps);
        steps.push('}');
    }
    // What belongs to no step is numbered last and stands first: members are in the order of their names.
    let mut text = String::with_capacity(steps.len() + 64);
    text.push_str(r#"{"other":["#);
    teller.requests(&ordered, None, &mut text);
    text.push_str(r#"],"steps":["#);
    text.push_str(&steps);
    text.push_str("]}");
    text
}

/// All requests by step, then by role; in the order sent where one waits for the other, else by content.
fn in_case_order<'i, 'a>(index: &'i Index<'a>) -> Vec<&'i RequestRecord<'a>> {
    let mut ordered: Vec<&RequestRecord<'_>> = index.requests.iter().collect();
    ordered.sort_by(|a, b| {
        let key = |record: &RequestRecord<'_>| match record.owner {
            Some((step, role)) => (false, step, Some(role)),
            None => (true, 0, None),
        };
        key(a).cmp(&key(b)).then_with(|| match a.owner {
            Some((_, Role::Own | Role::Stream)) => a.place.cmp(&b.place),
            _ => (&a.request.method, &a.request.body).cmp(&(&b.request.method, &b.request.body)),
        })
    });
    ordered
}

/// Names of headers that the case makes the client send.
fn configured_headers(case: &Case) -> BTreeSet<String> {
    let connects = case.step.iter().filter_map(|step| step.connect.as_ref());
    connects.flat_map(|connect| &connect.headers).map(|(name, _)| name.to_ascii_lowercase()).collect()
}

/// Tells what was said, with tokens in place of what differs from run to run.
struct Teller {
    /// Names of headers that the case makes the client send.
    configured: BTreeSet<String>,
    tokens: Tokens,
}

impl Teller {
    /// The requests of a step, or of none, between commas.
    fn requests(&mut self, ordered: &[&RequestRecord<'_>], owner: Option<usize>, out: &mut String) {
        let of = |record: &&&RequestRecord<'_>| record.owner.map(|(step, _)| step) == owner;
        for record in ordered.iter().filter(of) {
            comma(out);
            self.request(record.request, out);
        }
    }

    fn request(&mut self, request: &Request, out: &mut String) {
        out.push_str(r#"{"body":"#);
        match &request.json {
            Some(json) => self.value(json, out),
            None if request.body.is_empty() => out.push_str("null"),
            None => {
                out.push_str(r#"{"not-json":"#);
                canonical::write_text(&request.body.escape_ascii().to_string(), out);
                out.push('}');
            }
        }
        out.push_str(r#","headers":["#);
        let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut headers: Vec<(&str, &str)> = headers.filter(|(name, _)| self.tells(name)).collect();
        // Stable: several lines of one name keep their order.
        headers.sort_by_key(|(name, _)| *name);
        for (name, value) in headers {
            comma(out);
            out.push('[');
            canonical::write_text(name, out);
            out.push(',');
            match name {
                "mcp-session-id" => canonical::write_text(&self.tokens.session(value), out),
                "authorization" => canonical::write_text(&self.tokens.secret(value), out),
                _ => canonical::write_text(&self.tokens.text(value), out),
            }
            out.push(']');
        }
        out.push_str(r#"],"method":"#);
        canonical::write_text(&request.method, out);
        out.push_str(r#","target":"#);
        canonical::write_text(&self.tokens.text(&request.target), out);
        out.push('}');
    }

    /// Whether a header belongs to the exchange.
    fn tells(&self, name: &str) -> bool {
        name.starts_with("mcp-") || HEADERS.contains(&name) || self.configured.contains(name)
    }

    /// A value with tokens in its texts. Integers that a double cannot hold become text: RFC 8785 would round them.
    fn value(&mut self, value: &Value, out: &mut String) {
        canonical::write(value, out, &mut |leaf, out| match leaf {
            Value::String(text) => {
                canonical::write_text(&self.tokens.text(text), out);
                true
            }
            Value::Number(number) => {
                let exact = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
                let large = exact.is_some_and(|integer| integer > EXACT);
                if large {
                    canonical::write_text(&format!("<integer:{number}>"), out);
                }
                large
            }
            _ => false,
        });
    }
}

/// A comma behind what went before; nothing at the beginning of a list.
fn comma(out: &mut String) {
    if !out.is_empty() && !out.ends_with('[') {
        out.push(',');
    }
}

#[cfg(test)]
mod tests;
