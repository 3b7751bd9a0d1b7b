//! The clauses (requirements of MCP revisions) and the rows (documented behaviours of a policy) that checks are
//! tied to.
//!
//! They are data, in `fixtures/clauses`: `<group>.toml` holds the clauses whose id starts with that group, and
//! `rows-<policy>.toml` the rows of one policy. [`Clauses::load`] reads the folder and refuses what could not be
//! looked up later: an id used twice, a clause in the file of another group, an exclusion without a reason.

use std::collections::BTreeMap;
use std::path::Path;

use crate::revision::Revision;
use crate::source::SourceError;

mod clause;
mod load;
mod row;

pub use clause::{Basis, Clause, Keyword};
pub use row::{Evidence, PolicyRows, Row, Section};

/// All clauses and all rows, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clauses {
    clauses: BTreeMap<String, Clause>,
    policies: BTreeMap<String, PolicyRows>,
}

impl Clauses {
    /// Reads every `*.toml` of a folder; `shown` is the folder's name in errors, `fixtures/clauses` as a rule.
    ///
    /// # Errors
    ///
    /// The first mistake, in the order of file names: see the [module](self).
    pub fn load(folder: impl AsRef<Path>, shown: impl AsRef<Path>) -> Result<Self, SourceError> {
        load::folder(folder.as_ref(), shown.as_ref())
    }

    /// Reads texts in place of files, each under its file name: what a run keeps of the clauses it was judged by.
    ///
    /// # Errors
    ///
    /// As [`Clauses::load`].
    pub fn from_texts<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, SourceError> {
        let files = files.into_iter().map(|(name, text)| (Path::new(name), text));
        load::texts(files, Path::new("the clauses"))
    }

    /// The clause with this id, such as `sse.parse.eol`.
    pub fn get(&self, id: &str) -> Option<&Clause> {
        self.clauses.get(id)
    }

    /// The row with this id, such as `EX-SSE-01`, whatever its policy.
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.policies.values().find_map(|policy| policy.get(id))
    }

    /// All clauses, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Clause> {
        self.clauses.values()
    }

    /// The clauses that hold in a revision, by id.
    pub fn of(&self, revision: Revision) -> impl Iterator<Item = &Clause> {
        self.iter().filter(move |clause| clause.holds_in(revision))
    }

    /// The rows of a policy, such as `exagent`.
    pub fn policy(&self, name: &str) -> Option<&PolicyRows> {
        self.policies.get(name)
    }

    /// All policies with rows, by name.
    pub fn policies(&self) -> impl Iterator<Item = &PolicyRows> {
        self.policies.values()
    }
}

#[cfg(test)]
mod tests;
