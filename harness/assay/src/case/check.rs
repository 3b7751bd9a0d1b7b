//! Checks: what is expected, tied to a clause or a policy row. The kinds are few and closed; a rule that needs more
//! gets a kind of its own in Rust.

mod requests;

use crate::revision::Revision;
use crate::timeline::Side;
use crate::verdict::Level;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

pub(crate) use requests::Wanted;
pub use requests::{Answered, Count, HeaderCheck, RequestMatch};

/// One expectation: exactly one kind key.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The check's id in its case, `[a-z0-9-]{1,60}`.
    #[schemars(with = "String")]
    pub id: Spanned<String>,
    /// The clause it shows.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub clause: Option<Spanned<String>>,
    /// The policy row it shows.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub row: Option<Spanned<String>>,
    /// Further rows the same expectation shows.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub rows: Vec<Spanned<String>>,
    /// How strongly it binds; the clause's own level unless said, `must` for rows.
    #[serde(default)]
    pub level: Option<Level>,
    /// Binds only clients of this policy. A check without it binds every client and never asks for an error's kind.
    #[serde(default)]
    pub policy: Option<String>,
    /// Only in these revisions.
    #[serde(default)]
    pub revisions: Option<Vec<Revision>>,
    /// Only in variants whose `vary` keys have these values. `server` is the variant's SDK server, and takes globs:
    /// `ts2-*`.
    #[serde(default)]
    pub when: BTreeMap<String, OneOrMore>,
    /// Limits and verbs that the client must offer, else `unsupported`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What must have happened for the check to say anything, else `unexercised`.
    #[serde(default)]
    pub given: Option<Given>,

    /// Kind: a request was seen.
    #[serde(default)]
    pub seen: Option<RequestMatch>,
    /// Kind: no request was seen.
    #[serde(default)]
    pub never: Option<RequestMatch>,
    /// Kind: how many requests were seen.
    #[serde(default)]
    pub count: Option<Count>,
    /// Kind: the first requests of these methods came in this order. Entries as in `on`, or `closed:STEP`,
    /// `ended:STEP`.
    #[serde(default)]
    pub order: Option<Vec<String>>,
    /// Kind: at least this much time lay between two events.
    #[serde(default)]
    pub gap: Option<Gap>,
    /// Kind: a header of every matching request.
    #[serde(default)]
    pub header: Option<HeaderCheck>,
    /// Kind: the step succeeded with this.
    #[serde(default)]
    pub result: Option<ResultCheck>,
    /// Kind: the step failed.
    #[serde(default)]
    pub error: Option<ErrorCheck>,
    /// Kind: a connection was closed.
    #[serde(default)]
    pub closed: Option<ClosedCheck>,
    /// Kind: the client's process grew by no more than this.
    #[serde(default)]
    pub memory: Option<MemoryCheck>,
    /// Kind: the client still works: this later step succeeded.
    #[serde(default)]
    pub alive: Option<String>,
    /// Kind (SDK servers): the server's own journal says so.
    #[serde(default)]
    pub witness: Option<WitnessCheck>,
}

/// One text or several.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(transparent)]
pub struct OneOrMore(#[schemars(with = "serde_json::Value")] pub Vec<String>);

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = OneOrMore;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E>(self, v: &str) -> Result<OneOrMore, E> {
                Ok(OneOrMore(vec![v.to_owned()]))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<OneOrMore, A::Error> {
                Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(seq)).map(OneOrMore)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A condition for a check.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// This step ended (well or not) before teardown.
    #[serde(default)]
    pub ended: Option<String>,
    /// This step succeeded.
    #[serde(default)]
    pub ok: Option<String>,
    /// Such a request was seen.
    #[serde(default)]
    pub seen: Option<RequestMatch>,
    /// The reply to this step's request was sent to its end.
    #[serde(default)]
    pub replied: Option<String>,
}

/// A lower bound between two events, each as in a step's `after` (also `began:STEP`, `ended:STEP`).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// The earlier event.
    pub from: String,
    /// The later event.
    pub to: String,
    /// Milliseconds of the variant's clock.
    pub min_ms: u64,
}

/// What a step that succeeded returned.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ResultCheck {
    /// The step.
    pub of: String,
    /// The text it returned.
    #[serde(default)]
    pub text: Option<String>,
    /// The tools it returned: their names in order.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The input schema of the first tool, equal as JSON, as JSON text.
    #[serde(default)]
    pub schema_json: Option<String>,
    /// For tools by their names, what their input schemas hold, by the rules of a request's `body`: objects at least
    /// these members. For servers that each say the same in a form of their own.
    #[serde(default)]
    pub schemas: BTreeMap<String, serde_json::Value>,
}

/// How a step failed.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ErrorCheck {
    /// The step.
    pub of: String,
    /// The error's kind (only with `policy`).
    #[serde(default)]
    pub kind: Option<String>,
    /// HTTP status it names (only with `policy`).
    #[serde(default)]
    pub status: Option<u16>,
    /// JSON-RPC code it names (only with `policy`).
    #[serde(default)]
    pub code: Option<i64>,
    /// Text of a failed tool (only with `policy`).
    #[serde(default)]
    pub text: Option<String>,
    /// What is known of the effect: `not-sent`, `uncertain`, `answered` (only with `policy`).
    #[serde(default)]
    pub effect: Option<String>,
    /// Texts that the message must not hold (only with `policy`).
    #[serde(default)]
    pub without: Vec<String>,
}

/// What an SDK server's own journal says. At least one is asked; all of them must hold.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WitnessCheck {
    /// Journal and wire agree: the same requests (method, JSON-RPC method, id, status), each as often; every tool that
    /// ran has its call on the wire, with the effect its name promises, and every call that was answered ran.
    #[serde(default)]
    pub agrees: bool,
    /// This many tools ran that have an effect.
    #[serde(default)]
    pub effects: Option<u64>,
    /// This many running tools were told to stop.
    #[serde(default)]
    pub cancelled: Option<u64>,
    /// Every request of the wire that was answered 200 with a message was answered in this form.
    #[serde(default)]
    pub answers: Option<AnswerForm>,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerForm {
    /// `application/json`.
    Json,
    /// `text/event-stream`.
    Sse,
}

impl AnswerForm {
    /// Its media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Sse => "text/event-stream",
        }
    }
}

/// How much the client's process may grow: from a moment to the end of the steps, its highest resident size.
///
/// It is measured on Linux, of clients that are processes of their own, and a process that was measured serves no
/// further variant. What a runtime takes to warm up is no fault: `since` a step behind one that has made the client do
/// the same with a lawful peer, growth is the peer's doing.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MemoryCheck {
    /// Bytes. What the peer offers must be very much more: a runtime that collects garbage is noisy by tens of MiB.
    #[schemars(range(min = 1))]
    pub at_most: u64,
    /// From the beginning of this step; unless said, from before the first.
    #[serde(default)]
    pub since: Option<String>,
}

/// A connection that was closed before teardown.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ClosedCheck {
    /// By whom.
    pub by: Side,
    /// The step on whose request's connection, or `ON#n` for the n-th request on that method.
    pub request: String,
}
