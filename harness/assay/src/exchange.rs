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
use crate::judge::index::{Index, RequestRecord, Role};
use crate::receipt::canonical;
use crate::timeline::{Event, Request};
use crate::tokens::Tokens;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Headers of a request that belong to the exchange, beside `mcp-…` and those a case configures.
const HEADERS: [&str; 4] = ["accept", "authorization", "content-type", "last-event-id"];

/// SHA-256 in hexadecimal over [`exchange_text`].
#[must_use]
pub fn exchange_digest(case: &Case, timeline: &[Event]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(exchange_text(case, timeline)) {
        // Writing into a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// The exchange as canonical JSON text: what the digest is taken over, and what a person compares.
#[must_use]
pub fn exchange_text(case: &Case, timeline: &[Event]) -> String {
    let index = Index::new(case, timeline);
    let configured = configured_headers(case);
    let ordered = in_case_order(&index);
    let sessions = ordered.iter().flat_map(|record| record.request.header("mcp-session-id"));
    let mut tokens = Tokens::with_sessions(sessions);
    let said = |owner: Option<usize>, tokens: &mut Tokens| -> Vec<Value> {
        ordered
            .iter()
            .filter(|record| record.owner.map(|(step, _)| step) == owner)
            .map(|record| describe(record, &configured, tokens))
            .collect()
    };
    let mut steps = Vec::new();
    for (at, step) in index.steps.iter().enumerate() {
        if matches!(step.verb, "await" | "release" | "linger" | "admin") {
            continue;
        }
        let requests = said(Some(at), &mut tokens);
        let returned = match step.ended.map(|(_, returned)| serde_json::to_value(returned)) {
            Some(Ok(returned)) => tokenised(&returned, &mut tokens),
            Some(Err(problem)) => json!({ "unreadable": problem.to_string() }),
            None => Value::Null,
        };
        steps.push(json!({
            "step": step.name, "verb": step.verb, "requests": requests, "returned": returned,
        }));
    }
    let other = said(None, &mut tokens);
    let exchange = json!({ "steps": steps, "other": other });
    canonical::text(&exchange)
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

fn describe(record: &RequestRecord<'_>, configured: &BTreeSet<String>, tokens: &mut Tokens) -> Value {
    let request = record.request;
    let mut headers: Vec<(&str, &str)> = request
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| name.starts_with("mcp-") || HEADERS.contains(name) || configured.contains(*name))
        .collect();
    // Stable: several lines of one name keep their order.
    headers.sort_by_key(|(name, _)| *name);
    let headers: Vec<Value> = headers
        .into_iter()
        .map(|(name, value)| {
            let value = match name {
                "mcp-session-id" => tokens.session(value),
                "authorization" => tokens.secret(value),
                _ => tokens.text(value),
            };
            json!([name, value])
        })
        .collect();
    json!({
        "method": request.method,
        "target": tokens.text(&request.target),
        "headers": headers,
        "body": body(request, tokens),
    })
}

fn body(request: &Request, tokens: &mut Tokens) -> Value {
    match &request.json {
        Some(json) => tokenised(json, tokens),
        None if request.body.is_empty() => Value::Null,
        None => json!({ "not-json": request.body.escape_ascii().to_string() }),
    }
}

/// A value with tokens in its texts. Integers that a double cannot hold become text: RFC 8785 would round them.
fn tokenised(value: &Value, tokens: &mut Tokens) -> Value {
    const EXACT: u64 = 1 << 53;
    match value {
        Value::String(text) => Value::String(tokens.text(text)),
        Value::Array(items) => items.iter().map(|item| tokenised(item, tokens)).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.clone(), tokenised(value, tokens)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Number(number) => match number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64()) {
            Some(integer) if integer > EXACT => Value::String(format!("<integer:{number}>")),
            _ => value.clone(),
        },
        Value::Null | Value::Bool(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests;
