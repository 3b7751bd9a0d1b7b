//! Time for a client whose case is not about time: what a busy machine takes must decide nothing.

use super::steps::STEP_MS;
use std::collections::BTreeMap;

/// What a call and a control message may take where the case says nothing, in milliseconds. It lies below what a step
/// has: a client that rests on its own deadline is heard, and not given up.
const PATIENCE_MS: u64 = 8_000;

const _: () = assert!(PATIENCE_MS < STEP_MS);

/// The limits with more time where the case names none, so that no deadline but a case's own decides: on a real wire a
/// stall of the machine would otherwise pass for a fault of the client.
pub(super) fn patient(limits: &BTreeMap<String, u64>, scale: f64) -> BTreeMap<String, u64> {
    let mut limits = limits.clone();
    for name in ["timeout", "control_timeout"] {
        limits.entry(name.to_owned()).or_insert((PATIENCE_MS as f64 * scale) as u64);
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_the_case_stays_and_the_others_grow() {
        let own = BTreeMap::from([("timeout".to_owned(), 300)]);
        let expected = BTreeMap::from([("control_timeout".to_owned(), 16_000), ("timeout".to_owned(), 300)]);
        assert_eq!(patient(&own, 2.0), expected);
    }
}
