//! Messages that come in.
//!
//! A message is checked as a whole by the strict JSON pass, then its members are taken as raw slices of the
//! input: nothing is copied, and no member is read more deeply than its rule asks for.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::error::{Error, JsonrpcFault};
use crate::json::{self, JsonLimits};
use crate::policy::ResponseId;
use crate::rule::{Rule, rule};

/// A message from the server.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    Response(Response<'a>),
    Request(ServerRequest<'a>),
    Notification,
}

/// A response, not yet matched with a request.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    id: Option<&'a RawValue>,
    answer: Answer<'a>,
}

/// What a response says.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer<'a> {
    /// The result: always an object.
    Result(&'a RawValue),
    /// An error, of which only the code is kept. Row EX-JS-12.
    Error { code: i64 },
}

/// A request of the server.
#[derive(Debug)]
pub(crate) struct ServerRequest<'a> {
    /// An integer or a string, as it was written.
    pub(crate) id: &'a str,
    pub(crate) method: Cow<'a, str>,
}

impl<'a> Incoming<'a> {
    /// Decodes one message.
    ///
    /// # Errors
    ///
    /// `invalid_jsonrpc`, `duplicate_json_key`, `json_depth_limit`, `json_node_limit`.
    pub(crate) fn decode(bytes: &'a [u8], limits: JsonLimits) -> Result<Self, Error> {
        let text = json::check(bytes, limits)?;
        classify(text).map_err(Error::InvalidJsonrpc)
    }

    /// Decodes one message that is known to be text, as an event's data is.
    ///
    /// # Errors
    ///
    /// As for [`Incoming::decode`].
    pub(crate) fn decode_text(text: &'a str, limits: JsonLimits) -> Result<Self, Error> {
        json::check_text(text, limits)?;
        classify(text).map_err(Error::InvalidJsonrpc)
    }

    /// The response, for a body that must hold one. Row EX-JS-13.
    ///
    /// # Errors
    ///
    /// `invalid_jsonrpc_response`.
    pub(crate) fn into_response(self) -> Result<Response<'a>, Error> {
        match self {
            Self::Response(response) => Ok(response),
            Self::Request(_) | Self::Notification if !rule(Rule::ResponseExpected) => {
                Err(Error::MissingResponse)
            }
            Self::Request(_) | Self::Notification => Err(Error::InvalidJsonrpcResponse),
        }
    }
}

impl<'a> Response<'a> {
    /// The answer, if it is the one to request `id`.
    ///
    /// # Errors
    ///
    /// `response_id_mismatch`. Rows EX-JS-01 to EX-JS-03, EX-SSE-25.
    pub(crate) fn answer_to(&self, id: u64, policy: ResponseId) -> Result<Answer<'a>, Error> {
        let matches = match policy {
            // JSON has one spelling for a non-negative integer without fraction and exponent, so the text decides.
            ResponseId::Exact => self.id.is_some_and(|raw| is_id(raw.get(), id)),
        };
        let absent = self.id.is_none_or(|raw| raw.get() == "null") && !rule(Rule::IdsAreThere);
        if matches || absent || !rule(Rule::IdsMatch) {
            Ok(self.answer)
        } else {
            Err(Error::ResponseIdMismatch { expected: id })
        }
    }
}

/// The members that matter; any other is allowed and ignored.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ErrorMembers<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    code: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    message: Option<&'a RawValue>,
}

