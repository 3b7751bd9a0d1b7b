//! How much a client grows under a peer that never stops: against the formula that its documentation states.
//!
//! The built-in client runs as a process of its own, one for each measurement. After a warm-up the highest resident
//! size is reset, the peer is asked for a shape, and the highest resident size afterwards is compared.

mod pour;
mod process;
mod shape;

use mcp_assay_client::Limits;
use pour::Pour;
use process::Client;
use serde::Serialize;
pub use shape::Shape;

/// The most bytes a peer offers, and the larger of the response limits.
const OFFERED: usize = 256 << 20;

/// What a process may grow by beside the formula: the allocator's own, its fragments, the driver's lines.
pub const ALLOWANCE: u64 = 4 << 20;

/// Under which limits, and how many calls do it at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Load {
    /// The defaults, one call.
    Default,
    /// The defaults, as many calls as may be pending; as many as find a second connection where each needs one.
    Pending,
    /// A response limit of 256 MiB, one call.
    Large,
}

impl Load {
    /// All, or those of a short run.
    #[must_use]
    pub fn chosen(short: bool) -> &'static [Self] {
        if short { &[Self::Default, Self::Pending] } else { &[Self::Default, Self::Pending, Self::Large] }
    }

    /// In words, as the report shows it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Pending => "default, max_pending calls",
            Self::Large => "max_response_bytes = 268435456",
        }
    }

    fn limits(self) -> Limits {
        match self {
            Self::Default | Self::Pending => Limits::default(),
            Self::Large => Limits::default().max_response_bytes(OFFERED),
        }
    }

    /// What of the limits so many calls can use: each takes one connection at a time, or two where it replies.
    fn in_use(self, shape: Shape) -> Limits {
        let (limits, calls) = (self.limits(), self.calls(shape));
        let connections = if shape == Shape::BodyOn202 { 2 * calls } else { calls };
        let connections = connections.min(limits.max_connections);
        limits.max_pending(calls).max_connections(connections)
    }

    /// How it is called where its shape is this.
    fn name_for(self, shape: Shape) -> &'static str {
        match (self, shape) {
            // A reply to the server travels on a connection of its own, while its call's stream holds one.
            (Self::Pending, Shape::BodyOn202) => "default, max_connections / 2 calls",
            _ => self.name(),
        }
    }

    fn calls(self, shape: Shape) -> usize {
        match (self, shape) {
            (Self::Default | Self::Large, _) => 1,
            (Self::Pending, Shape::BodyOn202) => self.limits().max_connections / 2,
            (Self::Pending, _) => self.limits().max_pending,
        }
    }
}

/// How much a client grew.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// What the peer offered.
    pub shape: &'static str,
    /// The limits.
    pub limits: &'static str,
    /// By how much the highest resident size grew.
    pub growth_bytes: u64,
    /// What `Limits::memory_bound` states for these limits, with as many requests and connections as the calls use.
    pub formula_bytes: u64,
}

impl Growth {
    /// Whether it stays below the formula and the allowance.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.growth_bytes < self.formula_bytes.saturating_add(ALLOWANCE)
    }
}

/// Measures one shape under one load.
///
/// # Errors
/// In words: the driver cannot be started or does not speak its protocol, the system does not tell sizes.
pub fn measure(shape: Shape, load: Load) -> Result<Growth, String> {
    let limits = load.limits();
    let pour = Pour::start(&limits)?;
    let mut client = Client::start()?;
    client.connect(&pour.url(), limits.max_response_bytes)?;
    let calls = load.calls(shape);
    let warm_up = client.calls("polite", calls)?;
    let before = client.reset_peak()?;
    let late = client.calls(shape.name(), calls)?;
    let after = client.peak()?;
    if warm_up > 0 || late > 0 {
        return Err(format!("{late} of {calls} calls reached their deadline, so nothing was shown"));
    }
    let poured = pour.poured();
    if poured < calls {
        return Err(format!(
            "expected the peer to pour {calls} times, it did {poured} times: nothing was shown"
        ));
    }
    let formula = u64::try_from(load.in_use(shape).memory_bound()).unwrap_or(u64::MAX);
    Ok(Growth {
        shape: shape.name(),
        limits: load.name_for(shape),
        growth_bytes: after.saturating_sub(before),
        formula_bytes: formula,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_bounded_below_formula_and_allowance() {
        let growth = |growth_bytes| Growth { shape: "s", limits: "l", growth_bytes, formula_bytes: 10 };
        assert!(growth(ALLOWANCE + 9).is_bounded());
        assert!(!growth(ALLOWANCE + 10).is_bounded());
    }

    #[test]
    fn the_object_has_the_members_that_scripts_rest_on() {
        let growth = Growth { shape: "one-line", limits: "default", growth_bytes: 1, formula_bytes: 2 };
        let text = serde_json::to_string(&growth).unwrap();
        assert_eq!(text, r#"{"shape":"one-line","limits":"default","growth_bytes":1,"formula_bytes":2}"#);
    }

    #[test]
    fn a_short_run_leaves_only_the_large_limit_out() {
        assert_eq!(Load::chosen(true).len() + 1, Load::chosen(false).len());
        assert!(!Load::chosen(true).contains(&Load::Large));
        assert_eq!(Load::Pending.calls(Shape::OneLine), Limits::default().max_pending);
    }

    #[test]
    fn one_call_is_held_against_what_one_call_may_take() {
        let bound = |load: Load| load.in_use(Shape::OneLine).memory_bound();
        let (one, all) = (bound(Load::Default), bound(Load::Pending));
        assert_eq!(all, Limits::default().memory_bound());
        assert!(one * 7 < all, "{one} {all}");
    }
}
