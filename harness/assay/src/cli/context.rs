//! What every command knows, and how it speaks: results on stdout, problems on stderr, and for machines one JSON object
//! as stdout's last line, however the command ends.

use super::args::{Format, Line};
use crate::exit::Exit;
use crate::source::{SourceError, escape_lines};
use clap::CommandFactory as _;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

/// What every command knows.
pub(super) struct Context {
    pub(super) program: &'static str,
    pub(super) root: PathBuf,
    /// The words of the command line, without the program.
    pub(super) words: Vec<OsString>,
    /// The command line for the manifest, word by word.
    pub(super) argv: Vec<String>,
    /// For whom stdout is.
    pub(super) format: Format,
    /// Whose object ends stdout.
    pub(super) asked: Asked,
    /// Whether the object that ends stdout was printed.
    pub(super) ended: Cell<bool>,
    /// The first problem that was told.
    pub(super) problem: RefCell<Option<String>>,
}

/// Which command was asked: the object of one of them has a list whatever happens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Asked {
    Conformance,
    Other,
}

/// The object of a command that has no result.
#[derive(Serialize)]
struct NoResult<'a> {
    /// `conformance` has this list whatever happens.
    #[serde(skip_serializing_if = "Option::is_none")]
    profiles: Option<[(); 0]>,
    exit: u8,
    problem: &'a str,
}

impl Context {
    /// Prints a result. A reader that went away (`| head`) is no mistake of the command.
    pub(super) fn print(&self, text: &str) -> Exit {
        match std::io::stdout().lock().write_all(text.as_bytes()) {
            Err(problem) if problem.kind() != ErrorKind::BrokenPipe => {
                self.complain(&format!("cannot write the result: {problem}"))
            }
            _ => Exit::AsExpected,
        }
    }

    /// Prints stdout's last line: one JSON object.
    pub(super) fn print_json(&self, object: &impl Serialize) -> Exit {
        match serde_json::to_string(object) {
            Ok(text) => {
                self.ended.set(true);
                self.print(&(text + "\n"))
            }
            Err(problem) => self.complain(&problem),
        }
    }

    /// Tells a person what is wrong, and keeps it for the object of a command that has no other.
    pub(super) fn tell_problem(&self, problem: &dyn Display) {
        let problem = problem.to_string();
        tell!("{}: {}", self.program, escape_lines(&problem));
        self.note(problem);
    }

    /// Tells a person what is wrong with a command that ends by it.
    pub(super) fn complain(&self, problem: &dyn Display) -> Exit {
        self.tell_problem(problem);
        Exit::Usage
    }

    /// Shows all source errors of a load.
    pub(super) fn show(&self, errors: Vec<SourceError>) -> Exit {
        for error in errors {
            self.note(error.to_string());
            tell!("{:?}", miette::Report::new(error));
        }
        Exit::Usage
    }

    /// Keeps a problem that was told already for the object of a command that has no other.
    pub(super) fn note(&self, problem: String) {
        self.problem.borrow_mut().get_or_insert(problem);
    }

    /// Ends a command: one that has printed no object though it should have prints one that says why.
    pub(super) fn end(&self, exit: Exit) -> Exit {
        if self.format == Format::Human || self.ended.get() {
            return exit;
        }
        let problem = self.problem.borrow().clone();
        exit.and(self.print_json(&NoResult {
            profiles: (self.asked == Asked::Conformance).then_some([]),
            exit: exit.code(),
            problem: problem.as_deref().unwrap_or("there is no result; stderr says more"),
        }))
    }
}

/// Whether a command line, which could not be read as a whole, asks for JSON.
pub(super) fn asked_format(words: &[OsString]) -> Format {
    let is_json = |pair: &[OsString]| matches!(pair, [flag, json] if flag == "--format" && json == "json");
    if words.iter().any(|word| word == "--format=json") || words.windows(2).any(is_json) {
        Format::Json
    } else {
        Format::Human
    }
}

/// Which command a line, which could not be read as a whole, asks for: its first word that is no flag and no flag's
/// value says so.
pub(super) fn asked_command(words: &[OsString]) -> Asked {
    let line = Line::command();
    let takes_value = |flag: &str| {
        let mut args = line.get_subcommands().chain([&line]).flat_map(clap::Command::get_arguments);
        args.any(|arg| arg.get_long() == Some(flag) && arg.get_action().takes_values())
    };
    let mut words = words.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        match word.strip_prefix("--") {
            Some(flag) if takes_value(flag) => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ if word == "conformance" => return Asked::Conformance,
            _ => break,
        }
    }
    Asked::Other
}
