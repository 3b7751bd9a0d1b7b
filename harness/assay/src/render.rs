//! A result as text for a person: what was asked and by whom, what was seen, the bytes around it, and how to run it
//! again. Nothing that a peer, a driver or a file said reaches the terminal raw.

mod bytes;
mod dialogue;
mod exchange;
mod live;
mod window;

use crate::case::check::Check;
use crate::clauses::Evidence;
use crate::judge::JudgeInput;
use crate::judge::finding::line;
use crate::judge::index::{Index, StepRecord};
use crate::judge::kind::Kind;
use crate::judge::memory;
use crate::judge::outcome::describe_returned;
use crate::returned::Returned;
use crate::run::DEFAULT_SEED;
use crate::source::escape;
use crate::variant::CaseId;
use crate::verdict::{CheckResult, Level, Outcome};
use std::fmt::{self, Write as _};

pub use bytes::annotated;
pub use dialogue::{Detail, dialogue};
pub use live::live;

/// What is shown of the wire beside a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum View {
    /// A screen: of each reply the first line, and the lines around the last cut and the end of what decides.
    Window,
    /// Nothing: the whole [`dialogue`] stands before it.
    Apart,
}

/// One result of one variant, to be shown: `to_string` gives the text.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    /// How the program is called, for the commands: `cargo xtask`, `mcp-assay`.
    pub program: &'a str,
    /// The profile that ran: its name, or its file as the person gave it.
    pub profile: &'a str,
    /// The case.
    pub case_id: &'a CaseId,
    /// What was judged.
    pub input: JudgeInput<'a>,
    /// What the judge found for one check.
    pub result: &'a CheckResult,
    /// The seed it ran with.
    pub seed: u64,
    /// The receipt the variant can be replayed from, as the person would type it; none while it is not written yet.
    pub receipt: Option<&'a str>,
    /// How much of the wire is shown.
    pub view: View,
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, profile, case_id, input, result, seed, receipt, view } = self;
        let check = input.case.check.iter().find(|check| *check.id.get_ref() == result.id);
        let index = Index::new(input.case, input.timeline);
        let kind = check.and_then(Kind::of);
        let mut out = String::new();
        let _ = writeln!(out, "{} {case_id}#{}\n", word(result), line(&input.variant.to_string()));
        let _ = writeln!(out, "  case      {}", line(&input.case.title));
        let _ = writeln!(out, "  check     {} ({})", line(&result.id), result.level.as_str());
        if let Some(check) = check {
            sources(check, input, &mut out);
        }
        let _ = writeln!(out, "  expected  {}", line(&result.expected));
        let _ = writeln!(out, "  actual    {}", line(&result.actual));
        if let Some(grown) = grown(&index, kind) {
            let _ = writeln!(out, "  measured  {grown} bytes this time");
        }
        out.push('\n');
        if *view == View::Window {
            exchange::wire(&index, &exchange::concerned(&index, kind), input.timeline, &mut out);
        }
        returns(&index, kind, &mut out);
        let variant = input.variant;
        let _ = writeln!(
            out,
            "  again     {program} conformance --profile {}{} --filter {}",
            shell(profile),
            if *seed == DEFAULT_SEED { String::new() } else { format!(" --seed {seed}") },
            shell(&format!("{case_id}#{variant}"))
        );
        let unwritten = format!("RUN/claims/{case_id}.json");
        let receipt_of = shell(&format!("{}#{variant}", receipt.unwrap_or(&unwritten)));
        // A replay has no process of the client's own that could be measured.
        let judge = if input.case.measures_memory() { "--judge " } else { "" };
        let _ = writeln!(out, "  replay    {program} replay {judge}{receipt_of}");
        let _ = match (receipt, view) {
            (None, _) => {
                writeln!(
                    out,
                    "            shows the whole wire; RUN is the folder of receipts that the run leaves"
                )
            }
            (Some(_), View::Window) => writeln!(out, "            shows the whole wire"),
            (Some(_), View::Apart) => Ok(()),
        };
        f.write_str(&out)
    }
}

