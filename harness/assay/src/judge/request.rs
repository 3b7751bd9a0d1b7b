//! Whether one request is what a match asks of it: its header, body, target and answer.

use super::index::{Index, RequestRecord};
use crate::case::check::{Answered, RequestMatch, Wanted};
use crate::layout::Layout;
use serde_json::Value;

/// Whether a request is as a match wants it, its method, number and place aside.
pub(super) fn fits(index: &Index<'_>, record: &RequestRecord<'_>, wanted: &RequestMatch) -> bool {
    let request = record.request;
    let header = |(name, value): &(String, String)| {
        request.header(name).any(|sent| Wanted::of(value) == Wanted::AnyText || sent == value)
    };
    let body = |body: &Value| request.json.as_ref().is_some_and(|json| holds(index, json, body));
    let lacks = |member: &String| request.json.as_ref().is_some_and(|json| json.pointer(member).is_none());
    wanted.header.as_ref().is_none_or(header)
        && wanted.body.as_ref().is_none_or(body)
        && wanted.absent.iter().all(lacks)
        && wanted.target.as_ref().is_none_or(|pattern| like(path_and_query(&request.target), pattern))
        && wanted.answered.as_ref().is_none_or(|wanted| answered(index, record, wanted))
}

/// Whether a request got an answer like this, to its end.
fn answered(index: &Index<'_>, record: &RequestRecord<'_>, wanted: &Answered) -> bool {
    let Some(reply) = index.replies.get(&record.request.number) else { return false };
    let layout = Layout::of(&reply.reply.bytes, &record.request.method);
    reply.reply.complete
        && wanted.status.is_none_or(|status| status == layout.status)
        && (!wanted.empty || layout.has_head() && layout.content.is_empty())
}

/// An answer in words.
pub(super) fn describe_answer(wanted: &Answered) -> String {
    match (wanted.status, wanted.empty) {
        (Some(status), true) => format!("answered {status} with nothing"),
        (Some(status), false) => format!("answered {status}"),
        (None, true) => "answered with nothing".to_owned(),
        (None, false) => "answered".to_owned(),
    }
}

/// The session id that the answer to a step's request gave.
pub(super) fn session_of(index: &Index<'_>, step: &str) -> Option<String> {
    let request = index.request_of(step)?.request;
    let reply = index.replies.get(&request.number)?;
    Layout::of(&reply.reply.bytes, &request.method).header("mcp-session-id").next().map(str::to_owned)
}

/// Whether a value holds what is wanted: objects at least these members (an empty object: none at all), arrays these
/// elements, `$any:text` any text, `$id:STEP` the id of that step's request, else equal.
pub(super) fn holds(index: &Index<'_>, body: &Value, wanted: &Value) -> bool {
    match (body, wanted) {
        (Value::Object(body), Value::Object(wanted)) if wanted.is_empty() => body.is_empty(),
        (Value::Object(body), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| body.get(key).is_some_and(|body| holds(index, body, wanted)))
        }
        (Value::Array(body), Value::Array(wanted)) => {
            body.len() == wanted.len() && body.iter().zip(wanted).all(|(b, w)| holds(index, b, w))
        }
        (body, Value::String(text)) => match Wanted::of(text) {
            Wanted::AnyText => body.is_string(),
            Wanted::IdOf(step) => index
                .request_of(step)
                .and_then(|record| record.request.json.as_ref()?.get("id"))
                .is_some_and(|id| id == body),
            Wanted::SessionOf(_) | Wanted::Is(_) => body.as_str() == Some(text),
        },
        (body, wanted) => body == wanted,
    }
}

/// A request target from its path on: one in absolute form names the host and port too, which differ between runs.
fn path_and_query(target: &str) -> &str {
    match target.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?']) => {
            rest.find(['/', '?']).and_then(|at| rest.get(at..)).unwrap_or("/")
        }
        _ => target,
    }
}

/// Whether a text is of a pattern in which `*` is any run of characters.
fn like(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = text.split_once(part) else { return false };
        text = after;
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_looked_at_from_its_path_on() {
        for (target, seen) in [
            ("/mcp?a=b", "/mcp?a=b"),
            ("http://127.0.0.1:4711/mcp?a=b", "/mcp?a=b"),
            ("http://127.0.0.1:4711?a=b", "?a=b"),
            ("http://127.0.0.1:4711", "/"),
            ("/mcp?to=http://host/x", "/mcp?to=http://host/x"),
            ("*", "*"),
            ("", ""),
        ] {
            assert_eq!(path_and_query(target), seen, "{target}");
        }
    }

    #[test]
    fn a_star_is_any_run_and_nothing_else_is_special() {
        for (text, pattern, is) in [
            ("/mcp", "/mcp", true),
            ("/mcp?", "/mcp", false),
            ("/mcpx", "/mcp?", false),
            ("/mcp?a=token&b", "*token*", true),
            ("/mcp?a=tok&b", "*token*", false),
            ("/mcp?a=b", "/mcp?*", true),
            ("/mcp", "/mcp*", true),
            ("/mcp?ab", "*a*b", true),
            ("/mcp?aba", "*a*b", false),
            // What comes before a star may not be used again behind it.
            ("/a", "/a*a", false),
            ("雪", "*", true),
            ("", "", true),
        ] {
            assert_eq!(like(text, pattern), is, "{text} {pattern}");
        }
    }
}
