//! `{{tokens}}` in the texts of a rule.

use super::CompileError;
use crate::peer::Calls;
use crate::revision::Revision;
use crate::timeline::Request;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the tokens stand for in one reply.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    /// The request's id as JSON, `null` where it has none.
    pub(crate) id: String,
    /// The call's arguments: texts as they are, others as JSON.
    args: BTreeMap<String, String>,
    /// The session id the request carried, or nothing.
    session: String,
    /// The host and port the request named, or nothing: the peer's own.
    host: String,
    /// The calls sent so far.
    calls: Calls,
    /// The padding.
    pub(crate) pad: String,
    /// The revision spoken.
    pub(crate) revision: Revision,
}

/// Whether what the client chose is escaped where a text is expanded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Escape {
    /// As inside a JSON string: the text is JSON or other bytes that go out as they stand.
    Json,
    /// No: the text is a value that is encoded as JSON afterwards, or a header.
    None,
}

impl Escape {
    fn push(self, out: &mut String, value: &str) {
        match self {
            Self::None => out.push_str(value),
            Self::Json => {
                let quoted = Value::from(value).to_string();
                out.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
            }
        }
    }
}

impl Tokens {
    pub(crate) fn of(request: &Request, revision: Revision, calls: &Calls) -> Self {
        let json = request.json.as_ref();
        let args = json
            .and_then(|json| json.pointer("/params/arguments"))
            .and_then(Value::as_object)
            .map(|args| {
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                args.iter().map(|(name, value)| (name.clone(), text(value))).collect()
            })
            .unwrap_or_default();
        let header = |name| request.header(name).next().unwrap_or_default().to_owned();
        Self {
            id: json.and_then(|json| json.get("id")).map_or_else(|| "null".to_owned(), Value::to_string),
            args,
            session: header("mcp-session-id"),
            host: header("host"),
            calls: calls.clone(),
            pad: String::new(),
            revision,
        }
    }

    /// The same with other padding.
    pub(super) fn padded(&self, pad: &str) -> Self {
        Self { pad: pad.to_owned(), ..self.clone() }
    }

    /// Puts everything in place of its token; `n` is the repetition, from 1. An argument the call does not have is
    /// the empty text: what a client leaves out is for checks to find, not for the script to stumble over.
    pub(crate) fn expand(&self, text: &str, n: u64, escape: Escape) -> Result<String, CompileError> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find("{{") {
            let Some(len) = rest[open + 2..].find("}}") else { break };
            let name = &rest[open + 2..open + 2 + len];
            if !is_name(name) {
                // Braces of JSON: `{"a":{{"b":1}}`. The next pair may be a token.
                out.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
                continue;
            }
            out.push_str(&rest[..open]);
            rest = &rest[open + 2 + len + 2..];
            match name {
                "id" => out.push_str(&self.id),
                "pad" => out.push_str(&self.pad),
                "session" => out.push_str(&self.session),
                "host" => escape.push(&mut out, &self.host),
                "revision" => out.push_str(self.revision.as_str()),
                "n" => out.push_str(&n.to_string()),
                _ if name.starts_with("call.") => {
                    let id = name.strip_prefix("call.").and_then(|text| self.calls.id(text));
                    out.push_str(id.as_deref().unwrap_or("null"));
                }
                _ => {
                    let name = name
                        .strip_prefix("arg.")
                        .ok_or_else(|| CompileError::UnknownToken(name.to_owned()))?;
                    escape.push(&mut out, self.args.get(name).map_or("", String::as_str));
                }
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Expands every text inside a value; keys stay as they are.
    pub(crate) fn expand_value(&self, value: &Value, n: u64) -> Result<Value, CompileError> {
        Ok(match value {
            Value::String(text) => Value::String(self.expand(text, n, Escape::None)?),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.expand_value(item, n)).collect::<Result<_, _>>()?)
            }
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.expand_value(value, n)?)))
                    .collect::<Result<_, CompileError>>()?,
            ),
            other => other.clone(),
        })
    }
}

/// Whether what stands between double braces was meant as a token.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}
