//! `catalog.json`: the texts a run was judged by, so that it can be judged again from the run alone.

use super::digest::Digest;
use crate::revision::Revision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
}
