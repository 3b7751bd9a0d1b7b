//! The MCP revisions the harness knows, and their eras.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One published revision of the Model Context Protocol.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[non_exhaustive]
pub enum Revision {
    /// 2025-03-26: the first revision with Streamable HTTP.
    #[serde(rename = "2025-03-26")]
    V20250326,
    /// 2025-06-18: batches gone, `MCP-Protocol-Version` header.
    #[serde(rename = "2025-06-18")]
    V20250618,
    /// 2025-11-25: priming events and polling.
    #[serde(rename = "2025-11-25")]
    V20251125,
    /// 2026-07-28: the modern era, without handshake and session.
    #[serde(rename = "2026-07-28")]
    V20260728,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 4] = [Self::V20250326, Self::V20250618, Self::V20251125, Self::V20260728];

    /// The revision as it stands on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V20250326 => "2025-03-26",
            Self::V20250618 => "2025-06-18",
            Self::V20251125 => "2025-11-25",
            Self::V20260728 => "2026-07-28",
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|r| r.as_str() == s).ok_or_else(|| UnknownRevision(s.to_owned()))
    }
}

/// A revision that the harness does not know.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown revision {0:?}: expected one of 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28")]
pub struct UnknownRevision(pub String);
