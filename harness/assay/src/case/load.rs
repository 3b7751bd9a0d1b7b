//! Reading case files: the id is the path, the text is the template of all variants.

mod extent;
mod parsed;

use super::Case;
use super::validate;
use super::vary::{Filled, Template, VaryKey};
use crate::clauses::Clauses;
use crate::document;
use crate::source::{self, SourceError};
use crate::variant::CaseId;
use parsed::Parsed;
pub(super) use parsed::StandIn;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A case as it stands in its file, before a choice of its `vary` keys.
///
/// ```
/// use mcp_assay::case::CaseFile;
///
/// let text = r#"
/// title     = "A short answer"
/// revisions = ["2025-06-18"]
///
/// [vary]
/// slice = ["whole", "each-cut"]
///
/// [[peer]]
/// on    = "tools/call"
/// body  = [{ result = "snow" }]
/// slice = "$slice"
/// "#;
/// let file = CaseFile::parse("json/short".parse()?, "fixtures/cases/json/short.toml", text).unwrap();
/// assert_eq!(file.combinations().count(), 2);
/// let case = file.instantiate(&[("slice".to_owned(), "each-cut@17".to_owned())]).unwrap();
/// assert_eq!(case.peer[0].slice.as_deref(), Some("each-cut@17"));
/// # Ok::<(), mcp_assay::variant::BadCaseId>(())
/// ```
#[derive(Clone, Debug)]
pub struct CaseFile {
    /// The case's id: its path below `fixtures/cases`, without the ending.
    pub id: CaseId,
    /// The file, relative to the root.
    pub path: PathBuf,
    /// The file's text.
    pub text: Arc<str>,
    /// The case with the first value of each key.
    pub case: Case,
    /// The `vary` keys in the order of the file.
    pub keys: Vec<VaryKey>,
    /// SHA-256 over the RFC 8785 form of the parsed file: comments and layout do not count.
    pub digest: [u8; 32],
    template: Template,
    parsed: Parsed,
}

impl CaseFile {
    /// Parses a case file. Every value of every `vary` key is put in place once, so that a wrong value is found
    /// here and not in the middle of a run. What names mean is checked by [`CaseFile::validate`].
    ///
    /// # Errors
    /// All mistakes that were found, each with its place in `text`.
    pub fn parse(id: CaseId, path: impl AsRef<Path>, text: &str) -> Result<Self, Vec<SourceError>> {
        let path = path.as_ref();
        let table: toml::Table = source::parse_toml(path, text).map_err(|error| vec![error])?;
        let template = Template::new(path, text)?;
        // Everything below takes its time for each value and each step.
        let too_much = extent::too_much(path, text, &table, &template);
        if !too_much.is_empty() {
            return Err(too_much);
        }
        let file = |case| Self {
            id,
            path: path.to_owned(),
            text: text.into(),
            case,
            keys: template.keys().to_vec(),
            digest: document::digest(&table),
            template: template.clone(),
            parsed: Parsed::default(),
        };
        let mut errors = Errors::default();
        let mut first = None;
        for picks in template.probes() {
            let read = template.fill(&picks).and_then(|filled| read(path, text, &filled));
            match read {
                Ok(case) if first.is_none() => first = Some(case),
                Ok(_) => {}
                Err(error) => errors.push(error),
            }
        }
        match first {
            Some(case) if errors.is_empty() => Ok(file(case)),
            _ => Err(errors.into_list()),
        }
    }

    /// What is wrong with the case beyond its form: names that do not resolve, keys that exclude each other, levels
    /// above the clause's. Empty if nothing is. Every value of every `vary` key is looked at.
    #[must_use]
    pub fn validate(&self, clauses: &Clauses) -> Vec<SourceError> {
        let mut errors = Errors::default();
        for error in validate::uncut(self) {
            errors.push(error);
        }
        for picks in self.template.probes() {
            let filled = match self.template.fill(&picks) {
                Ok(filled) => filled,
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            match read(&self.path, &self.text, &filled) {
                Ok(case) => {
                    for error in validate::case(self, &case, &filled, clauses) {
                        errors.push(error);
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        errors.into_list()
    }

    /// All choices of the `vary` keys: their product, the last key turning fastest. Slice plans stand as written,
    /// so `each-cut` is one choice. One empty choice if nothing varies.
    pub fn combinations(&self) -> impl Iterator<Item = Vec<(String, String)>> {
        self.template.combinations()
    }

    /// The case with these values in place. An open slice plan may be given concretely: `each-cut@17` where the
    /// file lists `each-cut`.
    ///
    /// # Errors
    /// A key or value that the file does not list, a key without a value; what a wrong value breaks.
    pub fn instantiate(&self, keys: &[(String, String)]) -> Result<Case, SourceError> {
        let parse = |keys: &[(String, String)]| {
            let filled = self.template.fill(keys)?;
            read(&self.path, &self.text, &filled)
        };
        if let Some((picks, stand_ins)) = self.template.stand_ins(keys)
            && let Some(known) = self.parsed.get(&picks, || {
                let case = parse(&picks).ok()?;
                parsed::put(&mut case.clone(), &stand_ins).then_some(case)
            })
        {
            let mut case = Case::clone(&known);
            parsed::put(&mut case, &stand_ins);
            return Ok(case);
        }
        parse(keys)
    }
}

/// Reads the polite peer of a revision: a file that only has `title`, `revisions` and rules.
///
/// # Errors
/// All mistakes that were found, each with its place in `text`.
pub(crate) fn polite(path: &Path, text: &str) -> Result<Case, Vec<SourceError>> {
    let case: Case = source::parse_toml(path, text).map_err(|error| vec![error])?;
    let errors = validate::polite(path, text, &case);
    if errors.is_empty() { Ok(case) } else { Err(errors) }
}

/// Parses filled text; errors and spanned values point into the file.
fn read(path: &Path, text: &str, filled: &Filled) -> Result<Case, SourceError> {
    let mut case: Case = source::parse_toml(path, &filled.text).map_err(|error| {
        let help = error.help().unwrap_or_default();
        match error.span() {
            Some(span) => SourceError::at(path, text, filled.origin(span), error.message(), help),
            None => error,
        }
    })?;
    for check in &mut case.check {
        let ids =
            [&mut check.id].into_iter().chain(&mut check.clause).chain(&mut check.row).chain(&mut check.rows);
        for id in ids {
            let span = filled.origin(id.span());
            *id = toml::Spanned::new(span, std::mem::take(id.get_mut()));
        }
    }
    Ok(case)
}

/// Errors in the order of the file, each once although several variants show it.
#[derive(Default)]
struct Errors {
    list: Vec<SourceError>,
    known: BTreeSet<(Option<(usize, usize)>, String)>,
}

impl Errors {
    fn push(&mut self, error: SourceError) {
        if self.known.insert((error.position(), error.message().to_owned())) {
            self.list.push(error);
        }
    }

    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn into_list(mut self) -> Vec<SourceError> {
        self.list.sort_by_key(SourceError::position);
        self.list
    }
}

#[cfg(test)]
mod tests;
