//! The newest run of each profile.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The newest finished run in each folder of `runs`, in the order of profiles. None where nothing ran.
///
/// A run's name begins with the second in which it began; of one second the folder written last counts.
///
/// # Errors
/// A folder that is there and cannot be listed.
pub(super) fn of_each_profile(runs: &Path) -> Result<Vec<PathBuf>, String> {
    let mut newest = Vec::new();
    for profile in folders(runs)? {
        let began = |run: &PathBuf| {
            let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let stamp = name.split('-').next().unwrap_or_default().to_owned();
            let written = fs::metadata(run).and_then(|of| of.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            (stamp, written, name)
        };
        newest.extend(folders(&profile)?.into_iter().max_by_key(began));
    }
    Ok(newest)
}

/// The folders in a folder, sorted; hidden ones hold runs that have not ended.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
                found.push(entry.path());
            }
        }
        found.sort();
        Ok(found)
    };
    match list() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(|error| format!("cannot list {}: {error}", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_finished_run_of_each_profile_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for run in ["a/20261130T100000Z-ff", "a/20261130T100001Z-00", "a/.partial-x", "b/20250101T000000Z-1"]
        {
            fs::create_dir_all(folder.path().join(run)).unwrap();
        }
        fs::write(folder.path().join("a/zzz"), "no run").unwrap();
        let found = of_each_profile(folder.path()).unwrap();
        let shown: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(shown, [Path::new("a/20261130T100001Z-00"), Path::new("b/20250101T000000Z-1")]);
        assert_eq!(of_each_profile(&folder.path().join("none")).unwrap(), Vec::<PathBuf>::new());
    }
}
