//! Checks on requests: which ones, how many, what headers they carry.

use schemars::JsonSchema;
use serde::Deserialize;

/// Which requests.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RequestMatch {
    /// As in a rule's `on`.
    pub on: String,
    /// Only the n-th of those, from 1.
    #[serde(default)]
    pub nth: Option<u32>,
    /// Only those whose JSON body holds this (objects: at least these members; an empty one: no member). A text
    /// `$any:text` is any text, `$id:STEP` the id of that step's request.
    #[serde(default)]
    pub body: Option<serde_json::Value>,
    /// Only those whose JSON body has none of these members, whatever their value: JSON pointers such as `/id`.
    #[serde(default)]
    pub absent: Vec<String>,
    /// Only those with this header value; `$any:text` is any, so that the header's presence is all that is asked.
    #[serde(default)]
    pub header: Option<(String, String)>,
    /// Only those with this target: path and query as they were sent, the host and port never. `*` is any run of
    /// characters, none included; everything else stands for itself.
    #[serde(default)]
    pub target: Option<String>,
    /// Only those that an SDK server answered like this.
    #[serde(default)]
    pub answered: Option<Answered>,
    /// Only those that came after this step ended.
    #[serde(default)]
    pub since: Option<String>,
}

/// How an SDK server answered. What the scripted peer answers stands in its rules.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// With this HTTP status.
    #[serde(default)]
    pub status: Option<u16>,
    /// With a body of no bytes at all, whatever its framing.
    #[serde(default)]
    pub empty: bool,
}

/// How many requests.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Which.
    pub of: RequestMatch,
    /// Exactly.
    #[serde(default)]
    pub is: Option<u64>,
    /// At least.
    #[serde(default)]
    pub min: Option<u64>,
    /// At most.
    #[serde(default)]
    pub max: Option<u64>,
}

/// A header that every matching request carries, or none does.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HeaderCheck {
    /// Which requests; at least one must be there, else `unexercised`.
    pub of: RequestMatch,
    /// The header's name, lower case.
    pub name: String,
    /// Its one value; `$any:text` is any, `$session:STEP` the session id that the answer to that step's request gave.
    #[serde(default)]
    pub is: Option<String>,
    /// Media ranges or tokens that its comma-separated values must all list (parameters ignored).
    #[serde(default)]
    pub lists: Vec<String>,
    /// It must be absent.
    #[serde(default)]
    pub absent: bool,
}

/// What a text in a check asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wanted<'a> {
    /// `$any:text`: some text, whichever.
    AnyText,
    /// `$id:STEP`: the id of that step's request.
    IdOf(&'a str),
    /// `$session:STEP`: the session id that the answer to that step's request gave.
    SessionOf(&'a str),
    /// This text itself.
    Is(&'a str),
}

impl<'a> Wanted<'a> {
    /// Reads it.
    pub(crate) fn of(text: &'a str) -> Self {
        if text == "$any:text" {
            Self::AnyText
        } else if let Some(step) = text.strip_prefix("$id:") {
            Self::IdOf(step)
        } else if let Some(step) = text.strip_prefix("$session:") {
            Self::SessionOf(step)
        } else {
            Self::Is(text)
        }
    }
}
