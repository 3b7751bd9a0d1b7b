//! The files of a run: what there is, and that it is what the manifest says.

use super::stage;
use crate::receipt::claim;
use crate::receipt::observation;
use crate::receipt::problem::Problem;
use crate::receipt::run::{FileRecord, Run};
use crate::receipt::staging;
use crate::receipt::writer::{CATALOG, MANIFEST, timelines_path};
use crate::variant::CaseId;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 512 << 20;

/// The folder of a run.
#[derive(Debug)]
pub(in crate::receipt) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens a folder, refusing that of an unfinished run.
    pub(in crate::receipt) fn open(path: &Path) -> Result<Self, Vec<Problem>> {
        let place = path.display().to_string();
        let expected = "the folder of a finished run";
        let kind = fs::symlink_metadata(path).map_err(|e| vec![Problem::io(path, "open", &e)])?;
        if !kind.is_dir() {
            let seen = if kind.is_symlink() { "a link" } else { "a file" };
            return Err(vec![Problem::new(place, expected, seen, "name the run's own folder")]);
        }
        // The name is taken from the true path, so that `.` inside the folder does not hide it.
        let real = path.canonicalize().map_err(|e| vec![Problem::io(path, "open", &e)])?;
        let unfinished = real.file_name().is_some_and(|n| n.to_string_lossy().starts_with(staging::PREFIX));
        if unfinished || !path.join(MANIFEST).exists() {
            let (seen, remedy) = if unfinished {
                let remedy = "run the profile again; the next run removes what a killed one left";
                ("a half run: its folder is still named .partial", remedy)
            } else {
                let remedy = "name the folder of one run, or `accepted` for what was accepted of its profile";
                ("a half run, or none: run.json is missing", remedy)
            };
            return Err(vec![Problem::new(place, expected, seen, remedy)]);
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Reads a file of at most `size` bytes; `path` is one that the harness computed.
    pub(in crate::receipt) fn read(&self, path: &str, size: u64) -> Result<Vec<u8>, Problem> {
        let full = self.path.join(path);
        let io = |e: &std::io::Error| {
            Problem::new(path, "a file", e.to_string(), "restore it from a copy of the run")
        };
        let kind = fs::symlink_metadata(&full).map_err(|e| io(&e))?;
        if !kind.is_file() {
            return Err(Problem::new(
                path,
                "a file of its own",
                "a link or a folder",
                "put the file itself there",
            ));
        }
        let mut bytes = Vec::new();
        let limit = size.min(MAX_FILE);
        let file = File::open(&full).map_err(|e| io(&e))?;
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| io(&e))?;
        if bytes.len() as u64 > limit {
            let expected = format!("a file of at most {limit} bytes");
            return Err(Problem::new(path, expected, "a larger one", "restore it from a copy of the run"));
        }
        Ok(bytes)
    }

    /// Reads a file that has this record.
    pub(in crate::receipt) fn read_recorded(
        &self,
        path: &str,
        record: FileRecord,
    ) -> Result<Vec<u8>, Problem> {
        const REMEDY: &str = "restore it from a copy of the run; if there is none, run the profile again";
        let bytes = self.read(path, record.size)?;
        let seen = FileRecord::of(&bytes);
        if seen.size != record.size {
            let expected = format!("{} bytes, as run.json says", record.size);
            return Err(Problem::new(path, expected, format!("{} bytes", seen.size), REMEDY));
        }
        if seen.sha256 != record.sha256 {
            let expected = format!("SHA-256 {}, as run.json says", record.sha256);
            return Err(Problem::new(path, expected, seen.sha256.to_string(), REMEDY));
        }
        Ok(bytes)
    }

    /// Checks that the files of the manifest are there, each as recorded, and nothing else is.
    pub(super) fn check_files(&self, run: &Run) -> Result<(), Vec<Problem>> {
        let wanted = recorded(run)?;
        let mut folders = BTreeSet::new();
        for path in wanted.keys() {
            let parents = Path::new(path).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
            folders.extend(parents.map(Path::to_owned));
        }
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        for folder in std::iter::once(PathBuf::new()).chain(folders.iter().cloned()) {
            self.list(&folder, &folders, &mut seen, &mut problems);
        }
        seen.remove(MANIFEST);
        for extra in seen.iter().filter(|path| !wanted.contains_key(*path)) {
            problems.push(Problem::new(extra, "no file that run.json does not list", "one", "remove it"));
        }
        for path in wanted.keys().filter(|path| !seen.contains(*path)) {
            let remedy = "restore it from a copy of the run";
            problems.push(Problem::new(path, "the file that run.json lists", "none", remedy));
        }
        stage(problems)?;
        stage(wanted.iter().filter_map(|(path, record)| self.read_recorded(path, *record).err()).collect())
    }

    /// Lists the files of one folder; anything but a file or a folder that is wanted is a problem.
    fn list(
        &self,
        folder: &Path,
        folders: &BTreeSet<PathBuf>,
        seen: &mut BTreeSet<String>,
        problems: &mut Vec<Problem>,
    ) {
        let full = self.path.join(folder);
        // A wanted folder that is missing shows as its missing files, one behind a link shows in its parent.
        if !fs::symlink_metadata(&full).is_ok_and(|kind| kind.is_dir()) {
            return;
        }
        let entries = match fs::read_dir(&full) {
            Ok(entries) => entries,
            Err(error) => return problems.push(Problem::io(&full, "list", &error)),
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return problems.push(Problem::io(&full, "list", &error)),
            };
            let path = folder.join(entry.file_name());
            let place = path.to_string_lossy().replace('\\', "/");
            let kind = entry.file_type();
            let other = match &kind {
                Ok(kind) if kind.is_file() => {
                    seen.insert(place);
                    continue;
                }
                Ok(kind) if kind.is_dir() && folders.contains(&path) => continue,
                Ok(kind) if kind.is_dir() => "another folder",
                Ok(kind) if kind.is_symlink() => "a link",
                _ => "something else",
            };
            problems.push(Problem::new(place, "the files of the run and nothing else", other, "remove it"));
        }
    }
}

/// The files of a manifest, by path.
fn recorded(run: &Run) -> Result<BTreeMap<String, FileRecord>, Vec<Problem>> {
    let mut files = BTreeMap::from([(CATALOG.to_owned(), run.catalog)]);
    let mut problems = Vec::new();
    for record in &run.cases {
        match record.case.parse::<CaseId>() {
            Ok(case) => {
                let twice = files.insert(claim::path(&case), record.claim).is_some();
                files.insert(observation::path(&case), record.observation);
                files.insert(timelines_path(&case), record.timelines);
                if twice {
                    problems.push(Problem::new(MANIFEST, "each case once", &record.case, "restore run.json"));
                }
            }
            Err(error) => {
                problems.push(Problem::new(MANIFEST, "case ids", error.to_string(), "restore run.json"));
            }
        }
    }
    stage(problems).map(|()| files)
}