/// The outcome in capitals; a should or may that did not hold is a note.
fn word(result: &CheckResult) -> &'static str {
    match result.outcome {
        Outcome::Pass => "PASS",
        Outcome::Fail if result.level == Level::Must => "FAIL",
        Outcome::Fail => "NOTE",
        Outcome::Unexercised => "UNEXERCISED",
        Outcome::Unsupported => "UNSUPPORTED",
        Outcome::Inconclusive => "INCONCLUSIVE",
        Outcome::Error => "ERROR",
    }
}

/// The clause and the rows a check is tied to, with their texts and where those stand.
fn sources(check: &Check, input: &JudgeInput<'_>, out: &mut String) {
    if let Some(id) = check.clause.as_ref().map(toml::Spanned::get_ref) {
        match input.clauses.get(id) {
            Some(clause) => {
                let _ = writeln!(out, "  clause    {} ({})", line(id), clause.keyword);
                let _ = writeln!(out, "            {}", line(&clause.text));
                let _ = writeln!(out, "            {}", line(&clause.source));
            }
            None => {
                let _ = writeln!(out, "  clause    {}", line(id));
            }
        }
    }
    for id in check.row.iter().chain(&check.rows).map(toml::Spanned::get_ref) {
        match input.clauses.row(id) {
            Some(row) => {
                let _ = writeln!(out, "  row       {} (policy {})", line(id), line(&row.policy));
                let _ = writeln!(out, "            {}", line(&row.title));
                for (who, column) in [("client", &row.client), ("server", &row.server)] {
                    if let Some(column) = column {
                        let _ = writeln!(out, "            {who}: {}", line(column));
                    }
                }
                let _ = writeln!(out, "            evidence: {}", evidence(row.evidence));
            }
            None => {
                let _ = writeln!(out, "  row       {}", line(id));
            }
        }
    }
}

/// What stands behind a row, in words.
fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Test => "T, an upstream test asserts it",
        Evidence::Source => "S, read from upstream source",
        Evidence::Document => "D, stated in a document only",
        Evidence::Inferred => "I, inferred from source and document",
    }
}

/// By how many bytes the client's process grew, where the check is about that: the person may know, no claim could.
fn grown(index: &Index<'_>, kind: Option<Kind<'_>>) -> Option<u64> {
    match kind? {
        Kind::Memory(check) => memory::grown(index, check),
        _ => None,
    }
}

/// What the client's API returned for the steps concerned, or for all of them.
fn returns(index: &Index<'_>, kind: Option<Kind<'_>>, out: &mut String) {
    let named = kind.map(Kind::steps).unwrap_or_default();
    let mut steps: Vec<&StepRecord<'_>> = named.iter().filter_map(|name| index.step(name)).collect();
    if steps.is_empty() {
        steps = index.steps.iter().filter(|step| step.verb != "await").collect();
    }
    steps.dedup_by(|a, b| a.name == b.name);
    const MOST: usize = 8;
    for (at, step) in steps.iter().take(MOST).enumerate() {
        let label = if at == 0 { "client" } else { "" };
        let _ = writeln!(out, "  {label:<9} {}", line(&returned(step)));
    }
    if let Some(more) = steps.len().checked_sub(MOST).filter(|more| *more > 0) {
        let _ = writeln!(out, "            … and {more} steps more");
    }
}

/// What the client's API returned for a step, in one line.
pub(crate) fn returned(step: &StepRecord<'_>) -> String {
    let name = &step.name;
    match step.ended {
        None if step.began.is_none() => format!("`{name}` never began"),
        None => format!("`{name}` returned nothing"),
        Some((_, returned)) => {
            let said = describe_returned(returned);
            match returned {
                Returned::Error { message, .. } | Returned::Unsupported { message }
                    if !message.is_empty() =>
                {
                    format!("`{name}` {said}: {message}")
                }
                _ => format!("`{name}` {said}"),
            }
        }
    }
}

/// A word that any POSIX shell takes as it stands.
pub(crate) fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // Never cut, unlike a line of a result: a command must stay whole.
    format!("'{}'", escape(word).replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
