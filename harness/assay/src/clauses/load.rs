//! Reading the folder of clauses and rows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::{Clause, Clauses, PolicyRows, Row, Section};
use crate::source::{self, SourceError};

/// How the name of a file of rows starts; the policy follows.
const ROWS: &str = "rows-";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClauseFile {
    clause: Vec<Spanned<Clause>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
    section: Vec<Spanned<Section>>,
    row: Vec<Spanned<Row>>,
}

/// Reads all files of the folder, in the order of their names.
pub(super) fn folder(folder: &Path, shown: &Path) -> Result<Clauses, SourceError> {
    let mut files = Vec::new();
    for name in names(folder).map_err(|error| SourceError::unreadable(shown, &error))? {
        let path = shown.join(&name);
        let text = source::read(folder.join(&name), &path)?;
        files.push((path, text));
    }
    texts(files.iter().map(|(path, text)| (path.as_path(), text.as_str())), shown)
}

/// Reads files that are at hand as texts.
pub(super) fn texts<'a>(
    files: impl Iterator<Item = (&'a Path, &'a str)>,
    shown: &Path,
) -> Result<Clauses, SourceError> {
    let mut loader = Loader::default();
    for (path, text) in files {
        loader.file(File { path, text })?;
    }
    if loader.clauses.clauses.is_empty() {
        return Err(SourceError::file(shown, "holds no clauses", "it should hold files <group>.toml"));
    }
    Ok(loader.clauses)
}

/// The `*.toml` files of the folder, sorted.
fn names(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = PathBuf::from(entry?.file_name());
        if name.extension() == Some(OsStr::new("toml")) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// A file being read: what errors need.
#[derive(Clone, Copy)]
struct File<'a> {
    path: &'a Path,
    text: &'a str,
}

impl File<'_> {
    fn stem(&self) -> &str {
        self.path.file_stem().and_then(OsStr::to_str).unwrap_or_default()
    }

    fn error(&self, span: Range<usize>, message: String, help: &str) -> SourceError {
        SourceError::at(self.path, self.text, self.place(span, &["id", "prefix"]), message, help)
    }

    /// About one key of an entry.
    fn error_of(&self, span: Range<usize>, key: &str, message: String, help: &str) -> SourceError {
        SourceError::at(self.path, self.text, self.place(span, &[key]), message, help)
    }

    /// The line of an entry that begins with one of these keys, for an entry whose header is at `header`; the header if
    /// none does.
    fn place(&self, header: Range<usize>, keys: &[&str]) -> Range<usize> {
        let mut start = header.end;
        for line in self.text.get(start..).unwrap_or_default().split_inclusive('\n') {
            if keys.iter().any(|key| line.starts_with(key)) {
                return start..start + line.trim_end().len();
            }
            if line.starts_with('[') {
                break;
            }
            start += line.len();
        }
        header
    }
}

#[derive(Default)]
struct Loader {
    clauses: Clauses,
    /// Where each id was first met.
    seen: BTreeMap<String, PathBuf>,
}

impl Loader {
    fn file(&mut self, file: File<'_>) -> Result<(), SourceError> {
        match file.stem().strip_prefix(ROWS) {
            Some(policy) => self.rows(file, policy),
            None => self.clauses(file),
        }
    }

    fn clauses(&mut self, file: File<'_>) -> Result<(), SourceError> {
        let parsed: ClauseFile = source::parse_toml(file.path, file.text)?;
        for spanned in parsed.clause {
            let span = spanned.span();
            let clause = spanned.into_inner();
            check_clause(file, &span, &clause)?;
            self.take_id(file, span, &clause.id)?;
            self.clauses.clauses.insert(clause.id.clone(), clause);
        }
        Ok(())
    }

    fn rows(&mut self, file: File<'_>, policy: &str) -> Result<(), SourceError> {
        let parsed: RowFile = source::parse_toml(file.path, file.text)?;
        let mut sections: Vec<Section> = Vec::with_capacity(parsed.section.len());
        for spanned in parsed.section {
            let span = spanned.span();
            let section = spanned.into_inner();
            if sections.iter().any(|other| other.prefix == section.prefix) {
                let message = format!("the section {} stands here twice", section.prefix);
                return Err(file.error(span, message, "join the two"));
            }
            sections.push(section);
        }
        let mut rows = Vec::with_capacity(parsed.row.len());
        for spanned in parsed.row {
            let span = spanned.span();
            let row = spanned.into_inner();
            check_row(file, &span, &row, policy, &sections)?;
            self.take_id(file, span, &row.id)?;
            rows.push(row);
        }
        let rows = PolicyRows::new(policy.to_owned(), sections, rows);
        self.clauses.policies.insert(policy.to_owned(), rows);
        Ok(())
    }

    fn take_id(&mut self, file: File<'_>, span: Range<usize>, id: &str) -> Result<(), SourceError> {
        match self.seen.entry(id.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(file.path.to_owned());
                Ok(())
            }
            Entry::Occupied(first) => {
                let message = format!("the id {id} is used twice, first in {}", first.get().display());
                Err(file.error(span, message, "ids are unique over all files: give this one another"))
            }
        }
    }
}

fn check_clause(file: File<'_>, span: &Range<usize>, clause: &Clause) -> Result<(), SourceError> {
    let Clause { id, revisions, text, source, unchecked, .. } = clause;
    let error = |message: String, help: &str| Err(file.error(span.clone(), message, help));
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
    };
    if !id.contains('.') || !id.split('.').all(word) {
        return error(format!("{id:?} is no clause id"), "two or more words [a-z0-9-] joined by dots");
    }
    if clause.group() != file.stem() {
        let message = format!("the clause {id} does not belong in this file");
        return error(message, &format!("its file is {}.toml", clause.group()));
    }
    if revisions.is_empty() || !revisions.is_sorted_by(|a, b| a < b) {
        return error(format!("the revisions of {id} are not in order"), "list each once, oldest first");
    }
    if text.trim().is_empty() || source.trim().is_empty() {
        return error(format!("{id} says nothing"), "text and source must not be empty");
    }
    if unchecked.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
        let message = format!("{id} is unchecked without a reason");
        return Err(file.error_of(span.clone(), "unchecked", message, "say why no check of it can exist"));
    }
    Ok(())
}

fn check_row(
    file: File<'_>,
    span: &Range<usize>,
    row: &Row,
    policy: &str,
    sections: &[Section],
) -> Result<(), SourceError> {
    let id = &row.id;
    let error = |message: String, help: &str| Err(file.error(span.clone(), message, help));
    if row.policy != policy {
        let message = format!("{id} is a row of the policy {}", row.policy);
        return error(message, &format!("this file holds the rows of {policy}"));
    }
    if !sections.iter().any(|section| section.holds(id)) {
        let message = format!("{id:?} stands in no section");
        return error(
            message,
            "a row's id is the prefix of a [[section]], a dash and a number of two digits or more",
        );
    }
    if row.title.trim().is_empty() || (row.client.is_none() && row.server.is_none()) {
        return error(
            format!("{id} says nothing"),
            "give it a title, and what the client or the server shows",
        );
    }
    if row.excluded.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
        let message = format!("{id} is excluded without a reason");
        return Err(file.error_of(span.clone(), "excluded", message, "say why nothing can cover it"));
    }
    Ok(())
}
