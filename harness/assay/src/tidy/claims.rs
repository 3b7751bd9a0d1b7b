//! Rules for the size of accepted claims: what nobody can read nobody reviews.

use super::files::File;
use super::{Findings, problem};
use crate::receipt::accept::{CASE_SIZE, FAMILY_SIZE};
use std::collections::BTreeMap;

/// How far above the rule of thumb a size is a mistake.
const TOO_FAR: u64 = 3;

pub(super) fn check(files: &[File], findings: &mut Findings) {
    let mut families: BTreeMap<String, u64> = BTreeMap::new();
    for file in files {
        let Some(path) = file.path.strip_prefix("receipts/accepted/") else { continue };
        let Some((family, _)) = path.rsplit_once('/') else { continue };
        let size = file.text.len() as u64;
        *families.entry(format!("receipts/accepted/{family}")).or_default() += size;
        weigh(&file.path, size, CASE_SIZE, findings);
    }
    for (family, size) in &families {
        weigh(family, *size, FAMILY_SIZE, findings);
    }
}

fn weigh(path: &str, size: u64, limit: u64, findings: &mut Findings) {
    let remedy = "let checks say the same of more variants, or split the case";
    let found = problem(path, None, &format!("claims of at most {limit} bytes"), &size.to_string(), remedy);
    if size > limit * TOO_FAR {
        findings.broken.push(found);
    } else if size > limit {
        findings.notes.push(found);
    }
}
