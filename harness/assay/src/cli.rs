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
mod serve;
mod tidy;
mod twin;

use crate::exit::Exit;
use crate::process::guard;
use crate::source::escape_lines;
use args::{Command, Line};
use clap::Parser;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Who calls: shown in help and in the commands that a failure prints.
#[derive(Clone, Debug)]
pub struct Program {
    /// How the program is called: `cargo xtask`, `mcp-assay`.
    pub name: &'static str,
    /// The folder that holds `fixtures/` and `profiles/`, where the caller knows it.
    pub root: Option<PathBuf>,
    /// Whether it stands in its own checkout, so that it can build other binaries of it.
    pub builds: bool,
}

/// Runs one command line (the program's own name first) and says how the process should end.
///
/// Results go to stdout, progress and problems to stderr.
pub fn main(program: &Program, line: impl IntoIterator<Item = OsString>) -> ExitCode {
    let line: Vec<OsString> = line.into_iter().collect();
    if let Some(ended) = guard::take_over(&line) {
        return ended;
    }
    let parsed = match Line::try_parse_from(&line) {
        Ok(parsed) => parsed,
        Err(problem) => {
            // Help and version are no mistakes; clap knows which stream each goes to.
            let exit = if problem.use_stderr() { Exit::Usage } else { Exit::AsExpected };
            let _unwritable = problem.print();
            if exit == Exit::Usage && conformance::wants_json(&line) {
                let _unwritable = writeln!(std::io::stdout(), "{}", conformance::NOTHING_RUN);
            }
            return exit.into();
        }
    };
    if let Command::Driver(args) = &parsed.command
        && !args.needs_root()
    {
        return driver::serve(program.name, &args.policy).into();
    }
    let root = match root::find(parsed.root.as_deref().or(program.root.as_deref())) {
        Ok(root) => root,
        // What a run's folder says needs no checkout.
        Err(_) if parsed.root.is_none() && parsed.command.names_its_runs() => PathBuf::from("."),
        Err(problem) => {
            tell!("{}: {}", program.name, escape_lines(&problem));
            if conformance::wants_json(&line) {
                let _unwritable = writeln!(std::io::stdout(), "{}", conformance::NOTHING_RUN);
            }
            return Exit::Usage.into();
        }
    };
    let context = Context {
        program: program.name,
        builds: program.builds,
        root,
        line: shown(program.name, &line),
        words: line.iter().skip(1).cloned().collect(),
    };
    match parsed.command {
        Command::Conformance(args) => conformance::run(&context, &args),
        Command::Profiles(args) => profiles::run(&context, &args),
        Command::Driver(args) => driver::run(&context, &args),
        Command::Coverage(args) => coverage::run(&context, &args),
        Command::Explain(args) => explain::run(&context, &args),
        Command::Serve(args) => serve::run(&context, &args),
        Command::Replay(args) => replay::run(&context, &args),
        Command::Receipts(args) => receipts::run(&context, &args),
        Command::Bench(args) => bench::run(&context, &args),
        Command::Mutants(args) => mutants::run(&context, &args),
        Command::Tidy(args) => tidy::run(&context, &args),
    }
    .into()
}

/// What every command knows.
struct Context {
    program: &'static str,
    /// Whether it can build other binaries of its checkout.
    builds: bool,
    root: PathBuf,
    /// The words of the command line, without the program.
    words: Vec<OsString>,
    /// The command line as a person would type it, for the manifest.
    line: String,
}

impl Context {
    /// Prints a result. A reader that went away (`| head`) is no mistake of the command.
    fn print(&self, text: &str) -> Exit {
        match std::io::stdout().lock().write_all(text.as_bytes()) {
            Err(problem) if problem.kind() != std::io::ErrorKind::BrokenPipe => {
                self.complain(&format!("cannot write the result: {problem}"))
            }
            _ => Exit::AsExpected,
        }
    }

    /// Prints stdout's last line: one JSON object.
    fn print_json(&self, object: &impl serde::Serialize) -> Exit {
        match serde_json::to_string(object) {
            Ok(text) => self.print(&(text + "\n")),
            Err(problem) => self.complain(&problem),
        }
    }

    /// Tells a person what is wrong; `Exit::Usage` unless the caller knows better.
    fn complain(&self, problem: &dyn std::fmt::Display) -> Exit {
        tell!("{}: {}", self.program, escape_lines(&problem.to_string()));
        Exit::Usage
    }

    /// Shows all source errors of a load.
    fn show(&self, errors: Vec<crate::source::SourceError>) -> Exit {
        for error in errors {
            tell!("{:?}", miette::Report::new(error));
        }
        Exit::Usage
    }
}

fn shown(program: &str, line: &[OsString]) -> String {
    let mut shown = program.to_owned();
    for word in line.iter().skip(1) {
        shown.push(' ');
        shown.push_str(&word.to_string_lossy());
    }
    shown
}
