//! The folder of a run while it goes: beside its later place under a name that says so, locked by its process.
//!
//! A run that dies leaves its folder behind, and its lock goes with its process: a later run removes folders that
//! nobody locks. Nothing but a finished run is ever renamed into place.

use super::problem::Problem;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What the names of unfinished runs begin with.
pub(crate) const PREFIX: &str = ".partial-";

/// The folder of an unfinished run. Dropped before [`Staging::finish`], it is removed.
#[derive(Debug)]
pub(crate) struct Staging {
    parent: PathBuf,
    folder: PathBuf,
    /// Holds the lock on the folder itself, so that it stays with the folder when that is renamed.
    lock: Option<File>,
}

impl Staging {
    /// Makes the folder `.partial-<name>` in `parent`, after removing those that dead runs left there.
    pub(crate) fn create(parent: &Path, name: &str) -> Result<Self, Problem> {
        fs::create_dir_all(parent).map_err(|e| Problem::io(parent, "make", &e))?;
        clean(parent)?;
        let pid = std::process::id();
        for attempt in 0..100 {
            let folder = parent.join(format!("{PREFIX}{name}-{pid}-{attempt}"));
            match fs::create_dir(&folder) {
                Ok(()) => {}
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(Problem::io(&folder, "make", &e)),
            }
            // Between making and locking, another run may take the folder for a dead one's and remove it.
            if let Some(lock) = lock(&folder).filter(|_| folder.is_dir()) {
                return Ok(Self { parent: parent.to_owned(), folder, lock: Some(lock) });
            }
        }
        Err(Problem::new(
            parent.display().to_string(),
            "a place for a new run",
            "a hundred unfinished ones of this process",
            "remove the folders whose names begin with .partial-",
        ))
    }

    /// Writes a file of the run.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Problem> {
        let path = self.folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|e| Problem::io(parent, "make", &e))?;
        }
        fs::write(&path, bytes).map_err(|e| Problem::io(&path, "write", &e))
    }

    /// Writes the last file through to the disk and renames the folder into place; answers where that is.
    pub(crate) fn finish(mut self, last: &str, bytes: &[u8], name: &str) -> Result<PathBuf, Problem> {
        self.write(last, bytes)?;
        for synced in [self.folder.join(last), self.folder.clone()] {
            let sync = File::open(&synced).and_then(|file| file.sync_all());
            sync.map_err(|e| Problem::io(&synced, "write", &e))?;
        }
        for attempt in 1..100 {
            let suffix = if attempt == 1 { String::new() } else { format!("-{attempt}") };
            let target = self.parent.join(format!("{name}{suffix}"));
            // A rename replaces an empty folder without a word, and fails on any other.
            match fs::rename(&self.folder, &target) {
                Ok(()) => {
                    self.lock = None;
                    return Ok(target);
                }
                Err(_) if target.exists() => {}
                Err(e) => return Err(Problem::io(&target, "rename the run to", &e)),
            }
        }
        let place = self.parent.join(name).display().to_string();
        Err(Problem::new(place, "a free name for the run", "a hundred runs of this name", "remove old runs"))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // What cannot be removed now is removed by a later run: it is locked by nobody then.
            drop(fs::remove_dir_all(&self.folder));
        }
    }
}

/// Removes the folders of dead runs.
fn clean(parent: &Path) -> Result<(), Problem> {
    let entries = fs::read_dir(parent).map_err(|e| Problem::io(parent, "list", &e))?;
    for entry in entries.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        // `file_type` follows no link: a link of that name is left alone.
        if ours
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Some(_lock) = lock(&entry.path())
        {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
    Ok(())
}

fn lock(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_dead_runs_folder_goes_and_a_living_ones_stays() {
        let out = tempfile::tempdir().unwrap();
        fs::create_dir_all(out.path().join(".partial-dead/claims")).unwrap();
        let living = Staging::create(out.path(), "a").unwrap();
        living.write("claims/sse/bom.json", b"{}").unwrap();
        let second = Staging::create(out.path(), "a").unwrap();
        let left = names(out.path());
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(left.iter().all(|name| name.starts_with(".partial-a-")), "{left:?}");
        drop(second);
        let finished = living.finish("run.json", b"{}", "run").unwrap();
        assert_eq!(finished, out.path().join("run"));
        assert_eq!(names(out.path()), ["run"]);
        assert_eq!(names(&finished), ["claims", "run.json"]);
    }

    #[test]
    fn runs_of_one_name_stand_beside_each_other() {
        let out = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            Staging::create(out.path(), "a").unwrap().finish("run.json", b"{}", "run").unwrap();
        }
        assert_eq!(names(out.path()), ["run", "run-2"]);
    }
}
