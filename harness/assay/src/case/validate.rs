//! What a case means beyond its form: one content key, one verb, one kind each; names that resolve; levels that
//! the clauses allow. Everything is collected, each finding with its place.

mod checks;
mod credentials;
mod names;
mod peer;
mod steps;
mod tap;
mod uncut;

use super::{Case, CaseFile, Limit};
use crate::case::vary::Filled;
use crate::clauses::Clauses;
use crate::document::{Document, Place};
use crate::near;
use crate::revision::Revision;
use crate::source::SourceError;
use names::{LIMITS, Names};
use std::path::Path;

pub(super) use uncut::uncut;

/// Findings about one choice of a case's `vary` values.
pub(super) fn case(file: &CaseFile, case: &Case, filled: &Filled, clauses: &Clauses) -> Vec<SourceError> {
    let Some(document) = Document::parse(&filled.text) else { return Vec::new() };
    let mut findings =
        Findings { path: &file.path, text: &file.text, filled: Some(filled), errors: Vec::new() };
    head(case, &document, &mut findings);
    let names = Names::of(case, &file.keys);
    for (name, limit) in &case.limits {
        if let Limit::Measured(measured) = limit {
            names.step(&measured.of, document.get("limits").get(name).get("of"), &mut findings);
        }
    }
    for (index, rule) in case.peer.iter().enumerate() {
        peer::rule(rule, document.get("peer").at(index), Some(&names), &mut findings);
    }
    tap::servers(case, &document, &mut findings);
    steps::steps(case, document.get("step"), &names, &mut findings);
    checks::checks(case, document.get("check"), &names, clauses, &mut findings);
    findings.errors
}

/// Findings about a polite peer: rules without a dialogue.
pub(super) fn polite(path: &Path, text: &str, case: &Case) -> Vec<SourceError> {
    let Some(document) = Document::parse(text) else { return Vec::new() };
    let mut findings = Findings { path, text, filled: None, errors: Vec::new() };
    for (key, place) in document.entries() {
        if !["title", "revisions", "peer"].contains(&key) {
            let help = "it holds title, revisions and [[peer]] rules";
            findings.at(place.at_key(), format!("a polite peer has no `{key}`"), help);
        }
    }
    revisions(&case.revisions, document.get("revisions"), &mut findings);
    if case.peer.is_empty() {
        findings.at(document.get("title"), "a polite peer without rules", "write [[peer]] rules");
    }
    for (index, rule) in case.peer.iter().enumerate() {
        peer::rule(rule, document.get("peer").at(index), None, &mut findings);
    }
    findings.errors
}

fn head(case: &Case, document: &Document<'_>, findings: &mut Findings<'_>) {
    if case.title.trim().is_empty() {
        findings.at(
            document.get("title"),
            "the title is empty",
            "say in one sentence what is put to the test",
        );
    }
    revisions(&case.revisions, document.get("revisions"), findings);
    for name in case.limits.keys() {
        if !LIMITS.contains(&name.as_str()) {
            let help = near::help(name, LIMITS.iter().copied());
            findings.at(document.get("limits").get(name).at_key(), format!("unknown limit `{name}`"), help);
        }
    }
    if case.check.is_empty() {
        let help = "write at least one [[check]]";
        findings.at(document.get("title"), "a case without a check shows nothing", help);
    }
}

fn revisions(revisions: &[Revision], place: Place<'_>, findings: &mut Findings<'_>) {
    if revisions.is_empty() {
        findings.at(place, "no revision is named", "name at least one");
    }
    if !revisions.is_sorted_by(|a, b| a < b) {
        findings.at(place, "the revisions are not in order", "name each once, the oldest first");
    }
}

/// What was found so far, and where findings point.
struct Findings<'a> {
    path: &'a Path,
    text: &'a str,
    filled: Option<&'a Filled>,
    errors: Vec<SourceError>,
}

impl Findings<'_> {
    fn at(&mut self, place: Place<'_>, message: impl AsRef<str>, help: impl AsRef<str>) {
        let span = match self.filled {
            Some(filled) => filled.origin(place.span()),
            None => place.span(),
        };
        self.errors.push(SourceError::at(self.path, self.text, span, message, help));
    }

    /// A name that does not resolve.
    fn unknown<'n>(
        &mut self,
        place: Place<'_>,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        self.at(place, format!("there is no {what} `{name}`"), near::help(name, known));
    }

    /// Exactly one of some keys must be there. Returns whether it is so.
    fn exactly_one(&mut self, place: Place<'_>, what: &str, keys: &[&str], present: &[&str]) -> bool {
        match present {
            [_] => true,
            [] => {
                self.at(place, format!("no {what}"), format!("write exactly one of: {}", keys.join(", ")));
                false
            }
            [first, others @ ..] => {
                let place = others.first().map_or(place, |key| place.get(key).at_key());
                let message = format!("more than one {what}: {first} and {}", others.join(", "));
                self.at(place, message, "write exactly one of them");
                false
            }
        }
    }

    /// Keys that mean nothing here.
    fn idle(&mut self, place: Place<'_>, keys: &[&str], why: &str) {
        for key in keys {
            if let Some(place) = place.find(key) {
                self.at(place.at_key(), format!("`{key}` means nothing here"), why);
            }
        }
    }
}

#[cfg(test)]
mod tests;
