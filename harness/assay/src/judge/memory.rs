//! The kind memory: by how much the client's process grew.
//!
//! How much it was is left to the timeline: no claim could say it twice alike.

use super::finding::Finding;
use super::index::Index;
use crate::case::check::MemoryCheck;

pub(super) fn expected(check: &MemoryCheck) -> String {
    let since = check.since.as_ref().map(|step| format!(" from step `{step}` on")).unwrap_or_default();
    format!("the client's process grows by at most {} bytes{since}", check.at_most)
}

/// A process that still works on a step may still grow, so that only too much is decided then.
pub(super) fn memory(index: &Index<'_>, check: &MemoryCheck) -> Finding {
    if let Some(step) = check.since.as_ref().filter(|step| index.step(step).is_none()) {
        return Finding::error(format!("the case has no step `{step}`"));
    }
    let unfinished = || {
        let open = index.steps.iter().find(|step| step.began.is_some() && step.ended.is_none());
        index.unfinished().or_else(|| Some(format!("step `{}` did not end", open?.name)))
    };
    match grown(index, check) {
        Some(grown) if grown > check.at_most => {
            Finding::fail(format!("it grew by more than {} bytes", check.at_most))
        }
        _ if let Some(why) = unfinished() => Finding::inconclusive(why),
        Some(_) => Finding::pass(format!("it grew by at most {} bytes", check.at_most)),
        None => Finding::unexercised(
            "not measured each time: the client has no process of its own, it was gone, or the system does not tell"
                .to_owned(),
        ),
    }
}

/// By how many bytes the process grew, as far as the check counts: at its peak, beyond what it took when the counting
/// began. None where it was not measured each time.
pub(crate) fn grown(index: &Index<'_>, check: &MemoryCheck) -> Option<u64> {
    let began = match &check.since {
        Some(step) => Some(index.step(step)?.began?),
        None => None,
    };
    // Asked right before the step began, or before the first one.
    let earlier = match began {
        Some(began) => index.memory.partition_point(|(place, _)| *place < began),
        None => 1,
    };
    let (_, from) = index.memory.get(earlier.checked_sub(1)?)?;
    let peaks = index.memory.get(earlier..)?.iter().map(|(_, taken)| taken.map(|taken| taken.peak));
    let peak = peaks.collect::<Option<Vec<_>>>()?.into_iter().max()?;
    Some(peak.saturating_sub(from.as_ref()?.now))
}
