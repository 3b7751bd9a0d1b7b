//! A run for people: what ran, what came of it, what it does not say.

use super::claim::Claim;
use super::diff::word;
use super::open::OpenRun;
use super::problem::Shown;
use super::run::{Identity, Run};
use crate::render::shell;
use crate::verdict::Outcome;
use std::fmt::Write as _;

/// A run as text of many lines.
#[must_use]
pub fn text(run: &OpenRun) -> String {
    let mut text = String::new();
    // Writing into a String cannot fail, so the answer says nothing.
    let _ = write_run(&mut text, &run.run);
    text
}

/// One case of a run as text of many lines: its groups, and each check that is no pass.
#[must_use]
pub fn case(claim: &Claim) -> String {
    let mut text = String::new();
    let _ = write_case(&mut text, claim);
    text
}

fn write_run(out: &mut String, run: &Run) -> std::fmt::Result {
    let head = &run.head;
    let scope = if head.scope.partial.is_empty() { "whole" } else { "partial" };
    writeln!(
        out,
        "{scope} run of {} at {}, exit {} by its profile",
        head.profile,
        Shown(&head.started),
        run.summary.exit
    )?;
    for reason in &head.scope.partial {
        writeln!(out, "  partial: {}", Shown(reason))?;
    }
    writeln!(out, "  command   {}", Shown(&command(&head.command)))?;
    writeln!(out, "  client    {} {}", Shown(&head.client.name), Shown(&head.client.version))?;
    writeln!(out, "  subject   {}", identity(&head.subject))?;
    for peer in &head.peers {
        writeln!(out, "  peer      {}", identity(peer))?;
    }
    writeln!(out, "  harness   {}", identity(&head.harness))?;
    writeln!(out, "  catalogue {} {}", Shown(&head.catalogue), head.catalogue_sha256)?;
    writeln!(out, "  profile   {}", head.profile_sha256)?;
    writeln!(
        out,
        "  seed      {}, {} jobs, {}",
        Shown(&head.seed),
        head.scope.jobs,
        Shown(&head.scope.size)
    )?;
    let seconds = run.summary.micros as f64 / 1e6;
    let rate = if seconds > 0.0 { run.counts.executed as f64 / seconds } else { 0.0 };
    let (cases, executed) = (run.counts.cases, run.counts.executed);
    writeln!(out, "{cases} cases, {executed} variants in {seconds:.1} s ({rate:.0} a second)")?;
    writeln!(out, "  excluded  {}, repeated {}", run.summary.excluded, run.summary.repetitions)?;
    let wires = run.counts.wires.iter().map(|(wire, count)| format!("{wire} {count}")).collect::<Vec<_>>();
    writeln!(out, "  wires     {}", wires.join(", "))?;
    let checks = run.counts.checks.iter().map(|(outcome, count)| format!("{} {count}", word(*outcome)));
    writeln!(
        out,
        "  outcomes  {}, before what the profile knows is set aside",
        checks.collect::<Vec<_>>().join(", ")
    )?;
    for (family, count) in &run.counts.families {
        writeln!(out, "  {family:<28} {count:>7} variants")?;
    }
    writeln!(out, "  claims       {} over {}", run.claims.root, run.claims.size)?;
    writeln!(out, "  observations {} over {}", run.observations.root, run.observations.size)?;
    for gap in &run.summary.not_qualified {
        writeln!(out, "  does not qualify: {}", Shown(gap))?;
    }
    Ok(())
}

fn write_case(out: &mut String, claim: &Claim) -> std::fmt::Result {
    writeln!(out, "{} of {}, case file {}", Shown(&claim.case), Shown(&claim.profile), claim.digest)?;
    for group in &claim.groups {
        let checks: Vec<_> = group.checks.iter().filter_map(|at| claim.results.get(*at)).collect();
        let passed = checks.iter().filter(|check| check.outcome == Outcome::Pass).count();
        writeln!(out, "  variants {}, checks that pass {passed} of {}", group.count, checks.len())?;
        for variants in &group.variants {
            writeln!(out, "    {}", Shown(variants))?;
        }
        for check in checks.iter().filter(|check| check.outcome != Outcome::Pass) {
            writeln!(out, "    {} {}", word(check.outcome), Shown(&check.id))?;
            writeln!(out, "      expected {}", Shown(&check.expected))?;
            writeln!(out, "      actual   {}", Shown(&check.actual))?;
        }
        if let Some(exchange) = &group.exchange {
            writeln!(out, "    exchange {}", Shown(exchange))?;
        }
    }
    Ok(())
}

fn identity(identity: &Identity) -> String {
    let mut text = format!("{} {}", Shown(&identity.name), Shown(&identity.version));
    for (name, digest) in [("sha256", identity.sha256), ("lock", identity.lock_sha256)] {
        text += &digest.map(|digest| format!(" {name} {}", digest.short())).unwrap_or_default();
    }
    if !identity.command.is_empty() {
        text += &format!(" ({})", Shown(&command(&identity.command)));
    }
    text
}

/// A command as a person would type it.
fn command(words: &[String]) -> String {
    words.iter().map(|word| shell(word)).collect::<Vec<_>>().join(" ")
}
