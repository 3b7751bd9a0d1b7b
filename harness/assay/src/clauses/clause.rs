//! A clause: one requirement of one or more MCP revisions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::revision::Revision;
use crate::verdict::Level;

/// A requirement of one or more MCP revisions that binds clients.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// Words joined by dots, the first one the group: `sse.parse.eol`.
    pub id: String,
    /// The revisions that state it, oldest first.
    pub revisions: Vec<Revision>,
    /// The word that the revisions use.
    #[serde(rename = "level")]
    pub keyword: Keyword,
    /// What the requirement rests on.
    pub basis: Basis,
    /// The requirement, in this project's words.
    pub text: String,
    /// Where it stands: pages by revision and path, or other standards.
    pub source: String,
    /// Why the built-in profiles hold no check of it; none if one can exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
}

impl Clause {
    /// Whether the clause holds in this revision. A check tied to it binds in no other.
    pub fn holds_in(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// The first word of the id, which is the name of its file.
    pub fn group(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }
}

/// The word by which a clause binds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keyword {
    /// MUST.
    Must,
    /// MUST NOT.
    MustNot,
    /// SHOULD.
    Should,
    /// SHOULD NOT.
    ShouldNot,
    /// MAY.
    May,
    /// No sentence with a keyword says it; it follows from other rules. Never a failure.
    Implied,
}

impl Keyword {
    /// How strongly a check of the clause binds, unless the check says otherwise.
    ///
    /// ```
    /// use mcp_assay::{clauses::Keyword, verdict::Level};
    ///
    /// assert_eq!(Keyword::MustNot.level(), Level::Must);
    /// assert_eq!(Keyword::Implied.level(), Level::May);
    /// ```
    pub fn level(self) -> Level {
        match self {
            Self::Must | Self::MustNot => Level::Must,
            Self::Should | Self::ShouldNot => Level::Should,
            Self::May | Self::Implied => Level::May,
        }
    }
}

impl fmt::Display for Keyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Must => "MUST",
            Self::MustNot => "MUST NOT",
            Self::Should => "SHOULD",
            Self::ShouldNot => "SHOULD NOT",
            Self::May => "MAY",
            Self::Implied => "IMPLIED",
        })
    }
}

/// What a clause rests on.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A sentence with a keyword, on a page of the revision or in its schema.
    Spec,
    /// A plain statement on a page, treated as binding.
    SpecNoKeyword,
    /// A SEP only; where a page says otherwise, the page wins.
    Sep,
    /// The changelog only.
    Changelog,
    /// The SSE standard, which the pages lean on.
    Whatwg,
    /// An HTTP standard, or another RFC.
    Rfc,
    /// Other rules: it follows from them.
    Implied,
}
