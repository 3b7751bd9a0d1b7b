//! What a client's API returned for one verb, in the words every driver shares.

use serde::{Deserialize, Serialize};

/// The kind of the error by which a verb ends whose driver broke. It says nothing about the client, so no check is
/// decided on the variant.
pub const BROKEN: &str = "driver";

/// The step of a timeline that stands for the end of a variant's driver, behind teardown. No step of a case has such a
/// name.
pub const DRIVER_END: &str = "(end)";

/// What one verb returned.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "returned", deny_unknown_fields)]
pub enum Returned {
    /// The verb succeeded.
    Ok {
        /// Text of a tool result, text blocks joined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The discovered tools, each `{name, description?, inputSchema}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<serde_json::Value>>,
    },
    /// The verb failed.
    Error {
        /// The client's own word for the kind of failure. Checks that bind every client never look at it.
        kind: String,
        /// The client's message.
        message: String,
        /// Whether the request was surely not sent, its effect is uncertain, or the server answered; where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<String>,
        /// HTTP status, where the error is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        /// JSON-RPC code, where the error is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i64>,
        /// Text of a tool that reported failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The client says it cannot do this.
    Unsupported {
        /// Why, in the client's words.
        message: String,
    },
}

impl Returned {
    /// What a verb returns whose driver broke: `problem` says what was expected of it, and what was seen.
    #[must_use]
    pub fn broken(problem: String) -> Self {
        Self::Error {
            kind: BROKEN.to_owned(),
            message: problem,
            effect: None,
            status: None,
            code: None,
            text: None,
        }
    }

    /// What the driver did, where the verb ended because it broke.
    #[must_use]
    pub fn problem_of_driver(&self) -> Option<&str> {
        match self {
            Self::Error { kind, message, .. } if kind == BROKEN => Some(message),
            _ => None,
        }
    }
}
