//! Open slice plans need the uncut reply beside them.

use super::Findings;
use crate::case::CaseFile;
use crate::case::vary::VaryKey;
use crate::document::Document;
use crate::plan::is_open;
use crate::source::SourceError;

/// Findings about keys of `vary` that stand for slice or chunk plans: a key with `each-cut` or `each-two-cuts` has
/// `whole` too. Where the cuts are is known from the uncut reply only; if the uncut reply is no variant of its own,
/// nobody sees whether a failure is one of the cut.
pub(in crate::case) fn uncut(file: &CaseFile) -> Vec<SourceError> {
    let Some(document) = Document::parse(&file.text) else { return Vec::new() };
    let mut findings = Findings { path: &file.path, text: &file.text, filled: None, errors: Vec::new() };
    let mut plans = Vec::new();
    for (rules, keys) in [("peer", &["slice", "chunks"][..]), ("tap", &["slice"])] {
        for rule in document.get(rules).elements() {
            plans.extend(keys.iter().filter_map(|key| rule.find(key)?.text()?.strip_prefix('$')));
        }
    }
    for key in file.keys.iter().filter(|key| plans.contains(&key.name.as_str())) {
        let open = values(key).find(|value| is_open(value));
        if let Some(open) = open
            && values(key).all(|value| value != "whole")
        {
            let place = document.get("vary").get(&key.name);
            findings.at(
                place,
                format!("`{open}` without `whole`"),
                "add \"whole\": the reply that is cut nowhere",
            );
        }
    }
    findings.errors
}

fn values(key: &VaryKey) -> impl Iterator<Item = &str> {
    key.values.iter().filter_map(|(_, value)| value.as_str())
}
