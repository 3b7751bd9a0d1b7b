//! Rules for cases, clauses and profiles beyond those of their loader.

use super::files::File;
use super::{Findings, problem};
use crate::catalogue::Catalogue;
use crate::receipt::Problem;
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

/// The catalogue loads, and no clause that has a check says it has none.
pub(super) fn catalogue(root: &Path, findings: &mut Findings) {
    let catalogue = match Catalogue::load(root) {
        Ok(catalogue) => catalogue,
        Err(errors) => {
            findings.sources = errors;
            return;
        }
    };
    for file in catalogue.cases.values() {
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
