//! Cases: one dialogue with one fault, declared in one data file.

pub mod check;
mod load;
pub mod reply;
pub mod step;
pub mod tap;
mod validate;
mod vary;

use crate::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

pub use check::Check;
pub use load::CaseFile;
pub(crate) use load::polite;
pub use reply::Rule;
pub use step::Step;
pub use tap::{Servers, TapRule};
pub use vary::VaryKey;

/// The word in every credential and cookie that a case spells: it says that it is made up. The loader refuses others,
/// since a run hands its cases on.
pub const SYNTHETIC: &str = "synthetic";

/// The most variants of a case on one wire unless it says `max_variants`.
pub const USUAL_VARIANTS: u32 = 1_500;

/// The most that `max_variants` may say.
pub const MAX_VARIANTS: u32 = 100_000;

/// A case after one choice of its `vary` keys has been put in place: what a variant runs.
///
/// In the file, `"$key"` stands wherever a `vary` key's value goes; the loader replaces it in the text, so that a
/// variant is parsed by the same strict rules as the file itself.
///
/// ```toml
/// title     = "Bytes after the terminal event cannot change the outcome"
/// revisions = ["2025-06-18"]
/// limits    = { max_line_bytes = 256 }
///
/// [vary]
/// suffix = { invalid-utf8 = { hex = "ff0a" }, long-comment = { repeat = ":", times = 257, then = "\n\n" } }
/// slice  = ["whole", "at-marks", "each-cut"]
///
/// [[peer]]
/// on     = "tools/call"
/// stream = [{ result = "snow 雪" }, { bytes = "$suffix" }]
/// slice  = "$slice"
/// then   = "hold"
///
/// [[step]]
/// call = "echo"
/// as   = "first"
///
/// [[check]]
/// id     = "result-delivered"
/// clause = "sse.post.close-after"
/// level  = "must"
/// result = { of = "first", text = "snow 雪" }
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// One sentence: the rule that the fault puts to the test.
    pub title: String,
    /// The revisions in which the dialogue makes sense.
    pub revisions: Vec<Revision>,
    /// Limits of the client, by their public option names (sizes in bytes, times in ms). A client that cannot set
    /// one of them runs with its own; checks that need it say so with `needs`.
    #[serde(default)]
    pub limits: BTreeMap<String, Limit>,
    /// Keys whose values make the variants: a list of texts, or a table of named values. Their product is taken.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub vary: toml::Table,
    /// Needed when the case has over 1,500 variants on one wire: the number up to which that is meant.
    #[serde(default)]
    pub max_variants: Option<u32>,
    /// The case's timing rests on real waiting: on TCP only its first variant runs, alone.
    #[serde(default)]
    pub timing: bool,
    /// Which SDK servers the case fits; with it, the case is one for SDK servers behind the tap.
    #[serde(default)]
    pub servers: Option<Servers>,
    /// Rules of the tap (SDK servers).
    #[serde(default)]
    pub tap: Vec<TapRule>,
    /// Rules of the peer. The first that matches answers; the polite peer of the revision stands behind them.
    // Shared: the peer of every variant has them for itself, and changes none.
    #[serde(default, deserialize_with = "shared")]
    #[schemars(with = "Vec<Rule>")]
    pub peer: Vec<Arc<Rule>>,
    /// What the client under test is made to do, in order. Without a `connect` step one comes first, named
    /// `connect`.
    #[serde(default)]
    pub step: Vec<Step>,
    /// What is expected.
    #[serde(default)]
    pub check: Vec<Check>,
}

impl Case {
    /// Whether a check asks how much the client's process grew.
    #[must_use]
    pub fn measures_memory(&self) -> bool {
        self.check.iter().any(|check| check.memory.is_some())
    }

    /// Whether a check asks how much it grew since this step.
    pub(crate) fn measures_since(&self, step: &str) -> bool {
        let since =
            |check: &Check| check.memory.as_ref().is_some_and(|memory| memory.since.as_deref() == Some(step));
        self.check.iter().any(since)
    }
}

fn shared<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<Rule>>, D::Error> {
    Ok(Vec::<Rule>::deserialize(deserializer)?.into_iter().map(Arc::new).collect())
}

/// The value of a limit.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Limit {
    /// A number.
    Is(u64),
    /// A size that the first variant measured, or that size less one: for what only the client can encode.
    Measured(Measured),
}

/// A limit set from a measurement: the case runs once with the limit left alone, then with it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// What is measured.
    pub measure: Measure,
    /// The step whose exchange is measured.
    pub of: String,
    /// How much below the measured size the limit lies: 0 is exact, 1 makes the payload one too large.
    #[serde(default)]
    pub less: u64,
}

/// What can be measured of a step's exchange. All but the first two are for SDK servers, whose answers no case fixes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Bytes of the request body.
    Request,
    /// Bytes of the client's answer to a server request: its encoded size.
    Control,
    /// Sum of header names and values of the answer's head.
    Head,
    /// Bytes of the answer's body through its terminal event's line end (CR LF: through the CR), or of all of it.
    Body,
    /// The longest SSE line of the answer, without its end.
    Line,
    /// The longest joined data of an SSE event of the answer.
    Event,
    /// The value of `mcp-session-id` of the answer.
    Session,
    /// How many tools the answer lists.
    Tools,
    /// How deep arrays and objects nest in the answer's message, itself counted.
    Depth,
    /// How many values the answer's message holds, itself counted; keys are none.
    Nodes,
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Limit;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a non-negative integer, or { measure, of, less }")
            }

            fn visit_u64<E>(self, v: u64) -> Result<Limit, E> {
                Ok(Limit::Is(v))
            }

            fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<Limit, E> {
                u64::try_from(v)
                    .map(Limit::Is)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(v), &self))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Limit, A::Error> {
                Measured::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Limit::Measured)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
