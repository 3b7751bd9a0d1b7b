//! `receipts`: verify, compare and show runs.

mod newest;

use super::Context;
use super::args::{Format, Output, Receipts, ReceiptsCommand};
use crate::exit::Exit;
use crate::receipt::diff::{self, RunDiff};
use crate::receipt::run::Run;
use crate::receipt::verify::VerifyReport;
use crate::receipt::{CatalogJudge, OpenRun, Problem, accept, claim, show, verify};
use crate::variant::CaseId;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where runs go, below the root.
pub(super) const RUNS: &str = "receipts/runs";

/// Where accepted claims are, below the root.
pub(super) const ACCEPTED: &str = "receipts/accepted";

pub(super) fn run(context: &Context, args: &Receipts) -> Exit {
    match &args.command {
        ReceiptsCommand::Verify { run, output } => verify_all(context, run, output),
        ReceiptsCommand::Diff { a, b, output } => compare(context, a, b, output),
        ReceiptsCommand::Show { run, case, output } => show_run(context, run, case.as_deref(), output),
    }
}

/// The JSON object that ends `verify`.
#[derive(Serialize)]
struct Verified {
    runs: Vec<One>,
    exit: u8,
}

#[derive(Serialize)]
struct One {
    run: String,
    verified: bool,
    report: Option<VerifyReport>,
    problems: Vec<Problem>,
}

fn verify_all(context: &Context, named: &[PathBuf], output: &Output) -> Exit {
    let runs = if named.is_empty() {
        let folder = context.root.join(RUNS);
        match newest::of_each_profile(&folder) {
            Ok(runs) if runs.is_empty() => {
                return context.complain(&format!(
                    "expected runs below {RUNS}, found none; `{} conformance` leaves one, or name a run's folder",
                    context.program
                ));
            }
            Ok(runs) => runs,
            Err(problem) => return context.complain(&problem),
        }
    } else {
        named.to_vec()
    };
    if let Some(missing) = runs.iter().find(|run| !run.is_dir()) {
        return context.complain(&no_folder(missing));
    }
    let mut exit = Exit::AsExpected;
    let mut done = Vec::new();
    for path in &runs {
        // A judge takes up the texts of one run.
        let verdict = verify(path, &mut CatalogJudge::default());
        let run = path.strip_prefix(&context.root).unwrap_or(path).display().to_string();
        let (report, problems) = match verdict {
            Ok(report) => (Some(report), Vec::new()),
            Err(problems) => {
                exit = Exit::Unexpected;
                (None, problems)
            }
        };
        let text = match &report {
            Some(report) => format!("{run}\n  {}\n", report.sentence()),
            None => {
                let lines: String = problems.iter().map(|problem| format!("  {problem}\n")).collect();
                format!("{run}\n  REFUSED: {} problems\n{lines}", problems.len())
            }
        };
        told(context, output, &text);
        done.push(One { run, verified: report.is_some(), report, problems });
    }
    ended(context, output, exit, |exit| Verified { runs: done, exit })
}

/// The JSON object that ends `diff`.
#[derive(Serialize)]
struct Compared {
    same: bool,
    diff: RunDiff,
    exit: u8,
}

fn compare(context: &Context, a: &Path, b: &Path, output: &Output) -> Exit {
    let to = match open(context, b) {
        Ok(run) => run,
        Err(exit) => return exit,
    };
    let diff = if a == Path::new("accepted") {
        let claims = match accept::load(&context.root.join(ACCEPTED), &to.run.head.profile) {
            Ok(claims) => claims,
            Err(problems) => return refused(context, &problems),
        };
        if claims.is_empty() {
            return context.complain(&format!(
                "nothing of the profile {} is accepted yet; `{} conformance --accept` does that",
                to.run.head.profile, context.program
            ));
        }
        accept::compare(&claims, &to).map_err(|problem| vec![problem])
    } else {
        match open(context, a) {
            Ok(from) => diff::runs(&from, &to, Some(&mut CatalogJudge::default())),
            Err(exit) => return exit,
        }
    };
    let diff = match diff {
        Ok(diff) => diff,
        Err(problems) => return refused(context, &problems),
    };
    told(context, output, &diff.to_string());
    let same = diff.cases.is_empty();
    let exit = if same { Exit::AsExpected } else { Exit::Unexpected };
    ended(context, output, exit, |exit| Compared { same, diff, exit })
}

/// The JSON object that ends `show`.
#[derive(Serialize)]
struct Shown {
    run: Run,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<claim::Claim>,
    exit: u8,
}

fn show_run(context: &Context, path: &Path, case: Option<&str>, output: &Output) -> Exit {
    let open = match open(context, path) {
        Ok(run) => run,
        Err(exit) => return exit,
    };
    let (text, claim) = match case {
        None => (show::text(&open), None),
        Some(named) => match named.parse::<CaseId>().ok().and_then(|id| open.claims.get(&id)) {
            Some(claim) => (show::case(claim), Some(claim.clone())),
            None => {
                let help = crate::near::help(named, open.claims.keys().map(CaseId::as_str));
                return context
                    .complain(&format!("the run has no case {:?}: {help}", crate::source::escape(named)));
            }
        },
    };
    told(context, output, &text);
    ended(context, output, Exit::AsExpected, |exit| Shown { run: open.run, claim, exit })
}

fn open(context: &Context, path: &Path) -> Result<OpenRun, Exit> {
    if !path.is_dir() {
        return Err(context.complain(&no_folder(path)));
    }
    OpenRun::open(path).map_err(|problems| refused(context, &problems))
}

fn no_folder(path: &Path) -> String {
    format!("{}: there is no such run", crate::source::escape(&path.to_string_lossy()))
}

fn refused(context: &Context, problems: &[Problem]) -> Exit {
    for problem in problems {
        context.tell_problem(problem);
    }
    Exit::Unexpected
}

/// Text for people: stdout, or stderr where stdout is for a machine.
fn told(context: &Context, output: &Output, text: &str) {
    if output.format == Format::Human {
        let _told = context.print(text);
    } else {
        tell!("{}", text.trim_end());
    }
}

/// The object for machines, if asked for, and the exit.
fn ended<T: Serialize>(context: &Context, output: &Output, exit: Exit, object: impl FnOnce(u8) -> T) -> Exit {
    match output.format {
        Format::Human => exit,
        Format::Json => exit.and(context.print_json(&object(exit.code()))),
    }
}
