//! Accepted claims: `receipts/accepted/<profile>/<area>/<fault>.json`, reviewed, committed, compared with every run.
//!
//! An accepted file is the claim's file, byte for byte. Only a whole run may be accepted; a partial one is compared
//! in what it ran.

use super::claim::Claim;
use super::diff::{RunDiff, Within, sets};
use super::open::OpenRun;
use super::problem::Problem;
use super::writer::check_profile;
use crate::variant::CaseId;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The size a case's claim should keep to, in bytes.
pub const CASE_SIZE: u64 = 4 << 10;

/// The size all claims of a family should keep to, in bytes.
pub const FAMILY_SIZE: u64 = 64 << 10;

/// The largest accepted file that is read, in bytes.
const MAX_CLAIM: u64 = 16 << 20;

/// What accepting a run did.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Accepted {
    /// Cases whose file is new or another one now.
    pub written: Vec<String>,
    /// Cases whose file stayed as it was.
    pub unchanged: usize,
    /// Cases that no longer exist; their files were removed.
    pub removed: Vec<String>,
    /// Claims and families over [`CASE_SIZE`] and [`FAMILY_SIZE`]: a rule that may be broken with a reason.
    pub oversize: Vec<Problem>,
}

/// Reads the accepted claims of a profile below `root` (`receipts/accepted`); none when the profile has no folder.
///
/// # Errors
///
/// All files that are no claims of their case and profile, and everything else that lies there.
pub fn load(root: &Path, profile: &str) -> Result<BTreeMap<CaseId, Claim>, Vec<Problem>> {
    check_profile(profile).map_err(|problem| vec![problem])?;
    let mut claims = BTreeMap::new();
    let mut problems = Vec::new();
    for (case, path) in files(&root.join(profile), &mut problems) {
        let claim =
            read(&path).and_then(|bytes| Claim::read(&bytes, profile, &case, &path.display().to_string()));
        match claim {
            Ok(claim) => _ = claims.insert(case, claim),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(claims) } else { Err(problems) }
}

/// What a run says other than what was accepted. A partial run is compared in the variants it ran.
///
/// # Errors
///
/// When a claim contradicts itself.
pub fn compare(accepted: &BTreeMap<CaseId, Claim>, run: &OpenRun) -> Result<RunDiff, Problem> {
    let whole = run.run.head.scope.partial.is_empty();
    let within = if whole { Within::Both } else { Within::Second };
    let mut diff = sets(accepted, &run.claims, within, whole)?;
    (diff.from, diff.to) = ("what was accepted".to_owned(), "this run".to_owned());
    Ok(diff)
}

/// Writes the claims of a run below `root` as accepted, and removes those of cases that no longer ran.
///
/// # Errors
///
/// When the run is partial or its sources changed meanwhile, each with the reason; when a file cannot be written.
pub fn accept(root: &Path, run: &OpenRun) -> Result<Accepted, Vec<Problem>> {
    refuse(run).map_err(|problem| vec![problem])?;
    let folder = root.join(&run.run.head.profile);
    let mut problems = Vec::new();
    let old: BTreeMap<CaseId, PathBuf> = files(&folder, &mut problems).into_iter().collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut done = Accepted { written: Vec::new(), unchanged: 0, removed: Vec::new(), oversize: Vec::new() };
    let mut families: BTreeMap<&str, u64> = BTreeMap::new();
    for case in run.claims.keys() {
        let bytes = run.claim_bytes(case).map_err(|problem| vec![problem])?;
        let size = bytes.len() as u64;
        *families.entry(case.area()).or_default() += size;
        done.oversize.extend(over(&case.to_string(), size, CASE_SIZE));
        if old.get(case).is_some_and(|path| read(path).is_ok_and(|there| there == bytes)) {
            done.unchanged += 1;
        } else {
            write(&folder, case, &bytes).map_err(|problem| vec![problem])?;
            done.written.push(case.to_string());
        }
    }
    for (case, path) in old.iter().filter(|(case, _)| !run.claims.contains_key(*case)) {
        fs::remove_file(path).map_err(|e| vec![Problem::io(path, "remove", &e)])?;
        done.removed.push(case.to_string());
    }
    done.oversize.extend(families.into_iter().filter_map(|(family, size)| over(family, size, FAMILY_SIZE)));
    Ok(done)
}

/// Why a run may not be accepted.
fn refuse(run: &OpenRun) -> Result<(), Problem> {
    let scope = &run.run.head.scope;
    if scope.partial.is_empty() {
        return Ok(());
    }
    let seen = format!("a partial one ({})", scope.partial.join(", "));
    Err(Problem::new(
        "--accept",
        "a whole run of the profile",
        seen,
        "run it without these choices and accept that",
    ))
}

fn over(what: &str, size: u64, limit: u64) -> Option<Problem> {
    let remedy = "let checks say the same of more variants, or split the case; as a rule, not as a must";
    (size > limit)
        .then(|| Problem::new(what, format!("claims of at most {limit} bytes"), format!("{size}"), remedy))
}

/// The accepted files of a profile. Whatever else lies there is a problem.
fn files(folder: &Path, problems: &mut Vec<Problem>) -> Vec<(CaseId, PathBuf)> {
    let mut found = Vec::new();
    for (area, path, kind) in entries(folder, problems) {
        if !kind.is_dir() {
            problems.push(stray(&path));
            continue;
        }
        for (file, path, kind) in entries(&path, problems) {
            let case = file.strip_suffix(".json").and_then(|fault| format!("{area}/{fault}").parse().ok());
            match case.filter(|_| kind.is_file()) {
                Some(case) => found.push((case, path)),
                None => problems.push(stray(&path)),
            }
        }
    }
    found
}

fn entries(folder: &Path, problems: &mut Vec<Problem>) -> Vec<(String, PathBuf, fs::FileType)> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            problems.push(Problem::io(folder, "list", &error));
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
            Ok((kind, entry)) => {
                found.push((entry.file_name().to_string_lossy().into_owned(), entry.path(), kind));
            }
            Err(error) => problems.push(Problem::io(folder, "list", &error)),
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn stray(path: &Path) -> Problem {
    Problem::new(
        path.display().to_string(),
        "accepted claims as <area>/<fault>.json",
        "something else",
        "remove it",
    )
}

fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|e| Problem::io(path, "read", &e))?;
    file.take(MAX_CLAIM).read_to_end(&mut bytes).map_err(|e| Problem::io(path, "read", &e))?;
    Ok(bytes)
}

/// Writes beside and renames, so that a kill leaves no half file.
fn write(folder: &Path, case: &CaseId, bytes: &[u8]) -> Result<(), Problem> {
    let area = folder.join(case.area());
    fs::create_dir_all(&area).map_err(|e| Problem::io(&area, "make", &e))?;
    let (path, beside) =
        (area.join(format!("{}.json", case.fault())), area.join(format!(".{}.new", case.fault())));
    fs::write(&beside, bytes).map_err(|e| Problem::io(&beside, "write", &e))?;
    fs::rename(&beside, &path).map_err(|e| Problem::io(&path, "rename", &e))
}

#[cfg(test)]
mod tests;
