//! The driver protocol: one JSON object a line, requests on a driver's stdin, replies on its stdout.
//!
//! Every request has a `seq` of its own, counting upwards from 1, and gets exactly one reply with the same `seq`;
//! replies may come out of order. A verb that a driver does not know is `unsupported`, and members that it does not
//! know are passed over, so that the protocol can grow.

mod verbs;

pub use verbs::Asked;

use crate::returned::Returned;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The most bytes of a line, its end left out.
pub const LINE_MAX: usize = 8 << 20;

/// One request. Which members a verb has stands with them.
///
/// ```
/// use mcp_assay::driver::protocol::Request;
///
/// let line = r#"{"seq":4,"verb":"call_tool","client":"a","tool":"echo","arguments":{"text":"snow"}}"#;
/// let request: Request = serde_json::from_str(line)?;
/// assert_eq!((request.seq, request.verb.as_str()), (4, "call_tool"));
/// assert_eq!(serde_json::to_string(&request)?, line);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Request {
    /// The request's number.
    #[schemars(range(min = 1))]
    pub seq: u64,
    /// What to do: `hello`, `connect`, `list_tools`, `call_tool`, `cancel`, `reconnect`, `close`, `kill` or `end`.
    pub verb: String,
    /// All but `hello` and `end`: the client it is about, `a`, `b`, …; several may live at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// `connect`: the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `connect`: headers to configure, as pairs of name and value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<(String, String)>>,
    /// `connect`: the protocol revision to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// `connect`: limits by their public option names, only those that `hello` named; milliseconds or bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<BTreeMap<String, u64>>,
    /// `call_tool`: the tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// `call_tool`: its arguments; an object, unless a case puts the client to something else.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Value")]
    pub arguments: Option<Box<RawValue>>,
    /// `call_tool`: a time limit of this call, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// `cancel`: the `seq` of the pending verb that is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
}

/// The reply to every verb but `hello`.
///
/// Strict: a member that is misspelt would be lost, and the client judged without it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "reply")]
pub enum Reply {
    /// The verb succeeded.
    Ok {
        /// The request's number.
        seq: u64,
        /// `call_tool`: the text content, several joined by a line feed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// `list_tools`: the tools, each `{name, description?, inputSchema}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<serde_json::Value>>,
    },
    /// The verb failed.
    Error {
        /// The request's number.
        seq: u64,
        /// The client's own word for the kind of failure; `cancelled` for a verb that was given up, `tool_error` for
        /// a result with `isError`.
        kind: String,
        /// The client's message.
        message: String,
        /// Whether the request was surely not sent, its effect is uncertain, or the server answered it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<Effect>,
        /// HTTP status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        /// JSON-RPC code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i64>,
        /// Text of a tool that reported failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The client, or its driver, cannot do this.
    Unsupported {
        /// The request's number.
        seq: u64,
        /// Why.
        message: String,
    },
}

/// What became of a request whose verb failed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It was surely not sent.
    NotSent,
    /// Nobody knows whether it had one.
    Uncertain,
    /// The server answered it.
    Answered,
}

/// The reply to `hello`: who drives whom.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The request's number.
    pub seq: u64,
    /// Always `ok`.
    pub reply: HelloReply,
    /// The client's name: its package.
    pub name: String,
    /// The client's exact version.
    pub version: String,
    /// What it is written in.
    pub language: String,
    /// What runs it, with its version.
    pub runtime: String,
    /// The protocol revisions it can be asked to speak.
    pub revisions: Vec<String>,
    /// The verbs the driver performs.
    pub verbs: Vec<String>,
    /// The limits it can set, by their public option names.
    pub limits: Vec<String>,
    /// Where the client's faults are reported: an URL.
    pub issues: String,
    /// A policy of the harness that binds the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// The one reply that `hello` has.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HelloReply {
    /// Here it is.
    Ok,
}

/// The one member by which lines and requests find each other.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Numbered {
    /// The number.
    pub seq: u64,
}

/// A line in either direction, for the schema.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "it only stands for its schema")]
pub(crate) enum Line {
    /// From the harness to the driver.
    Request(Request),
    /// The reply to `hello`.
    Hello(Hello),
    /// The reply to any other verb.
    Reply(Reply),
}

impl Reply {
    /// The reply to request `seq` that says this.
    #[must_use]
    pub fn new(seq: u64, returned: Returned) -> Self {
        match returned {
            Returned::Ok { text, tools } => Self::Ok { seq, text, tools },
            Returned::Error { kind, message, effect, status, code, text } => {
                let effect = effect.as_deref().and_then(Effect::named);
                Self::Error { seq, kind, message, effect, status, code, text }
            }
            Returned::Unsupported { message } => Self::Unsupported { seq, message },
        }
    }

    /// What it says.
    #[must_use]
    pub fn returned(self) -> Returned {
        match self {
            Self::Ok { text, tools, .. } => Returned::Ok { text, tools },
            Self::Error { kind, message, effect, status, code, text, .. } => {
                let effect = effect.map(|effect| effect.name().to_owned());
                Returned::Error { kind, message, effect, status, code, text }
            }
            Self::Unsupported { message, .. } => Returned::Unsupported { message },
        }
    }
}

impl Effect {
    const ALL: [Self; 3] = [Self::NotSent, Self::Uncertain, Self::Answered];

    fn name(self) -> &'static str {
        match self {
            Self::NotSent => "not-sent",
            Self::Uncertain => "uncertain",
            Self::Answered => "answered",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.name() == name)
    }
}

/// A member that is there, also where it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests;
