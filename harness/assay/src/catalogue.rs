//! The catalogue: all cases, the polite peers and the clauses, read from one folder and checked against each other.

use crate::case::{self, Case};
use crate::clauses::Clauses;
use crate::near;
use crate::revision::Revision;
use crate::source::{self, SourceError};
use crate::variant::CaseId;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

pub use crate::case::{CaseFile, VaryKey};

/// Where cases stand, below the root.
const CASES: &str = "fixtures/cases";

/// The area whose files are no cases but the polite peers.
const POLITE: &str = "polite";

/// Everything a run can choose from.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The cases by their ids.
    pub cases: BTreeMap<CaseId, CaseFile>,
    /// The polite peer of each revision: what answers where a case has no rule of its own.
    pub polite: BTreeMap<Revision, Case>,
    /// Clauses and policy rows.
    pub clauses: Clauses,
}

impl Catalogue {
    /// Reads `fixtures/cases` and `fixtures/clauses` below `root`, and checks every case.
    ///
    /// # Errors
    /// All mistakes of all files, in the order of their paths: unreadable, malformed, in the wrong place, with names
    /// that do not resolve. Cases are checked against the clauses only where those could be read.
    pub fn load(root: &Path) -> Result<Self, Vec<SourceError>> {
        let mut errors = Vec::new();
        let clauses = Clauses::load(root.join("fixtures/clauses"), "fixtures/clauses");
        let clauses = clauses.map_err(|error| errors.push(error)).ok();
        let (mut cases, mut polite) = (BTreeMap::new(), BTreeMap::new());
        for read in read_all(root, &files(root, &mut errors), clauses.as_ref()) {
            match read {
                Ok(Entry::Case(file)) => drop(cases.insert(file.id.clone(), *file)),
                Ok(Entry::Polite(revision, case)) => drop(polite.insert(revision, *case)),
                Err(found) => errors.extend(found),
            }
        }
        match clauses {
            Some(clauses) if errors.is_empty() => Ok(Self { cases, polite, clauses }),
            _ => {
                errors.sort_by(|a, b| (a.path(), a.position()).cmp(&(b.path(), b.position())));
                Err(errors)
            }
        }
    }

    /// The areas (families) that have cases, sorted.
    #[must_use]
    pub fn areas(&self) -> Vec<&str> {
        // Ids are sorted, but `a-b/…` stands before `a/…`: sorted by area only after this.
        let mut areas: Vec<&str> = self.cases.keys().map(CaseId::area).collect();
        areas.sort_unstable();
        areas.dedup();
        areas
    }
}

/// What a file holds.
enum Entry {
    Case(Box<CaseFile>),
    Polite(Revision, Box<Case>),
}

/// Reads files, on all cores: there are hundreds, and each is parsed once for every value that it varies.
fn read_all(
    root: &Path,
    files: &[PathBuf],
    clauses: Option<&Clauses>,
) -> Vec<Result<Entry, Vec<SourceError>>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |first: usize| -> Vec<_> {
        files.iter().skip(first).step_by(threads).map(|path| entry(root, path, clauses)).collect()
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|first| scope.spawn(move || share(first))).collect();
        let mut read = share(0);
        for other in others {
            read.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        read
    })
}

fn entry(root: &Path, path: &Path, clauses: Option<&Clauses>) -> Result<Entry, Vec<SourceError>> {
    let text = source::read(root.join(path), path).map_err(|error| vec![error])?;
    if path.starts_with(Path::new(CASES).join(POLITE)) {
        peer(path, &text).map(|(revision, case)| Entry::Polite(revision, Box::new(case)))
    } else {
        case(path, &text, clauses).map(|file| Entry::Case(Box::new(file)))
    }
}

fn case(path: &Path, text: &str, clauses: Option<&Clauses>) -> Result<CaseFile, Vec<SourceError>> {
    let id =
        path.strip_prefix(CASES).ok().and_then(|path| path.with_extension("").to_str().map(str::to_owned));
    let id: CaseId = id.unwrap_or_default().parse().map_err(|_| {
        let help =
            "a case is fixtures/cases/<area>/<fault>.toml, each name of 1 to 60 characters a-z, 0-9 and -";
        vec![SourceError::file(path, "the path is no case id", help)]
    })?;
    let file = CaseFile::parse(id, path, text)?;
    let errors = clauses.map_or_else(Vec::new, |clauses| file.validate(clauses));
    if errors.is_empty() { Ok(file) } else { Err(errors) }
}

fn peer(path: &Path, text: &str) -> Result<(Revision, Case), Vec<SourceError>> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let revision: Revision = stem.parse().map_err(|_| {
        let help = near::help(stem, Revision::ALL.iter().map(|revision| revision.as_str()));
        vec![SourceError::file(path, "a polite peer is named by its revision", help)]
    })?;
    let case = case::polite(path, text)?;
    if case.revisions != [revision] {
        let place = text.find("revisions").unwrap_or_default();
        let help = format!("write `revisions = [\"{revision}\"]`, or rename the file");
        let message = "the revisions are not the file's";
        return Err(vec![SourceError::at(path, text, place..place + "revisions".len(), message, help)]);
    }
    Ok((revision, case))
}

/// The case files and polite peers, relative to the root and sorted.
fn files(root: &Path, errors: &mut Vec<SourceError>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (area, is_folder) in entries(root, Path::new(CASES), errors) {
        if !is_folder {
            errors.push(SourceError::file(
                &area,
                "no case stands here",
                "move it into fixtures/cases/<area>/",
            ));
            continue;
        }
        for (file, is_folder) in entries(root, &area, errors) {
            if is_folder || file.extension().is_none_or(|ending| ending != "toml") {
                let help = "an area holds <fault>.toml files and nothing else";
                errors.push(SourceError::file(&file, "this is no case file", help));
            } else {
                found.push(file);
            }
        }
    }
    found
}

/// The entries of a folder, sorted, and whether each is a folder. Hidden ones (editors leave them) are passed over.
fn entries(root: &Path, folder: &Path, errors: &mut Vec<SourceError>) -> Vec<(PathBuf, bool)> {
    let read = || -> io::Result<Vec<(PathBuf, bool)>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with('.') {
                entries.push((folder.join(name), entry.path().is_dir()));
            }
        }
        entries.sort();
        Ok(entries)
    };
    read().unwrap_or_else(|error| {
        errors.push(SourceError::unreadable(folder, &error));
        Vec::new()
    })
}

#[cfg(test)]
mod tests;
