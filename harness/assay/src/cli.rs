//! The command line, the same behind `cargo xtask …` and `mcp-assay …`.

/// Tells a person something on stderr. A stderr that is closed is no reason to fail.
macro_rules! tell {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _closed = writeln!(std::io::stderr().lock(), $($words)*);
    }};
}

mod args;
mod bench;
mod chosen;
mod conformance;
mod context;
mod coverage;
mod driver;
mod explain;
mod interrupt;
mod list;
mod mutants;
mod profiles;
mod progress;
mod receipts;
mod replay;
mod root;
mod roots;
mod serve;
mod tidy;
mod twin;

use crate::exit::Exit;
use crate::process::guard;
use crate::source::{escape, escape_lines};
use args::{Command, Format, Line};
use clap::Parser;
use context::{Asked, Context};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Who calls: shown in help and in the commands that a failure prints.
#[derive(Clone, Debug)]
pub struct Program {
    /// How the program is called: `cargo xtask`, `mcp-assay`.
    pub name: &'static str,
    /// The folder that holds `fixtures/` and `profiles/`, where the caller knows it.
    pub root: Option<PathBuf>,
}

/// Runs one command line (the program's own name first) and says how the process should end.
///
/// Results go to stdout, progress and problems to stderr.
pub fn main(program: &Program, line: impl IntoIterator<Item = OsString>) -> ExitCode {
    let line: Vec<OsString> = line.into_iter().collect();
    if let Some(ended) = guard::take_over(&line) {
        return ended;
    }
    let mut context = Context {
        program: program.name,
        root: PathBuf::from("."),
        words: line.iter().skip(1).cloned().collect(),
        argv: argv(&line),
        format: Format::Human,
        asked: Asked::Other,
        ended: Cell::new(false),
        problem: RefCell::new(None),
    };
    let exit = match Line::try_parse_from(&line) {
        Ok(parsed) => command(&mut context, program, parsed),
        // Help and version are no mistakes; clap knows which stream each goes to.
        Err(answer) if !answer.use_stderr() => {
            let _unwritable = answer.print();
            Exit::AsExpected
        }
        Err(problem) => {
            context.format = context::asked_format(&context.words);
            context.asked = context::asked_command(&context.words);
            refused(&context, &line, &problem)
        }
    };
    context.end(exit).into()
}

fn command(context: &mut Context, program: &Program, parsed: Line) -> Exit {
    context.format = parsed.command.format();
    context.asked = parsed.command.asked();
    if let Command::Driver(args) = &parsed.command
        && !args.needs_root()
    {
        return driver::serve(program.name, &args.policy);
    }
    context.root = match root::find(parsed.root.as_deref().or(program.root.as_deref())) {
        Ok(root) => root,
        // What a run's folder says needs no checkout.
        Err(_) if parsed.root.is_none() && parsed.command.names_its_runs() => PathBuf::from("."),
        Err(problem) => return context.complain(&problem),
    };
    let context = &*context;
    match parsed.command {
        Command::Conformance(args) => conformance::run(context, &args),
        Command::Profiles(args) => profiles::run(context, &args),
        Command::Driver(args) => driver::run(context, &args),
        Command::Coverage(args) => coverage::run(context, &args),
        Command::Explain(args) => explain::run(context, &args),
        Command::Serve(args) => serve::run(context, &args),
        Command::Replay(args) => replay::run(context, &args),
        Command::Receipts(args) => receipts::run(context, &args),
        Command::Bench(args) => bench::run(context, &args),
        Command::Mutants(args) => mutants::run(context, &args),
        Command::Tidy(args) => tidy::run(context, &args),
    }
}

/// Tells why a command line cannot be read. The parser repeats words as they were given, so it is asked again about the
/// words escaped where they hold what a terminal would obey.
fn refused(context: &Context, line: &[OsString], problem: &clap::Error) -> Exit {
    let words: Vec<String> = line.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let escaped = words.iter().map(|word| escape(word));
    if escaped.clone().all(|word| matches!(word, Cow::Borrowed(_))) {
        let _unwritable = problem.print();
        context.note(first_line(problem));
    } else {
        let again = Line::try_parse_from(escaped.map(|word| OsString::from(&*word))).err();
        let problem = again.as_ref().unwrap_or(problem);
        tell!("{}", escape_lines(problem.to_string().trim_end()));
        context.note(first_line(problem));
    }
    Exit::Usage
}

/// What the parser of the command line says, without its hints.
fn first_line(problem: &clap::Error) -> String {
    let text = problem.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// The words of a command line for the manifest: the program as it was called, without the folder it lies in, which is
/// the machine's; the arguments as they were given.
fn argv(line: &[OsString]) -> Vec<String> {
    let mut words = line.iter();
    let name = |word: &OsString| Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned();
    let program = words.next().map(name);
    program.into_iter().chain(words.map(|word| word.to_string_lossy().into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_the_program_without_its_folder_and_the_arguments_as_given() {
        let line =
            ["/some where/target/release/xtask", "conformance", "--out", "/else where", "--filter", "*"];
        let argv = argv(&line.map(OsString::from));
        assert_eq!(argv, ["xtask", "conformance", "--out", "/else where", "--filter", "*"]);
        assert_eq!(super::argv(&[]), [""; 0]);
    }
}
