//! The files of the repository: everything below the root that no tool put there.

use crate::receipt::Problem;
use crate::source::{FILE_MAX, bounded};
use std::fs;
use std::path::Path;

/// One text file.
#[derive(Debug)]
pub(super) struct File {
    /// Its path below the root, with slashes.
    pub(super) path: String,
    /// Its text.
    pub(super) text: String,
}

impl File {
    /// What follows the last dot of its name; the whole name where there is none.
    pub(super) fn ending(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit('.').next().unwrap_or_default()
    }
}

/// Folders that tools fill.
const FOREIGN: [&str; 5] = ["target", "node_modules", "__pycache__", "venv", "runs"];

/// Hidden folders that belong to the repository.
const HIDDEN: [&str; 4] = [".ci", ".cargo", ".config", ".github"];

/// All text files, sorted. Files that are no UTF-8 are data, and left out.
pub(super) fn below(root: &Path) -> Result<Vec<File>, Problem> {
    let mut files = Vec::new();
    collect(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(folder: &Path, shown: &str, files: &mut Vec<File>) -> Result<(), Problem> {
    for entry in fs::read_dir(folder).map_err(|e| Problem::io(folder, "list", &e))? {
        let entry = entry.map_err(|e| Problem::io(folder, "list", &e))?;
        let kind = entry.file_type().map_err(|e| Problem::io(&entry.path(), "look at", &e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if shown.is_empty() { name.clone() } else { format!("{shown}/{name}") };
        let hidden = name.starts_with('.');
        // Links are not followed: they lead out of the project, or round in it.
        if kind.is_dir() {
            let foreign = FOREIGN.contains(&name.as_str()) && !(name == "runs" && shown != "receipts");
            if !foreign && (!hidden || HIDDEN.contains(&name.as_str())) {
                collect(&entry.path(), &path, files)?;
            }
        } else if kind.is_file() && name != ".git" && !name.ends_with(".snap.new") {
            let bytes = bounded(&entry.path(), FILE_MAX)
                .map_err(|unread| Problem::io(&entry.path(), "read", &unread.into()))?;
            files.extend(String::from_utf8(bytes).ok().map(|text| File { path, text }));
        }
    }
    Ok(())
}
