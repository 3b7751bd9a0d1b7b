//! `tidy`: the repository's own rules.

use super::Context;
use super::args::{Line, Tidy};
use crate::exit::Exit;
use crate::tidy::{binaries, check};
use clap::Parser;
use clap::error::ErrorKind;

pub(super) fn run(context: &Context, args: &Tidy) -> Exit {
    let mut findings = match check(&context.root, args.write, &is_command) {
        Ok(findings) => findings,
        Err(problem) => return context.complain(&problem),
    };
    let built = if args.binaries.is_empty() { binaries::built(&context.root) } else { args.binaries.clone() };
    match binaries::check(&built) {
        Ok(broken) => findings.broken.extend(broken),
        Err(problem) => return context.complain(&problem),
    }
    for note in &findings.notes {
        tell!("note: {note}");
    }
    for problem in &findings.broken {
        tell!("{problem}");
    }
    let mut exit = Exit::AsExpected;
    if findings.is_clean() {
        tell!("tidy");
    } else if !findings.broken.is_empty() {
        tell!("{} findings", findings.broken.len());
        exit = Exit::Unexpected;
    }
    if findings.sources.is_empty() { exit } else { exit.and(context.show(findings.sources)) }
}

/// Whether words are a command line of this program.
fn is_command(words: &[String]) -> Result<(), String> {
    let line = std::iter::once("mcp-assay").chain(words.iter().map(String::as_str));
    match Line::try_parse_from(line) {
        Ok(_) => Ok(()),
        Err(problem) if matches!(problem.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(())
        }
        Err(problem) => Err(super::first_line(&problem)),
    }
}
