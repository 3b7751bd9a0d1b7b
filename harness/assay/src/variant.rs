//! Case ids and variant ids: the names under which everything is selected, run and recorded.

use crate::revision::Revision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A case's id, `area/fault`: the path of its file below `fixtures/cases` without the ending.
///
/// Each part is `[a-z0-9-]{1,60}`, and there is exactly one slash, so that a path is always computed and never
/// read from a file.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CaseId {
    text: String,
    slash: usize,
}

impl CaseId {
    /// The family of the case: `sse` in `sse/bom`.
    #[must_use]
    pub fn area(&self) -> &str {
        &self.text[..self.slash]
    }

    /// The fault of the case: `bom` in `sse/bom`.
    #[must_use]
    pub fn fault(&self) -> &str {
        &self.text[self.slash + 1..]
    }

    /// The whole id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for CaseId {
    type Err = BadCaseId;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let part = |p: &str| {
            (1..=60).contains(&p.len()) && p.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        };
        match s.split_once('/') {
            Some((area, fault)) if part(area) && part(fault) => {
                Ok(Self { text: s.to_owned(), slash: area.len() })
            }
            _ => Err(BadCaseId(s.to_owned())),
        }
    }
}

/// A text that is no case id.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is no case id: expected area/fault, each of 1 to 60 characters a-z, 0-9 and -")]
pub struct BadCaseId(pub String);

/// What carries the bytes between the client under test and the peer.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// In-memory pipes under a paused clock: a read never spans two writes, and deadlines are exact and free.
    Memory,
    /// Real sockets on 127.0.0.1.
    Tcp,
}

impl Wire {
    /// The wire's name in flags, files and ids.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Tcp => "tcp",
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One variant of a case: its revision, its server (SDK profiles), its `vary` keys in order, its wire.
///
/// Its text is the variant id: `revision=2025-06-18;suffix=invalid-utf8;slice=each-cut@17;wire=tcp`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Variant {
    /// The revision the dialogue speaks.
    pub revision: Revision,
    /// The SDK server and its mode, `ts1-stateful-sse`; none under the scripted peer.
    pub server: Option<String>,
    /// The chosen value's name for each `vary` key, in the order of the file.
    pub keys: Vec<(String, String)>,
    /// The wire.
    pub wire: Wire,
}

impl Variant {
    /// The chosen value's name of one `vary` key.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&str> {
        self.keys.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "revision={}", self.revision)?;
        if let Some(server) = &self.server {
            write!(f, ";server={server}")?;
        }
        for (key, value) in &self.keys {
            write!(f, ";{key}={value}")?;
        }
        write!(f, ";wire={}", self.wire)
    }
}
