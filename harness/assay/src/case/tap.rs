//! SDK servers in cases: which of them a case fits, and what the tap does to their answers.

use super::reply::{Eol, Item, Region, Then};
use crate::sdk::manifest::{Answers, Era};
use crate::select::Pattern;
use schemars::JsonSchema;
use serde::Deserialize;

/// Which SDK servers a case fits, by what they do in the variant's revision. Its presence makes the case one for SDK
/// servers: it has no rules of the scripted peer, and runs in no profile of that.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Servers {
    /// Only modes with sessions, or only those without.
    #[serde(default)]
    pub session: Option<bool>,
    /// Only modes that answer `tools/call` in this way.
    #[serde(default)]
    pub answers: Option<Answers>,
    /// Only servers whose id one of these globs matches (`ts*`); all unless said.
    #[serde(default)]
    pub only: Vec<Pattern>,
}

impl Servers {
    /// Whether the case fits the server of this id, which behaves like this.
    #[must_use]
    pub fn fit(&self, id: &str, era: &Era) -> bool {
        self.suit(era) && !self.leave_out(id)
    }

    /// Whether the case fits servers that behave like this, whatever their names.
    #[must_use]
    pub fn suit(&self, era: &Era) -> bool {
        self.session.is_none_or(|session| session == era.session)
            && self.answers.is_none_or(|answers| answers == era.answers)
    }

    /// Whether the case leaves the server of this id out by its name.
    #[must_use]
    pub fn leave_out(&self, id: &str) -> bool {
        !self.only.is_empty() && !self.only.iter().any(|glob| glob.matches(id))
    }
}

/// One rule of the tap: which answer of an SDK server it changes, and how. The first rule that matches decides; what
/// none names passes through as the server sends it, byte by byte as it comes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TapRule {
    /// Whose answer, as a rule's `on` of the scripted peer.
    pub on: String,
    /// Only that of the n-th such request, counted from 1.
    #[serde(default)]
    pub nth: Option<u32>,
    /// Where writes end; the answer is gathered whole for it. See [`crate::plan`].
    #[serde(default)]
    pub slice: Option<String>,
    /// The part of the answer that `slice` cuts.
    #[serde(default)]
    pub slice_over: Region,
    /// Bytes put into the body, in a chunk of their own: a Content-Length becomes chunked.
    #[serde(default)]
    pub inject: Option<Vec<Item>>,
    /// Where `inject` goes.
    #[serde(default)]
    pub at: At,
    /// Line ends of injected events.
    #[serde(default)]
    pub eol: Eol,
    /// What follows the answer; the server's own doing unless said. `drip` is the scripted peer's alone.
    #[serde(default)]
    pub then: Then,
    /// Keeps the whole answer back, and the connection open. Goes with nothing else.
    #[serde(default)]
    pub withhold: bool,
}

impl TapRule {
    /// Whether the answer must be gathered before any of it is written.
    #[must_use]
    pub fn gathers(&self) -> bool {
        self.slice.is_some() || self.inject.is_some() && self.at == At::End || self.then != Then::Continue
    }

    /// Whether the connection stays open without the end of an answer, until the client or the harness closes it.
    #[must_use]
    pub fn stays_open(&self) -> bool {
        self.withhold || self.then == Then::Hold
    }

    /// Whether the body is left open: without its last chunk.
    #[must_use]
    pub fn leaves_open(&self) -> bool {
        matches!(self.then, Then::Hold | Then::Truncate | Then::TruncateRst)
    }
}

/// A place in the body of a server's answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum At {
    /// After all that the server wrote, its terminal message included.
    #[default]
    End,
    /// Before all that the server wrote; later parts still pass as they come.
    Start,
}
