//! How fast a profile runs: what an estimate rests on, and nothing else.

use crate::variant::Wire;
use schemars::JsonSchema;
use serde::Deserialize;
use std::num::NonZeroU32;

/// Variants a second by wire, as a whole run of the profile made them on two idle cores.
///
/// ```
/// use mcp_assay::profile::Pace;
/// use mcp_assay::variant::Wire;
///
/// let pace: Pace = toml::from_str("tcp = 80").unwrap();
/// assert_eq!(pace.on(Wire::Tcp).unwrap().get(), 80);
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// In memory.
    #[serde(default)]
    pub memory: Option<NonZeroU32>,
    /// On TCP.
    #[serde(default)]
    pub tcp: Option<NonZeroU32>,
}

impl Pace {
    /// Variants a second on this wire, if that is stated.
    #[must_use]
    pub fn on(&self, wire: Wire) -> Option<NonZeroU32> {
        match wire {
            Wire::Memory => self.memory,
            Wire::Tcp => self.tcp,
        }
    }
}
