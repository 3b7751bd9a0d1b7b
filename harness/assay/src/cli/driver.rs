//! `driver`: the built-in client as a driver, and whether other programs are one.

use super::args::{Driver, DriverCommand, Format, Output};
use super::{Context, interrupt};
use crate::catalogue::Catalogue;
use crate::driver::check::{Checked, check};
use crate::driver::protocol::Hello;
use crate::driver::serve;
use crate::exit::Exit;
use crate::judge::finding::{line, line_of};
use crate::receipt::catalog::Texts;
use crate::run::client;
use crate::source::escape_lines;
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The JSON object that ends `driver check`.
#[derive(Serialize)]
struct Report<'a> {
    /// What the driver said of itself; none where it did not get that far.
    driver: Option<Said<'a>>,
    problems: &'a [String],
    exit: u8,
}

#[derive(Serialize)]
struct Said<'a> {
    name: &'a str,
    version: &'a str,
    language: &'a str,
    runtime: &'a str,
    revisions: &'a [String],
    verbs: &'a [String],
    limits: &'a [String],
    issues: &'a str,
    policy: Option<&'a str>,
}

impl<'a> Said<'a> {
    fn of(hello: &'a Hello) -> Self {
        Self {
            name: &hello.name,
            version: &hello.version,
            language: &hello.language,
            runtime: &hello.runtime,
            revisions: &hello.revisions,
            verbs: &hello.verbs,
            limits: &hello.limits,
            issues: &hello.issues,
            policy: hello.policy.as_deref(),
        }
    }
}

/// Speaks the driver protocol until stdin ends.
pub(super) fn serve(program: &str, policy: &str) -> Exit {
    let complain = |problem: &dyn std::fmt::Display| {
        tell!("{program}: {}", escape_lines(&problem.to_string()));
        Exit::Usage
    };
    let client = match client::builtin(policy) {
        Ok(client) => client,
        Err(problem) => return complain(&problem),
    };
    match serve::serve(&client, std::io::stdin(), std::io::stdout()) {
        Ok(()) => Exit::AsExpected,
        Err(problem) => complain(&problem),
    }
}

pub(super) fn run(context: &Context, args: &Driver) -> Exit {
    match &args.command {
        None => serve(context.program, &args.policy),
        Some(DriverCommand::Check { command, output }) => checked(context, command, output),
    }
}

fn checked(context: &Context, command: &[OsString], output: &Output) -> Exit {
    let catalogue = match Catalogue::load(&context.root) {
        Ok(catalogue) => catalogue,
        Err(errors) => return context.show(errors),
    };
    let texts = match Texts::load(&context.root) {
        Ok(texts) => texts,
        Err(problem) => return context.complain(&problem),
    };
    let command: Vec<OsString> = command.iter().map(from_anywhere).collect();
    if let Some(problem) = command.first().and_then(|program| missing(program)) {
        return context.complain(&problem);
    }
    if let Err(problem) = interrupt::ends() {
        return context.complain(&problem);
    }
    let Checked { hello, problems } = match check(&command, &catalogue, &texts) {
        Ok(checked) => checked,
        Err(problem) => return context.complain(&problem),
    };
    let exit = if problems.is_empty() { Exit::AsExpected } else { Exit::Unexpected };
    match output.format {
        Format::Json => {
            problems.iter().for_each(|problem| tell!("{}", told(problem)));
            let driver = hello.as_ref().map(Said::of);
            exit.and(context.print_json(&Report { driver, problems: &problems, exit: exit.code() }))
        }
        Format::Human => {
            let mut text: String = problems.iter().map(|problem| told(problem) + "\n").collect();
            if let (true, Some(hello)) = (problems.is_empty(), &hello) {
                let told = format!("{} {} speaks the driver protocol", hello.name, hello.version);
                text = line(&told) + "\n";
            }
            exit.and(context.print(&text))
        }
    }
}

/// The longest line about a problem, in bytes, without the words that tell of the cut.
const LONGEST: usize = 480;

/// A problem on one line: of what a program printed before it ended, the last line says why.
fn told(problem: &str) -> String {
    let mut lines = problem.lines();
    let first = lines.next().unwrap_or_default();
    match lines.next_back() {
        Some(last) => line_of(&format!("{first} {}", last.trim()), LONGEST),
        None => line_of(first, LONGEST),
    }
}

/// A word of a command as it holds in any folder, since a driver runs in one of its own: paths of what is here become
/// absolute.
fn from_anywhere(word: &OsString) -> OsString {
    let path = Path::new(word);
    let here = path.components().count() > 1 && path.exists();
    match std::path::absolute(path) {
        Ok(absolute) if here => absolute.into_os_string(),
        _ => word.clone(),
    }
}

/// Why a program cannot be started, where that can be told before.
fn missing(program: &OsStr) -> Option<String> {
    let path = Path::new(program);
    let runs = |path: &Path| {
        let mode = path.metadata().ok().filter(Metadata::is_file).map(|of| of.permissions().mode());
        mode.is_some_and(|mode| mode & 0o111 != 0)
    };
    let named = program.to_string_lossy();
    let (found, place) = if path.components().count() > 1 {
        (runs(path), "there")
    } else {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        (std::env::split_paths(&paths).any(|folder| runs(&folder.join(path))), "on PATH")
    };
    (!found).then(|| format!("driver check: expected a program to start {place}, saw none: {named}"))
}
