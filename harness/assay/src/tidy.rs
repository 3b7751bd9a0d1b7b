//! The repository's own rules, as code.
//!
//! What rustfmt, clippy and the loaders cannot know: generated files that drifted, traces of a machine or of a merge,
//! files that grew too long, panics in the client, commands in the documentation that do not exist. Nothing here
//! starts a program or asks a network; the same tree gives the same findings.

pub mod binaries;
mod cases;
mod claims;
mod files;
mod loads;
mod manifests;
mod prose;
mod rust;
mod text;

use crate::receipt::Problem;
use crate::schema;
use crate::source::SourceError;
use std::path::Path;

/// Tells whether words (without the program's) are a command line, and if not, why.
pub type Commands<'a> = &'a dyn Fn(&[String]) -> Result<(), String>;

/// What was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Broken rules, by file and line.
    pub broken: Vec<Problem>,
    /// Rules of thumb that are broken: printed, never failing.
    pub notes: Vec<Problem>,
    /// Mistakes in cases, clauses and polite peers, as their loader tells them.
    pub sources: Vec<SourceError>,
}

impl Findings {
    /// Whether no rule is broken.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.broken.is_empty() && self.sources.is_empty()
    }
}

/// Checks everything below `root`. With `write`, generated files are written anew first.
///
/// # Errors
/// A folder or file that cannot be read, or written.
pub fn check(root: &Path, write: bool, commands: Commands<'_>) -> Result<Findings, Problem> {
    if write {
        schema::write(root).map_err(|e| Problem::io(&root.join("fixtures/schema"), "write", &e))?;
    }
    let files = files::below(root)?;
    let mut findings = Findings::default();
    for file in &files {
        text::check(file, &mut findings.broken);
        rust::check(file, &mut findings.broken);
        manifests::check(file, &mut findings.broken);
        prose::check(file, commands, &mut findings.broken);
        cases::schema_comment(file, &mut findings.broken);
    }
    claims::check(&files, &mut findings);
    for error in schema::drift(root) {
        let remedy = "run `cargo xtask tidy --write`";
        findings.broken.push(problem(
            &error.path().to_string_lossy(),
            None,
            "the types' schema",
            error.message(),
            remedy,
        ));
    }
    cases::catalogue(root, &mut findings);
    findings.broken.sort_by_cached_key(|problem| natural(&problem.place));
    Ok(findings)
}

/// A finding at a line of a file.
fn problem(path: &str, line: Option<usize>, expected: &str, seen: &str, remedy: &str) -> Problem {
    let place = line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"));
    Problem::new(place, expected, seen, remedy)
}

/// A place in an order in which line 10 comes after line 9.
fn natural(place: &str) -> (String, usize) {
    match place.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?))) {
        Some((path, line)) => (path.to_owned(), line),
        None => (place.to_owned(), 0),
    }
}

#[cfg(test)]
mod tests;
