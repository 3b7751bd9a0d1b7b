//! The table of mutants: what each breaks, and which clauses and rows no mutant trips.

use crate::catalogue::Catalogue;
use crate::near;
use crate::source::{self, SourceError};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

/// Where the table stands, below the root.
pub const PATH: &str = "fixtures/mutants.toml";

/// The table.
///
/// ```toml
/// [[mutant]]
/// rule   = "ids-unique"
/// breaks = ["rpc.id.unique-session", "EX-REQ-07"]
///
/// [[mutant]]
/// limit  = "max_tools"
/// side   = "less"
/// breaks = ["EX-TL-01"]
///
/// [[untripped]]
/// ids    = ["sse.resume.get", "sse.resume.headers"]
/// reason = "the built-in client resumes no stream"
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The mutants.
    #[serde(default)]
    pub mutant: Vec<Mutant>,
    /// The clauses and rows that have checks and that no mutant trips.
    #[serde(default)]
    pub untripped: Vec<Untripped>,
}

/// A broken client.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The rule that is switched off: the name of a `Rule` of the client.
    #[serde(default)]
    pub rule: Option<Spanned<String>>,
    /// The limit that is off by one.
    #[serde(default)]
    pub limit: Option<Spanned<String>>,
    /// Which way the limit is off.
    #[serde(default)]
    pub side: Option<Side>,
    /// The clauses and rows that it breaks: a check of each must notice.
    pub breaks: Vec<Spanned<String>>,
}

/// Which way a limit is off by one.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// One less is allowed.
    Less,
    /// One more is allowed.
    More,
}

/// Clauses and rows that no mutant trips, for one reason.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Untripped {
    /// The clauses and rows.
    pub ids: Vec<Spanned<String>>,
    /// Why no mutant trips them.
    pub reason: Spanned<String>,
}

/// What the table is held against.
#[derive(Clone, Debug)]
pub struct Known {
    /// The rules that the client can break, by name.
    pub rules: BTreeSet<String>,
    /// The clauses and rows that have checks.
    pub ids: BTreeSet<String>,
}

/// The clauses and rows that have checks, in whatever case.
#[must_use]
pub fn checked(catalogue: &Catalogue) -> BTreeSet<String> {
    let checks = catalogue.cases.values().flat_map(|file| &file.case.check);
    let ids = checks.flat_map(|check| check.clause.iter().chain(&check.row).chain(&check.rows));
    ids.map(|id| id.get_ref().clone()).collect()
}

impl Mutant {
    /// What is different about the client, if the entry is sound.
    #[must_use]
    pub fn change(&self) -> Option<Change<'_>> {
        match (&self.rule, &self.limit, self.side) {
            (Some(rule), None, None) => Some(Change::Breaks(rule.get_ref())),
            (None, Some(limit), Some(side)) => Some(Change::Moves(limit.get_ref(), side)),
            _ => None,
        }
    }

    /// The name it is filtered and reported by: `ids-unique`, `max_tools-less`.
    #[must_use]
    pub fn name(&self) -> String {
        self.change().map_or_else(String::new, |change| change.to_string())
    }
}

/// What is different about a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change<'a> {
    /// It breaks this rule.
    Breaks(&'a str),
    /// This limit is off by one.
    Moves(&'a str, Side),
    /// It has this habit.
    Has(&'a str),
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Breaks(name) | Self::Has(name) => f.write_str(name),
            Self::Moves(limit, Side::Less) => write!(f, "{limit}-less"),
            Self::Moves(limit, Side::More) => write!(f, "{limit}-more"),
        }
    }
}

impl Table {
    /// Reads the table below `root`.
    ///
    /// # Errors
    /// All mistakes of the file, as [`Table::parse`] tells them.
    pub fn load(root: &Path, known: &Known) -> Result<Self, Vec<SourceError>> {
        let text = source::read(root.join(PATH), PATH).map_err(|error| vec![error])?;
        Self::parse(&text, known)
    }

    /// Reads the table's text and holds it against what there is.
    ///
    /// # Errors
    /// Syntax, unknown keys, and then all of: a mutant that breaks nothing or not one thing, a rule or side of a limit
    /// without a mutant or with two, names and ids that nothing has.
    pub fn parse(text: &str, known: &Known) -> Result<Self, Vec<SourceError>> {
        let table: Self = source::parse_toml(PATH, text).map_err(|error| vec![error])?;
        let mut check = Check { text, known, errors: Vec::new() };
        check.mutants(&table);
        check.untripped(&table);
        if check.errors.is_empty() { Ok(table) } else { Err(check.errors) }
    }
}

/// The table being held against what is known.
struct Check<'a> {
    text: &'a str,
    known: &'a Known,
    errors: Vec<SourceError>,
}

impl Check<'_> {
    fn error(&mut self, span: Range<usize>, message: &str, help: &str) {
        self.errors.push(SourceError::at(PATH, self.text, span, message, help));
    }

    fn mutants(&mut self, table: &Table) {
        let limits = mcp_assay_client::Limits::NAMES;
        let mut seen = BTreeSet::new();
        for mutant in &table.mutant {
            let place = mutant.rule.as_ref().or(mutant.limit.as_ref()).or_else(|| mutant.breaks.first());
            let span = place.map_or(0..0, Spanned::span);
            let Some(change) = mutant.change() else {
                self.error(span, "expected a rule, or a limit with its side", "write one of the two");
                continue;
            };
            match change {
                Change::Breaks(rule) if !self.known.rules.contains(rule) => {
                    let help = near::help(rule, self.known.rules.iter().map(String::as_str));
                    self.error(span.clone(), "the client has no such rule", &help);
                }
                Change::Moves(limit, _) if !limits.contains(&limit) => {
                    let help = near::help(limit, limits.iter().copied());
                    self.error(span.clone(), "the client has no such limit", &help);
                }
                _ => {}
            }
            if !seen.insert(change.to_string()) {
                self.error(span.clone(), "this mutant stands here twice", "join the two");
            }
            if mutant.breaks.is_empty() {
                self.error(span, "a mutant that breaks nothing", "name the clauses and rows it breaks");
            }
            self.ids(&mutant.breaks);
        }
        let rules = self.known.rules.iter().map(|rule| Change::Breaks(rule));
        let sides =
            limits.iter().flat_map(|limit| [Side::Less, Side::More].map(|side| Change::Moves(limit, side)));
        let missing: Vec<String> =
            rules.chain(sides).map(|change| change.to_string()).filter(|name| !seen.contains(name)).collect();
        for name in missing {
            let help = "every rule and each side of every limit has one: add it";
            self.errors.push(SourceError::file(PATH, format!("there is no mutant {name}"), help));
        }
    }

    fn untripped(&mut self, table: &Table) {
        let all = table.untripped.iter().flat_map(|entry| entry.ids.iter().cloned());
        self.ids(&all.collect::<Vec<_>>());
        for entry in &table.untripped {
            if entry.reason.get_ref().trim().is_empty() {
                let help = "say why no mutant trips them";
                self.error(entry.reason.span(), "untripped without a reason", help);
            }
        }
    }

    /// Ids that have checks, each once.
    fn ids(&mut self, ids: &[Spanned<String>]) {
        let mut seen = BTreeSet::new();
        for id in ids {
            let name = id.get_ref();
            if !self.known.ids.contains(name) {
                let help = near::help(name, self.known.ids.iter().map(String::as_str));
                self.error(id.span(), "no check is tied to such a clause or row", &help);
            } else if !seen.insert(name) {
                self.error(id.span(), "the id stands here twice", "name it once");
            }
        }
    }
}
