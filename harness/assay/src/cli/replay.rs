//! `replay`: recorded variants again, and whether they are as recorded.

use super::Context;
use super::args::{Format, Replay as Args};
use crate::exit::Exit;
use crate::judge::finding::line;
use crate::receipt::Problem;
use crate::render::{Detail, Failure, View, dialogue};
use crate::replay::{Refusal, Replay, Replayed};
use crate::variant::{CaseId, Variant};
use crate::verdict::{CheckResult, Outcome};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The JSON object that ends the output.
#[derive(Serialize)]
struct Report {
    case: String,
    judged_only: bool,
    variants: Vec<Entry>,
    exit: u8,
}

#[derive(Serialize)]
struct Entry {
    variant: String,
    same: bool,
    changes: Vec<String>,
    checks: Vec<CheckResult>,
}

pub(super) fn run(context: &Context, args: &Args) -> Exit {
    let (named, variant) =
        args.receipt.split_once('#').map_or((args.receipt.as_str(), None), |(path, id)| (path, Some(id)));
    let (run, case) = match locate(&context.root, named) {
        Ok(found) => found,
        Err(problem) => return context.complain(&problem),
    };
    let replay = match Replay::open(&run, &case) {
        Ok(replay) => replay,
        Err(problems) => return refused(context, &problems),
    };
    let variants = match variant {
        None => replay.firsts(),
        Some(id) => match replay.variant(id) {
            Some(variant) => vec![variant.clone()],
            None => {
                return context.complain(&format!(
                    "{case} has no recorded variant {}; `receipts show RUN {case}` lists them",
                    line(id)
                ));
            }
        },
    };
    match replayed(context, args, &replay, named, &variants) {
        Ok(exit) => exit,
        Err(Refusal::Run(problems)) => refused(context, &problems),
        Err(Refusal::NotHere(problem)) => context.complain(&problem),
        Err(Refusal::Missing(problem)) => {
            context.tell_problem(&problem);
            Exit::Incomplete
        }
    }
}

fn replayed(
    context: &Context,
    args: &Args,
    replay: &Replay,
    receipt: &str,
    variants: &[Variant],
) -> Result<Exit, Refusal> {
    let tell = |what: &str| tell!("installing unless cached: {what}");
    let mut report =
        Report { case: replay.case().to_string(), judged_only: args.judge, variants: Vec::new(), exit: 0 };
    let mut exit = Exit::AsExpected;
    for variant in variants {
        let replayed = if args.judge {
            replay.judged_again(variant)?
        } else {
            replay.again(&context.root, variant, &tell)?
        };
        let same = replayed.changes.is_empty();
        if !same {
            exit = Exit::Unexpected;
        }
        // Who names one variant wants to see it.
        let view = if args.receipt.contains('#') { View::Apart } else { View::Window };
        let text = told(context.program, replay, receipt, &replayed, args.judge, view)?;
        if args.output.format == Format::Human {
            let _told = context.print(&text);
        } else {
            tell!("{}", text.trim_end());
        }
        report.variants.push(Entry {
            variant: variant.to_string(),
            same,
            changes: replayed.changes,
            checks: replayed.now.checks,
        });
    }
    report.exit = exit.code();
    if args.output.format == Format::Json {
        exit = exit.and(context.print_json(&report));
    }
    Ok(exit)
}

/// What became of one variant: whether it is as recorded, what differs, and each failure in full.
fn told(
    program: &str,
    replay: &Replay,
    receipt: &str,
    replayed: &Replayed,
    judged: bool,
    view: View,
) -> Result<String, Vec<Problem>> {
    let mut text = String::new();
    let now = &replayed.now;
    let (case_id, profile) = (replay.case(), replay.run().head.profile.as_str());
    let id = format!("{case_id}#{}", now.variant);
    let how = if judged { "judged again" } else { "run again" };
    let checks = now.checks.len();
    // Writing into a String cannot fail.
    let _ = match replayed.changes.len() {
        0 => writeln!(text, "same       {}: {how}, {checks} checks as recorded", line(&id)),
        _ => writeln!(text, "DIFFERENT  {}: {how}", line(&id)),
    };
    for change in &replayed.changes {
        let _ = writeln!(text, "  {}", line(change));
    }
    for change in replayed.exchange.iter().flat_map(|text| text.lines()) {
        let _ = writeln!(text, "    {}", line(change));
    }
    let case = replay.instantiate(&now.variant)?;
    if view == View::Apart {
        let _ = write!(
            text,
            "\nWhat went over the wire\n\n{}",
            dialogue(&case, &now.timeline, Detail::Everything)
        );
    }
    let seed = replay.seed().map_err(|seen| {
        vec![Problem::new(
            "run.json",
            "the seed of the run",
            seen,
            "replay from a run that the harness wrote",
        )]
    })?;
    for result in now.checks.iter().filter(|result| matches!(result.outcome, Outcome::Fail | Outcome::Error))
    {
        let input = replay.input(&case, now);
        let failure =
            Failure { program, profile, case_id, input, result, seed, receipt: Some(receipt), view };
        let _ = write!(text, "\n{failure}");
    }
    Ok(text)
}

/// The run and the case of `RUN/claims/AREA/FAULT.json`, from here or from the root.
fn locate(root: &Path, named: &str) -> Result<(PathBuf, CaseId), String> {
    let given = Path::new(named);
    let bad =
        || format!("{}: expected a case's claim in a run: RUN/claims/AREA/FAULT.json[#VARIANT]", line(named));
    let mut parts = given.components().rev().map(|part| part.as_os_str().to_string_lossy());
    let (fault, area, claims) = (parts.next(), parts.next(), parts.next());
    let (Some(fault), Some(area), Some("claims")) = (fault, area, claims.as_deref()) else {
        return Err(bad());
    };
    let case = fault.strip_suffix(".json").and_then(|fault| format!("{area}/{fault}").parse().ok());
    let case: CaseId = case.ok_or_else(bad)?;
    let folder = given.ancestors().nth(3).ok_or_else(bad)?;
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    [here.to_owned(), root.join(folder)]
        .into_iter()
        .find(|folder| folder.is_dir())
        .map(|folder| (folder, case))
        .ok_or_else(|| format!("{}: there is no such run", line(&here.to_string_lossy())))
}

fn refused(context: &Context, problems: &[Problem]) -> Exit {
    for problem in problems {
        context.tell_problem(problem);
    }
    Exit::Unexpected
}
