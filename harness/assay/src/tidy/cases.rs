//! Rules for cases and clauses beyond those of their loader.

use super::files::File;
use super::{Findings, loads, problem};
use crate::case::CaseFile;
use crate::catalogue::Catalogue;
use crate::plan::Plan;
use crate::receipt::Problem;
use std::collections::BTreeSet;
use std::path::Path;

/// Files that an editor checks against a schema name it in their first line.
pub(super) fn schema_comment(file: &File, broken: &mut Vec<Problem>) {
    let case = file.path.strip_prefix("fixtures/cases/").is_some_and(|rest| rest.ends_with(".toml"));
    let profile = file.path.strip_prefix("profiles/").is_some_and(|rest| rest.ends_with(".toml"));
    let expected = match (case, profile) {
        (true, _) => "#:schema ../../schema/case.schema.json",
        (_, true) => "#:schema ../fixtures/schema/profile.schema.json",
        _ => return,
    };
    let first = file.text.lines().next().unwrap_or_default();
    if first != expected {
        broken.push(problem(&file.path, Some(1), expected, first, "write it as the first line, for editors"));
    }
}

/// What a case of the family `splits` without each cut begins with; the reason follows.
pub(super) const NO_EACH_CUT: &str = "# No each-cut: ";

/// A case of the family `splits` cuts its reply at each place, or says at its head why not.
pub(super) fn splits(file: &CaseFile, broken: &mut Vec<Problem>) {
    if file.id.area() != "splits" {
        return;
    }
    let open = |value: &toml::Value| {
        value.as_str().and_then(|plan| plan.parse::<Plan>().ok()).is_some_and(|plan| plan.is_open())
    };
    let each = file.keys.iter().flat_map(|key| &key.values).any(|(_, value)| open(value));
    let head = file.text.lines().take_while(|line| line.starts_with('#'));
    let reasons: Vec<&str> = head.filter_map(|line| line.strip_prefix(NO_EACH_CUT)).collect();
    let (seen, remedy) = match (each, reasons.as_slice()) {
        (true, []) | (false, [_, ..]) => return,
        (true, _) => ("each cut, and a reason to have none", "take the reason out".to_owned()),
        (false, []) => {
            ("no key with it", format!("add \"each-cut\", or begin the file with {NO_EACH_CUT:?} and why"))
        }
    };
    let path = file.path.to_string_lossy();
    broken.push(problem(&path, None, "a case of splits with \"each-cut\"", seen, &remedy));
}

/// The catalogue, the profiles, the servers and the drivers load; no clause that has a check says it has none, and none
/// without a check says nothing; each case follows its family's rules.
pub(super) fn catalogue(root: &Path, findings: &mut Findings) {
    let catalogue = match Catalogue::load(root) {
        Ok(catalogue) => catalogue,
        Err(errors) => {
            findings.sources = errors;
            return;
        }
    };
    findings.sources = loads::programs(root).chain(loads::profiles(root, &catalogue)).collect();
    unshown(&catalogue, &mut findings.broken);
    for file in catalogue.cases.values() {
        splits(file, &mut findings.broken);
        for id in file.case.check.iter().filter_map(|check| check.clause.as_ref()) {
            let Some(clause) =
                catalogue.clauses.get(id.get_ref()).filter(|clause| clause.unchecked.is_some())
            else {
                continue;
            };
            let line = file.text.get(..id.span().start).map(|before| before.matches('\n').count() + 1);
            let expected = "checks of clauses that can have some";
            let seen = format!("{}, which is marked `unchecked`", clause.id);
            let remedy = format!("take `unchecked` out of fixtures/clauses/{}.toml", clause.group());
            let path = file.path.to_string_lossy();
            findings.broken.push(problem(&path, line, expected, &seen, &remedy));
        }
    }
}

/// Clauses that neither have a check nor say why they can have none.
fn unshown(catalogue: &Catalogue, broken: &mut Vec<Problem>) {
    let checks = catalogue.cases.values().flat_map(|file| &file.case.check);
    let checked: BTreeSet<&str> =
        checks.filter_map(|check| Some(check.clause.as_ref()?.get_ref().as_str())).collect();
    for clause in catalogue.clauses.iter() {
        if clause.unchecked.is_none() && !checked.contains(clause.id.as_str()) {
            let path = format!("fixtures/clauses/{}.toml", clause.group());
            let seen = format!("none for {}", clause.id);
            let remedy = "write a check for it, or say with `unchecked` why there can be none";
            broken.push(problem(&path, None, "a check of each clause, or a reason", &seen, remedy));
        }
    }
}
