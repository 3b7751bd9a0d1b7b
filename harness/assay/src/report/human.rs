//! The summary a person reads.

use super::{Cuts, ProfileReport};
use crate::profile::{Part, Tier};
use crate::source::escape;
use std::fmt::Write;

/// How many notes are told; a machine gets all.
const NOTES: usize = 24;

/// Several lines, ending in a line break.
#[must_use]
pub fn summary(report: &ProfileReport) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    let checks = &report.checks;
    line(format!(
        "{}: {} cases, {} variants ({} tcp, {} memory) in {:.1} s, {:.0} a second",
        named(&report.name, report.tier),
        report.cases,
        report.variants,
        report.wires.tcp,
        report.wires.memory,
        report.seconds,
        report.variants as f64 / report.seconds.max(0.001),
    ));
    let mut counts = format!("  checks: {} pass", checks.pass);
    for (count, class) in [
        (checks.fail, "FAIL"),
        (checks.stale, "STALE"),
        (checks.known, "known"),
        (checks.note, "note"),
        (checks.unexercised, "unexercised"),
        (checks.unsupported, "unsupported"),
        (checks.inconclusive, "inconclusive"),
        (checks.error, "error"),
    ] {
        if count > 0 {
            // Writing to a String cannot fail.
            let _infallible = write!(counts, ", {count} {class}");
        }
    }
    line(counts);
    if report.cuts.made > 0 {
        let Cuts { made, proven } = report.cuts;
        line(format!("  cuts on tcp: {made} made, {proven} proven to have reached the client"));
    }
    for note in report.notes.iter().take(NOTES) {
        line(format!("  note: {}", escape(&note.to_string())));
    }
    if let Some(more) = report.notes.len().checked_sub(NOTES).filter(|more| *more > 0) {
        line(format!("  note: +{more} more, all of them with --format json"));
    }
    for unexpected in &report.unexpected {
        line(format!("  unexpected: {}", escape(unexpected)));
    }
    if report.receipts.is_empty() {
        line("  no receipts were left".to_owned());
    } else {
        line(format!("  claims root {}", report.claims_root));
        line(format!("  receipts in {} ({})", escape(&report.receipts), size(report.bytes)));
    }
    text
}

/// A profile, and the tier of it where that is not all of it.
#[must_use]
pub fn named(profile: &str, tier: Tier) -> String {
    match tier {
        Tier::Full => profile.to_owned(),
        tier => format!("{profile}, tier {tier}"),
    }
}

/// What is told of a run of a tier that took longer than the tier may. It decides nothing: how fast a machine is says
/// nothing about a client.
#[must_use]
pub fn overtime(report: &ProfileReport, part: Option<&Part>) -> Option<String> {
    let ProfileReport { name, tier, seconds, .. } = report;
    let meant = part?.seconds.get();
    (*seconds > f64::from(meant)).then(|| {
        format!(
            "note: {name}: the tier {tier} is meant to take {meant} s, it took {seconds:.1} s; that decides nothing, but \
             where the machine is not to blame, the tier wants fewer cases"
        )
    })
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KB", bytes / 1_000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests;
