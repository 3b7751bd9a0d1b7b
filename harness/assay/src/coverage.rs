//! Which rows of a policy are covered, by what, and which are not.
//!
//! A row is covered by a check of a case (`row = "EX-SSE-01"`), by a Rust test whose documentation names it, or by a
//! type: a `compile_fail` doc test that names it. The last two are found in the sources:
//!
//! ```text
//! /// Rows EX-SSE-14, EX-SSE-15.
//! #[test]
//! fn the_line_limit_holds_for_a_partial_line() {}
//! ```
//!
//! A line that names rows stands at the start of a line of its own and ends with a full stop or a colon. It counts in
//! the documentation of a test that runs, inside a `compile_fail` doc test, and in the paragraph right above one;
//! above any other item it is prose.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::clauses::PolicyRows;

mod by;
pub(crate) mod lexer;
mod render;
mod scan;
mod statement;

/// What covers the rows of one policy.
///
/// As JSON: `policy`, the numbers `rows` and `covered`, the lists `excluded` and `uncovered`, `by` with a list of what
/// covers it for each covered row and, if there are any, `problems`. `rows` = `covered` + the lengths of `excluded` and
/// `uncovered`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Coverage {
    /// The policy's name.
    pub policy: String,
    /// How many rows it has.
    pub rows: usize,
    /// How many of them something covers, excluded ones left out.
    pub covered: usize,
    /// The rows that nothing here can cover.
    pub excluded: Vec<Excluded>,
    /// The rows that nothing covers, though something could.
    pub uncovered: Vec<String>,
    /// What covers each row: one entry a covered row.
    pub by: BTreeMap<String, Vec<Cover>>,
    /// What must be put right before the numbers can be believed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl Coverage {
    /// Whether every row is covered or excluded, and there are no problems.
    pub fn is_complete(&self) -> bool {
        self.uncovered.is_empty() && self.problems.is_empty()
    }

    /// The coverage as plain text: a table by section, what covers each row in one line a row, then the rows that are not
    /// covered and the excluded ones.
    pub fn render(&self, rows: &PolicyRows) -> String {
        render::Report { coverage: self, rows }.to_string()
    }
}

/// A row that nothing here can cover.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Excluded {
    /// The row.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// One thing that covers a row.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cover {
    /// A check of a case.
    Case {
        /// The case's id.
        case: String,
        /// The check's id in it.
        check: String,
    },
    /// A Rust test.
    Test {
        /// The file, relative to the root of the sources, with `/`.
        file: String,
        /// The test function.
        function: String,
    },
    /// A type: a doc test that must not compile.
    Type {
        /// The file, relative to the root of the sources, with `/`.
        file: String,
        /// The documented item.
        item: String,
    },
}

/// A mistake in what claims to cover rows.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// An excluded row is covered after all.
    #[error("{row} is excluded, yet {by} covers it: drop the exclusion or the cover")]
    ExcludedButCovered {
        /// The row.
        row: String,
        /// What covers it.
        by: Cover,
    },
    /// Something covers a row that the policy does not have.
    #[error("{by} names {row}, which is no row of the policy: correct the id")]
    UnknownRow {
        /// The row.
        row: String,
        /// What names it.
        by: Cover,
    },
    /// A test starts to name rows and does not go on with ids.
    #[error(
        "{file}:{line}: {text:?} is no list of rows: write `Row EX-SSE-14.` or `Rows EX-SSE-14, EX-SSE-15.`"
    )]
    UnreadableRows {
        /// The file, relative to the root of the sources.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
}

/// A file or folder of the sources could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {source}")]
pub struct ScanError {
    /// What could not be read.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// Finds what covers the rows of a policy.
///
/// `case_checks` gives one entry (case id, check id, row id) for each row of each check; `rust_sources` is the folder
/// whose `*.rs` files are searched, without `target`, `fixtures`, `node_modules` and hidden folders. Rows of other
/// policies are passed over.
///
/// # Errors
///
/// [`ScanError`] if the sources cannot be read. Mistakes in the sources are [`Coverage::problems`].
pub fn coverage(
    rows: &PolicyRows,
    case_checks: impl IntoIterator<Item = (String, String, String)>,
    rust_sources: impl AsRef<Path>,
) -> Result<Coverage, ScanError> {
    let found = scan::folder(rust_sources.as_ref())?;
    let cases = case_checks.into_iter().map(|(case, check, row)| (row, Cover::Case { case, check }));
    let covers = cases.chain(found.covers);

    let mut by: BTreeMap<String, Vec<Cover>> = BTreeMap::new();
    let mut problems = found.problems;
    for (row, cover) in covers.filter(|(row, _)| rows.claims(row)) {
        match rows.get(&row) {
            None => problems.push(Problem::UnknownRow { row, by: cover }),
            Some(known) if known.excluded.is_some() => {
                problems.push(Problem::ExcludedButCovered { row, by: cover });
            }
            Some(_) => by.entry(row).or_default().push(cover),
        }
    }
    for covers in by.values_mut() {
        covers.sort();
        covers.dedup();
    }

    let mut excluded = Vec::new();
    let mut uncovered = Vec::new();
    for row in rows.rows() {
        match &row.excluded {
            Some(reason) => excluded.push(Excluded { id: row.id.clone(), reason: reason.clone() }),
            None if by.contains_key(&row.id) => {}
            None => uncovered.push(row.id.clone()),
        }
    }
    let policy = rows.policy().to_owned();
    Ok(Coverage { policy, rows: rows.rows().len(), covered: by.len(), excluded, uncovered, by, problems })
}

#[cfg(test)]
mod tests;
