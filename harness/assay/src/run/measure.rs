//! Limits that a first run measures: for sizes that only the client can tell.

use crate::case::{Case, Limit, Measure, Measured};
use crate::judge::index::Index;
use crate::timeline::Event;
use std::collections::BTreeMap;

/// The case's limits as numbers; `timeline` is that of the run with the measured ones left alone.
///
/// # Errors
/// Something to measure did not happen, or is not larger than what is to be taken off.
pub fn resolve(case: &Case, timeline: &[Event]) -> Result<BTreeMap<String, u64>, String> {
    let resolved = case.limits.iter().map(|(name, limit)| {
        let value = match limit {
            Limit::Is(value) => *value,
            Limit::Measured(measured) => measure(case, timeline, measured)
                .and_then(|size| size.checked_sub(measured.less).filter(|value| *value > 0))
                .ok_or_else(|| {
                    format!(
                        "limits.{name}: expected step {:?} to show more than {} bytes to measure, it showed none",
                        measured.of, measured.less
                    )
                })?,
        };
        Ok((name.clone(), value))
    });
    resolved.collect()
}

fn measure(case: &Case, timeline: &[Event], measured: &Measured) -> Option<u64> {
    let index = Index::new(case, timeline);
    let body = match measured.measure {
        Measure::Request => &index.request_of(&measured.of)?.request.body,
        Measure::Control => &index.requests.iter().find(|r| r.request.on() == "reply")?.request.body,
    };
    u64::try_from(body.len()).ok()
}
