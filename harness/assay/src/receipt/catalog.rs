//! `catalog.json`: the texts a run was judged by, so that it can be judged again from the run alone.

use super::problem::Problem;
use crate::digest::Digest;
use crate::revision::Revision;
use crate::source::bounded_text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The name and version of the format.
pub const SCHEMA: &str = "mcp-assay/catalog/v1";

/// The texts of a run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// [`SCHEMA`].
    pub schema: String,
    /// The profile's name.
    pub profile: String,
    /// The cases that ran, by id.
    pub cases: BTreeMap<String, CaseText>,
    /// The files beside the cases.
    pub texts: Texts,
}

/// A case file.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CaseText {
    /// SHA-256 over RFC 8785 of the parsed file.
    #[schemars(with = "String")]
    pub digest: Digest,
    /// The file's text.
    pub text: String,
}

/// The files beside the cases.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// The polite script of each revision.
    pub polite: BTreeMap<Revision, String>,
    /// The files of clauses and rows, by file name.
    pub clauses: BTreeMap<String, String>,
    /// The profile that ran and the one whose deviations it takes over, by name: what the run's exit follows from.
    pub profiles: BTreeMap<String, String>,
}

impl Texts {
    /// Reads the polite scripts and the clauses below `root`, the folder that holds `fixtures`. Profiles are put in by
    /// whoever runs one.
    ///
    /// # Errors
    ///
    /// When a folder or file cannot be read, or a polite script is not named by a revision.
    pub fn load(root: &Path) -> Result<Self, Problem> {
        let clauses = files(&root.join("fixtures/clauses"))?;
        let mut texts = Self { clauses, ..Self::default() };
        for (name, text) in files(&root.join("fixtures/cases/polite"))? {
            let revision = name.trim_end_matches(".toml").parse::<Revision>().map_err(|error| {
                let place = format!("fixtures/cases/polite/{name}");
                Problem::new(place, "a file named by its revision", error.to_string(), "rename it")
            })?;
            texts.polite.insert(revision, text);
        }
        Ok(texts)
    }
}

/// The `*.toml` files of a folder, by name.
fn files(folder: &Path) -> Result<BTreeMap<String, String>, Problem> {
    let mut texts = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|e| Problem::io(folder, "list", &e))? {
        let path = entry.map_err(|e| Problem::io(folder, "list", &e))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.ends_with(".toml") && !name.starts_with('.') {
            let text = bounded_text(&path).map_err(|e| Problem::io(&path, "read", &e))?;
            texts.insert(name.to_owned(), text);
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_any_size_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.toml"), "a").unwrap();
        assert_eq!(files(folder.path()).unwrap(), BTreeMap::from([("a.toml".to_owned(), "a".to_owned())]));
        fs::File::create(folder.path().join("b.toml")).unwrap().set_len(17 << 20).unwrap();
        let problem = files(folder.path()).unwrap_err();
        assert!(problem.seen.starts_with("expected a file of at most 16777216 bytes"), "{problem}");
    }
}
