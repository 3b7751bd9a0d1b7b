//! Reading `[vary]`, and finding where its keys are used.

use super::{Hole, Source, VaryKey};
use crate::case::{MAX_VARIANTS, USUAL_VARIANTS};
use crate::document::{Document, Place};
use crate::near;
use crate::source::SourceError;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use toml::de::DeValue;

/// Names with a place of their own in variant ids.
const RESERVED: [&str; 3] = ["revision", "server", "wire"];

/// Reads `vary` and finds the holes, collecting errors.
pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    /// The most values of one key: each makes a variant at least.
    pub(super) most: usize,
    pub(super) errors: Vec<SourceError>,
}

impl Reader<'_> {
    pub(super) fn error(&mut self, span: Range<usize>, message: impl AsRef<str>, help: impl AsRef<str>) {
        self.errors.push(SourceError::at(self.path, self.text, span, message, help));
    }

    pub(super) fn key(&mut self, name: &str, place: Place<'_>) -> Vec<((String, toml::Value), Source)> {
        if !is_key(name) {
            let help = "write 1 to 60 characters a-z, 0-9, - and _";
            self.error(place.key_span(), format!("`{name}` cannot be a vary key"), help);
        }
        if RESERVED.contains(&name) {
            let message = format!("`{name}` cannot be a vary key: variant ids have one of that name");
            self.error(place.key_span(), message, "take another name");
        }
        let named: Vec<(String, Place<'_>)> = match place.value() {
            Some(DeValue::Table(_)) => {
                place.entries().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }
            Some(DeValue::Array(_)) => {
                place.elements().into_iter().filter_map(|value| self.listed(value)).collect()
            }
            _ => {
                let help = "write a list of texts, or a table of named values";
                self.error(place.span(), format!("the vary key `{name}` has no values to choose from"), help);
                return Vec::new();
            }
        };
        if named.len() > self.most {
            let (has, most) = (named.len(), self.most);
            let message = format!("the vary key `{name}` has {has} values where {most} are allowed");
            self.error(
                place.key_span(),
                message,
                "narrow it, or say `max_variants = N` if that many are meant",
            );
            return Vec::new();
        }
        if named.is_empty() && self.errors.is_empty() {
            self.error(place.span(), format!("the vary key `{name}` has no values"), "give it at least one");
        }
        let mut values: Vec<((String, toml::Value), Source)> = Vec::new();
        let mut known = BTreeSet::new();
        for (value_name, value) in named {
            let at =
                if place.value().is_some_and(DeValue::is_table) { value.key_span() } else { value.span() };
            if !is_value_name(&value_name) {
                let help = "it stands in variant ids: write 1 to 60 visible ASCII characters without ; = # and \
                            blanks (give other values a name: a table in place of the list)";
                self.error(at, format!("{value_name:?} cannot be the name of a value"), help);
            } else if known.contains(&value_name) {
                self.error(at, format!("the value `{value_name}` comes twice"), "leave one out");
            } else if let Some((parsed, source)) = self.source(value) {
                for (text, inner) in value.texts() {
                    if hole(text).is_some() {
                        let help = "a value cannot hold another key's value: write it out";
                        self.error(inner.span(), format!("{text:?} inside [vary]"), help);
                    }
                }
                known.insert(value_name.clone());
                values.push(((value_name, parsed), source));
            }
        }
        values
    }

    fn listed<'d>(&mut self, value: Place<'d>) -> Option<(String, Place<'d>)> {
        let name = match value.value() {
            Some(DeValue::String(text)) => Some(text.to_string()),
            Some(DeValue::Integer(number)) => Some(number.as_str().to_owned()),
            Some(DeValue::Boolean(is)) => Some(is.to_string()),
            _ => None,
        };
        if name.is_none() {
            let help = "a list holds texts, integers or booleans; give other values a name: a table";
            self.error(value.span(), "a value without a name", help);
        }
        name.map(|name| (name, value))
    }

    fn source(&mut self, value: Place<'_>) -> Option<(toml::Value, Source)> {
        #[derive(serde::Deserialize)]
        struct Only {
            v: toml::Value,
        }
        let span = value.span();
        let slice = self.text.get(span.clone()).unwrap_or_default();
        // The text of a value from a table of its own (`[vary.suffix.bom]`) is a header, not a value.
        match toml::from_str::<Only>(&format!("v = {slice}")) {
            Ok(Only { v }) if !slice.starts_with("[vary") => {
                Some((v, Source { toml: slice.to_owned(), span, verbatim: true }))
            }
            _ => {
                let help = "write the value on one line: name = { … }";
                self.error(span, "a value of [vary] has to stand inline", help);
                None
            }
        }
    }

    pub(super) fn holes(&mut self, document: &Document<'_>, keys: &[VaryKey]) -> Vec<Hole> {
        let mut holes = Vec::new();
        for (_, place) in document.entries().into_iter().filter(|(name, _)| *name != "vary") {
            for (text, place) in place.texts() {
                let Some(name) = hole(text) else { continue };
                if let Some(key) = keys.iter().position(|key| key.name == name) {
                    holes.push(Hole { span: place.span(), key });
                } else {
                    let help = near::help(name, keys.iter().map(|key| key.name.as_str()));
                    self.error(place.span(), format!("[vary] has no key `{name}`"), help);
                }
            }
        }
        holes.sort_by_key(|hole| hole.span.start);
        holes
    }
}

/// The most values of one key: as many as the case may have variants. What is no such number is told elsewhere.
pub(super) fn most_values(document: &Document<'_>) -> usize {
    let most: Option<u32> = match document.get("max_variants").value() {
        Some(DeValue::Integer(said)) => said.as_str().parse().ok().filter(|said| *said > 0),
        _ => None,
    };
    most.unwrap_or(USUAL_VARIANTS).min(MAX_VARIANTS).try_into().unwrap_or(usize::MAX)
}

/// The key that a text stands for, if it stands for one: all of the text is `$key`.
fn hole(text: &str) -> Option<&str> {
    text.strip_prefix('$').filter(|name| is_key(name))
}

fn is_key(name: &str) -> bool {
    (1..=60).contains(&name.len())
        && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
}

fn is_value_name(name: &str) -> bool {
    (1..=60).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b';' | b'=' | b'#'))
}
