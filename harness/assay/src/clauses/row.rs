//! A row: one documented behaviour of a policy.

use serde::{Deserialize, Serialize};

/// The rows of one policy, with the sections they stand in.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRows {
    policy: String,
    sections: Vec<Section>,
    rows: Vec<Row>,
}

impl PolicyRows {
    pub(super) fn new(policy: String, sections: Vec<Section>, rows: Vec<Row>) -> Self {
        Self { policy, sections, rows }
    }

    /// The policy's name.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// The sections, in the file's order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The rows, in the file's order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row with this id.
    pub fn get(&self, id: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// Whether an id has the form of this policy's ids (`EX-…`), known or not.
    pub fn claims(&self, id: &str) -> bool {
        self.sections.iter().any(|section| family(&section.prefix) == family(id))
    }
}

/// The word of an id or a prefix that stands for the policy: `EX` of `EX-SSE-01`.
fn family(id: &str) -> &str {
    id.split('-').next().unwrap_or_default()
}

/// Rows about one subject; their ids share a prefix.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// What the ids start with, without the dash before the number: `EX-SSE`.
    pub prefix: String,
    /// The subject.
    pub title: String,
}

impl Section {
    /// Whether the row with this id stands in the section: prefix, dash, number.
    pub fn holds(&self, id: &str) -> bool {
        id.strip_prefix(&self.prefix)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(|number| number.len() >= 2 && number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// One documented behaviour of a policy.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Policy, section, number: `EX-SSE-01`.
    pub id: String,
    /// The policy it belongs to.
    pub policy: String,
    /// The behaviour in one line.
    pub title: String,
    /// What the client and its caller start from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// What the peer sends or does, in the shorthand that the file explains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<String>,
    /// What the client reports, by the stable names of its error kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// What the server must have seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// How well it is known.
    pub evidence: Evidence,
    /// Why the row has no check, test or type here; none if one can exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
}

/// How well a row is known: the strongest of its grounds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Evidence {
    /// An upstream test asserts it.
    #[serde(rename = "T")]
    Test,
    /// Read from upstream source; no test was seen.
    #[serde(rename = "S")]
    Source,
    /// Stated in a document only.
    #[serde(rename = "D")]
    Document,
    /// Inferred from source and document.
    #[serde(rename = "I")]
    Inferred,
}
