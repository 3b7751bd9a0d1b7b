//! The home of a process: a folder that goes with it, or with the next harness where its own was killed.

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use tempfile::TempDir;

/// What the names of the folders begin with.
const PREFIX: &str = "mcp-assay-";

/// Locked for as long as the harness lives, whatever its id is and in whichever container it runs.
const LOCK: &str = "lock";

/// A home with its lock. Dropped it is removed.
#[derive(Debug)]
pub(super) struct Home {
    path: PathBuf,
    _lock: File,
    _folder: TempDir,
}

impl Home {
    /// Makes one in the folder for temporary files, once what killed ones left there is gone.
    pub(super) fn new() -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        let below = std::env::temp_dir();
        SWEPT.call_once(|| sweep(&below));
        Self::below(&below)
    }

    fn below(below: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(below)?;
        let path = folder.path().join("home");
        fs::create_dir(&path)?;
        // Under its name it is locked from the first moment on.
        let unnamed = folder.path().join("unlocked");
        let lock = File::create(&unnamed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(unnamed, folder.path().join(LOCK))?;
        Ok(Self { path, _lock: lock, _folder: folder })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the homes that no harness holds any more. What cannot be removed stays: it is no concern of this run.
fn sweep(below: &Path) {
    for entry in fs::read_dir(below).into_iter().flatten().flatten() {
        let is_home = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        // The kind of the entry itself: a link is none of ours.
        if is_home && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_left(&entry.path()) {
            let _stays = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the lock of a home is there, and nobody holds it.
fn is_left(home: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let lock = open(home.join(LOCK), flags, Mode::empty());
    lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{Home, LOCK, sweep};
    use std::fs;

    #[test]
    fn only_what_a_killed_harness_left_is_removed() {
        let below = tempfile::tempdir().unwrap();
        let held = Home::below(below.path()).unwrap();
        let make = |name: &str| {
            let path = below.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let (left, another, unlocked) = (make("mcp-assay-left"), make("another"), make("mcp-assay-unlocked"));
        for path in [&left, &another] {
            fs::write(path.join(LOCK), "").unwrap();
            fs::create_dir_all(path.join("home/deep")).unwrap();
        }
        let link = below.path().join("mcp-assay-link");
        std::os::unix::fs::symlink(&another, &link).unwrap();
        sweep(below.path());
        assert!(!left.exists());
        assert!(held.path().exists() && another.join(LOCK).exists() && unlocked.exists() && link.exists());
    }
}
