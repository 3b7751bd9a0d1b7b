//! The sources that decide a run's outcome, as one digest: taken before and after, since a change in between voids
//! the run.

use crate::digest::Digest;
use crate::source::{FILE_MAX, bounded};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// SHA-256 over the relative paths and contents of everything below `fixtures/` and `profiles/`, installed packages
/// left out.
///
/// # Errors
/// A folder or file that cannot be read.
pub fn digest(root: &Path) -> io::Result<Digest> {
    let mut files = Vec::new();
    for folder in ["fixtures", "profiles"] {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut lines = String::new();
    for file in files {
        let shown = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let named = |unread| io::Error::other(format!("{shown}: {unread}"));
        let bytes = bounded(&file, FILE_MAX).map_err(named)?;
        lines.push_str(&format!("{} {shown}\n", Digest::of(&bytes)));
    }
    Ok(Digest::of(lines.as_bytes()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let skipped = ["node_modules", "__pycache__", ".venv"].iter().any(|skipped| name == *skipped);
        let kind = entry.file_type()?;
        if kind.is_dir() && !skipped {
            collect(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_any_size_is_not_read() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["fixtures", "profiles"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let before = digest(root.path()).unwrap();
        fs::write(root.path().join("fixtures/a"), "b").unwrap();
        assert_ne!(digest(root.path()).unwrap(), before);
        fs::File::create(root.path().join("profiles/huge")).unwrap().set_len(17 << 20).unwrap();
        let error = digest(root.path()).unwrap_err().to_string();
        assert_eq!(error, "profiles/huge: expected a file of at most 16777216 bytes, found a larger one");
    }
}
