//! Lawful variations: the client with other habits, which no check that binds every client may notice.

use super::stage::{CheckName, Stage, Trip};
use super::table::Change;
use super::trial::Client;
use super::watchdog::Watchdog;
use crate::near;
use crate::source::{self, SourceError};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use toml::Spanned;

/// Where the table stands, below the root.
pub const PATH: &str = "fixtures/lawful.toml";

/// The table.
///
/// ```toml
/// [[variation]]
/// habit  = "string-ids"
/// why    = "an id may be a string or an integer; the server only returns it"
/// source = "MCP 2025-06-18, basic: requests"
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lawful {
    /// The variations.
    pub variation: Vec<Variation>,
}

/// A client with another habit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// The habit: the name of a `Habit` of the client.
    pub habit: Spanned<String>,
    /// Why it is lawful.
    pub why: String,
    /// Where that stands.
    pub source: String,
}

impl Lawful {
    /// Reads the table below `root`; `habits` are those the client can take on.
    ///
    /// # Errors
    /// All mistakes of the file, as [`Lawful::parse`] tells them.
    pub fn load(root: &Path, habits: &BTreeSet<String>) -> Result<Self, Vec<SourceError>> {
        let text = source::read(root.join(PATH), PATH).map_err(|error| vec![error])?;
        Self::parse(&text, habits)
    }

    /// Reads the table's text.
    ///
    /// # Errors
    /// Syntax, unknown keys, and then all of: habits that the client cannot take on, twice or missing ones, variations
    /// without why and source.
    pub fn parse(text: &str, habits: &BTreeSet<String>) -> Result<Self, Vec<SourceError>> {
        let table: Self = source::parse_toml(PATH, text).map_err(|error| vec![error])?;
        let mut errors = Vec::new();
        let mut seen = BTreeSet::new();
        for Variation { habit, why, source } in &table.variation {
            let mut error = |message: &str, help: &str| {
                errors.push(SourceError::at(PATH, text, habit.span(), message, help));
            };
            let name = habit.get_ref().as_str();
            if !habits.contains(name) {
                error("the client has no such habit", &near::help(name, habits.iter().map(String::as_str)));
            } else if !seen.insert(name) {
                error("this habit stands here twice", "join the two");
            }
            if why.trim().is_empty() || source.trim().is_empty() {
                error("a variation without why and source", "say why it is lawful, and where that stands");
            }
        }
        for name in habits.iter().filter(|name| !seen.contains(name.as_str())) {
            let help = "every habit of the client has one: add it";
            errors.push(SourceError::file(PATH, format!("there is no variation {name}"), help));
        }
        if errors.is_empty() { Ok(table) } else { Err(errors) }
    }
}

/// What became of one variation.
#[derive(Debug)]
pub struct Varied {
    /// Its habit.
    pub name: String,
    /// What kept it from being played.
    pub problems: Vec<String>,
    /// The checks that noticed it, though they bind every client.
    pub tripped: BTreeMap<CheckName, Trip>,
}

impl Varied {
    /// Whether nothing noticed it.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty() && self.tripped.is_empty()
    }
}

/// Plays each variation that `chosen` takes; `heard` hears of each.
pub fn play_all(
    stage: &Stage<'_>,
    client: &dyn Client,
    watchdog: &Watchdog,
    table: &Lawful,
    chosen: &dyn Fn(&str) -> bool,
    heard: &dyn Fn(&Varied),
) -> Vec<Varied> {
    let mut all = Vec::new();
    for variation in &table.variation {
        let name = variation.habit.get_ref().clone();
        if !chosen(&name) {
            continue;
        }
        watchdog.client(&name);
        let known = client.change(Some(Change::Has(&name)));
        let mut differences = stage.play_anew();
        client.change(None);
        watchdog.client("");
        if !known {
            differences.problems.push("the client cannot be changed so".to_owned());
        }
        let varied = Varied { name, problems: differences.problems, tripped: differences.trips };
        heard(&varied);
        all.push(varied);
    }
    all
}