/// A member that is there, even if it is null: serde would take a null for an absent one.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn classify(text: &str) -> Result<Incoming<'_>, JsonrpcFault> {
    match text.trim_ascii_start().bytes().next() {
        Some(b'{') => {}
        Some(b'[') if !rule(Rule::BatchesRefused) => {
            let inner = text.trim_ascii().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
            return classify(inner.unwrap_or_default());
        }
        Some(b'[') => return Err(JsonrpcFault::Batch),
        _ => return Err(JsonrpcFault::NotObject),
    }
    let members: Members<'_> = serde_json::from_str(text).map_err(|_| JsonrpcFault::Shape)?;
    let version = members.jsonrpc.and_then(string);
    if version.as_deref() != Some("2.0") && rule(Rule::VersionIsChecked) {
        return Err(JsonrpcFault::Version);
    }
    match (members.method, members.result, members.error) {
        (Some(method), None, None) => {
            let method = match string(method) {
                Some(method) => method,
                None if !rule(Rule::MethodsAreStrings) => Cow::Borrowed(method.get()),
                None => return Err(JsonrpcFault::Method),
            };
            if members.params.is_some_and(|params| !is_object(params)) && rule(Rule::ParamsAreObjects) {
                return Err(JsonrpcFault::Params);
            }
            match members.id {
                None => Ok(Incoming::Notification),
                Some(id) if is_request_id(id) || !rule(Rule::RequestIdsAreTyped) => {
                    Ok(Incoming::Request(ServerRequest { id: id.get(), method }))
                }
                Some(_) => Err(JsonrpcFault::RequestId),
            }
        }
        (None, Some(result), None) if is_object(result) => {
            Ok(Incoming::Response(Response { id: members.id, answer: Answer::Result(result) }))
        }
        (None, Some(result), None) if !rule(Rule::ResultsAreObjects) => {
            Ok(Incoming::Response(Response { id: members.id, answer: Answer::Result(result) }))
        }
        (None, Some(_), None) => Err(JsonrpcFault::ResultNotObject),
        (None, None, Some(_)) if !rule(Rule::ErrorsAreErrors) => {
            let fine = serde_json::from_str(r#"{"content":[]}"#).map_err(|_| JsonrpcFault::ErrorObject)?;
            Ok(Incoming::Response(Response { id: members.id, answer: Answer::Result(fine) }))
        }
        (None, None, Some(error)) => {
            let code = match error_code(error) {
                Some(code) if rule(Rule::CodesAreKept) => code,
                Some(_) => -32_603,
                None if !rule(Rule::ErrorsHaveShape) => 0,
                None => return Err(JsonrpcFault::ErrorObject),
            };
            Ok(Incoming::Response(Response { id: members.id, answer: Answer::Error { code } }))
        }
        (None, Some(result), Some(_)) if !rule(Rule::ResultOrError) => {
            Ok(Incoming::Response(Response { id: members.id, answer: Answer::Result(result) }))
        }
        (Some(_), Some(result), None) if !rule(Rule::MethodOrAnswer) => {
            Ok(Incoming::Response(Response { id: members.id, answer: Answer::Result(result) }))
        }
        _ => Err(JsonrpcFault::Shape),
    }
}

/// Whether this is the request's id as it was sent; or passes for it, which takes a broken rule.
fn is_id(raw: &str, id: u64) -> bool {
    raw == super::sent_id(id)
        || (!rule(Rule::IdsAreNumbers) && raw.trim_matches('"') == id.to_string())
        || (!rule(Rule::IdsAreIntegers) && raw.parse() == Ok(id as f64))
}

/// The string a value is, if it is one.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    // What holds no escape stands for itself; the strict pass has seen to the rest.
    let plain = raw.get().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    if let Some(plain) = plain.filter(|text| memchr::memchr(b'\\', text.as_bytes()).is_none()) {
        return Some(Cow::Borrowed(plain));
    }
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

fn is_request_id(raw: &RawValue) -> bool {
    let text = raw.get();
    let digits = text.strip_prefix('-').unwrap_or(text);
    text.starts_with('"') || digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The code of an error object with an integer code and a string message.
fn error_code(error: &RawValue) -> Option<i64> {
    if !is_object(error) {
        return None;
    }
    let members: ErrorMembers<'_> = serde_json::from_str(error.get()).ok()?;
    members.message.filter(|message| message.get().starts_with('"'))?;
    members.code?.get().parse().ok()
}

#[cfg(test)]
mod tests;
