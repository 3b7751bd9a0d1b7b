//! Where the values of a TOML text stand: a walk by keys and positions beside the parsed values, for carets.

use sha2::{Digest, Sha256};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// SHA-256 over the RFC 8785 form of a parsed file: comments and layout do not count.
pub(crate) fn digest(table: &toml::Table) -> [u8; 32] {
    // A TOML table is a JSON object with text keys, so this cannot fail but for what JSON has no word for (infinite
    // numbers), which no key of ours takes; TOML's own rendering keeps such a file distinct all the same.
    let canonical =
        serde_json_canonicalizer::to_vec(table).unwrap_or_else(|_| table.to_string().into_bytes());
    Sha256::digest(canonical).into()
}

/// A parsed TOML text that knows its places.
pub(crate) struct Document<'t> {
    root: DeTable<'t>,
}

impl<'t> Document<'t> {
    /// Parses a text; none if it is no TOML (the loaders have reported that before).
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        Some(Self { root: DeTable::parse(text).ok()?.into_inner() })
    }

    /// The place of a value of the outermost table.
    pub(crate) fn get(&self, key: &str) -> Place<'_> {
        self.entry(key).unwrap_or(Place { value: None, span: (0, 0), key: (0, 0) })
    }

    fn entry(&self, key: &str) -> Option<Place<'_>> {
        entries(&self.root).find(|(name, _)| *name == key).map(|(_, place)| place)
    }

    /// All values of the outermost table with their keys, in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(&str, Place<'_>)> {
        ordered(entries(&self.root))
    }
}

/// The place of one value. Asked for what is not there, it stays where it is: the nearest thing to point at.
#[derive(Clone, Copy)]
pub(crate) struct Place<'d> {
    value: Option<&'d DeValue<'d>>,
    span: (usize, usize),
    key: (usize, usize),
}

impl<'d> Place<'d> {
    /// The bytes of the value.
    pub(crate) fn span(self) -> Range<usize> {
        self.span.0..self.span.1
    }

    /// The bytes of the key before the value.
    pub(crate) fn key_span(self) -> Range<usize> {
        self.key.0..self.key.1
    }

    /// The same place, its key standing for it.
    pub(crate) fn at_key(self) -> Self {
        Self { span: self.key, ..self }
    }

    /// The value itself.
    pub(crate) fn value(self) -> Option<&'d DeValue<'d>> {
        self.value
    }

    /// The value, where it is a text.
    pub(crate) fn text(self) -> Option<&'d str> {
        self.value?.as_str()
    }

    /// The value of a key.
    pub(crate) fn get(self, key: &str) -> Self {
        let table = self.value.and_then(DeValue::as_table);
        let found = table.and_then(|table| entries(table).find(|(name, _)| *name == key));
        found.map_or(Self { value: None, ..self }, |(_, place)| place)
    }

    /// The place of a key, where there is such a key.
    pub(crate) fn find(self, key: &str) -> Option<Self> {
        let place = self.get(key);
        place.value.is_some().then_some(place)
    }

    /// An element of an array.
    pub(crate) fn at(self, index: usize) -> Self {
        let element = self.value.and_then(DeValue::as_array).and_then(|array| array.get(index));
        element.map_or(Self { value: None, ..self }, |value| {
            let span = (value.span().start, value.span().end);
            Self { value: Some(value.get_ref()), span, key: span }
        })
    }

    /// All values of a table with their keys, in the order of the file.
    pub(crate) fn entries(self) -> Vec<(&'d str, Self)> {
        self.value.and_then(DeValue::as_table).map_or_else(Vec::new, |table| ordered(entries(table)))
    }

    /// The elements of an array.
    pub(crate) fn elements(self) -> Vec<Self> {
        let len = self.value.and_then(DeValue::as_array).map_or(0, |array| array.len());
        (0..len).map(|index| self.at(index)).collect()
    }

    /// Every text at or below this place.
    pub(crate) fn texts(self) -> Vec<(&'d str, Self)> {
        let mut found = Vec::new();
        let mut todo = vec![self];
        while let Some(place) = todo.pop() {
            if let Some(text) = place.text() {
                found.push((text, place));
            }
            todo.extend(place.elements());
            todo.extend(place.entries().into_iter().map(|(_, place)| place));
        }
        found.sort_by_key(|(_, place)| place.span);
        found
    }
}

fn entries<'d>(table: &'d DeTable<'d>) -> impl Iterator<Item = (&'d str, Place<'d>)> {
    table.iter().map(|(key, value)| {
        let place = Place {
            value: Some(value.get_ref()),
            span: (value.span().start, value.span().end),
            key: (key.span().start, key.span().end),
        };
        (key.get_ref().as_ref(), place)
    })
}

fn ordered<'d>(entries: impl Iterator<Item = (&'d str, Place<'d>)>) -> Vec<(&'d str, Place<'d>)> {
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(|(_, place)| place.key);
    entries
}
