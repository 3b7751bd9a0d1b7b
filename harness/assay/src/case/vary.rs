//! `vary`: the keys of a case whose values make its variants, and putting one choice of them into the text.
//!
//! The file's text is the template. `"$key"` is replaced by the TOML of the chosen value and the result parsed by
//! the same strict rules as any case, so a variant cannot hold what a file could not. Each byte of the result knows
//! where it came from, so that an error in a variant points into the file.

mod read;

use super::load::StandIn;
use crate::document::Document;
use crate::near;
use crate::plan::{Plan, is_open};
use crate::source::{self, SourceError};
use read::Reader;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The chosen values by their keys' names, in the keys' order.
pub(super) type Picks = Vec<(String, String)>;

/// One key of `vary` with its values, both in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct VaryKey {
    /// The key: `slice` in `"$slice"`.
    pub name: String,
    /// Each value's name, as it stands in variant ids, and the value. In a list the value is its own name.
    pub values: Vec<(String, toml::Value)>,
}

impl VaryKey {
    /// The names of the values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }
}

/// A case's text with its holes.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    path: PathBuf,
    text: Arc<str>,
    keys: Vec<VaryKey>,
    /// For each key, the TOML of each value.
    sources: Vec<Vec<Source>>,
    /// The holes in the order of the text.
    holes: Vec<Hole>,
    vary: Range<usize>,
}

/// The TOML that stands for a value.
#[derive(Clone, Debug)]
struct Source {
    toml: String,
    /// Where the value stands in the file.
    span: Range<usize>,
    /// Whether the TOML is the file's own text, byte for byte.
    verbatim: bool,
}

#[derive(Clone, Debug)]
struct Hole {
    span: Range<usize>,
    key: usize,
}

impl Template {
    /// Finds keys, values and holes. The text must be TOML.
    pub(crate) fn new(path: &Path, text: &str) -> Result<Self, Vec<SourceError>> {
        let Some(document) = Document::parse(text) else {
            let error = source::parse_toml::<toml::Table>(path, text).err();
            return Err(error.into_iter().collect());
        };
        let most = read::most_values(&document);
        let mut reader = Reader { path, text, most, errors: Vec::new() };
        let (mut keys, mut sources, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (name, place) in document.get("vary").entries() {
            let (values, toml) = reader.key(name, place).into_iter().unzip();
            keys.push(VaryKey { name: name.to_owned(), values });
            sources.push(toml);
            places.push(place);
        }
        let holes = reader.holes(&document, &keys);
        for (index, (key, place)) in keys.iter().zip(&places).enumerate() {
            if holes.iter().all(|hole| hole.key != index) {
                let message = format!("the vary key `{}` is never used", key.name);
                let help = format!("write \"${}\" where its value goes, or leave the key out", key.name);
                reader.error(place.key_span(), message, help);
            }
        }
        if reader.errors.is_empty() {
            let vary = document.get("vary").span();
            Ok(Self { path: path.to_owned(), text: text.into(), keys, sources, holes, vary })
        } else {
            Err(reader.errors)
        }
    }

    pub(crate) fn keys(&self) -> &[VaryKey] {
        &self.keys
    }

    /// The choice of each key's first value.
    pub(crate) fn first(&self) -> Vec<(String, String)> {
        self.keys.iter().filter_map(|key| Some((key.name.clone(), key.values.first()?.0.clone()))).collect()
    }

    /// Choices in which each value of each key comes at least once: the first of all, and each other value among
    /// the first values of the other keys.
    pub(crate) fn probes(&self) -> Vec<Vec<(String, String)>> {
        let first = self.first();
        let mut probes = vec![first.clone()];
        for (index, key) in self.keys.iter().enumerate() {
            for (name, _) in key.values.iter().skip(1) {
                let mut probe = first.clone();
                if let Some(slot) = probe.get_mut(index) {
                    slot.1.clone_from(name);
                }
                probes.push(probe);
            }
        }
        probes
    }

    /// How many choices the product of all keys has; the largest number where it has more.
    pub(crate) fn product(&self) -> usize {
        self.keys.iter().map(|key| key.values.len()).fold(1, usize::saturating_mul)
    }

    /// The product of all keys, the last key turning fastest.
    pub(crate) fn combinations(&self) -> impl Iterator<Item = Vec<(String, String)>> + '_ {
        (0..self.product()).map(|mut number| {
            let mut picks: Vec<_> = self
                .keys
                .iter()
                .rev()
                .filter_map(|key| {
                    let (name, _) = key.values.get(number % key.values.len())?;
                    number /= key.values.len();
                    Some((key.name.clone(), name.clone()))
                })
                .collect();
            picks.reverse();
            picks
        })
    }

    /// Fills the holes with the chosen values. Each key is chosen once; an open slice plan may be made concrete
    /// (`each-cut@17`).
    pub(crate) fn fill(&self, picks: &[(String, String)]) -> Result<Filled, SourceError> {
        if let Some((name, _)) = picks.iter().find(|(name, _)| self.keys.iter().all(|key| key.name != *name))
        {
            let help = near::help(name, self.keys.iter().map(|key| key.name.as_str()));
            return Err(self.error(format!("the case has no vary key `{name}`"), help));
        }
        let chosen: Vec<Source> = self
            .keys
            .iter()
            .zip(&self.sources)
            .map(|(key, sources)| self.choose(key, sources, picks))
            .collect::<Result<_, _>>()?;
        let mut filled = Filled { text: String::with_capacity(self.text.len()), pieces: Vec::new() };
        let mut at = 0;
        for hole in &self.holes {
            filled.push(&self.text, at..hole.span.start);
            if let Some(source) = chosen.get(hole.key) {
                filled.pieces.push(Piece {
                    at: filled.text.len(),
                    from: source.span.clone(),
                    verbatim: source.verbatim,
                });
                filled.text.push_str(&source.toml);
            }
            at = hole.span.end;
        }
        filled.push(&self.text, at..self.text.len());
        Ok(filled)
    }

    /// The choice with a stand-in for each plan in it, and what those stand for; none where nothing is one.
    pub(super) fn stand_ins(&self, picks: &[(String, String)]) -> Option<(Picks, Vec<StandIn>)> {
        let (mut stood_in, mut stand_ins) = (picks.to_vec(), Vec::new());
        for (name, pick) in &mut stood_in {
            let index = self.keys.iter().position(|key| key.name == *name)?;
            let Some(plan) = plan_of(self.keys.get(index)?, pick) else { continue };
            let text = format!("{STAND_IN}{index}");
            pick.clone_from(&text);
            let holes = self.holes.iter().filter(|hole| hole.key == index).count();
            stand_ins.push(StandIn { text, plan, holes });
        }
        (!stand_ins.is_empty()).then_some((stood_in, stand_ins))
    }

    fn choose(
        &self,
        key: &VaryKey,
        sources: &[Source],
        picks: &[(String, String)],
    ) -> Result<Source, SourceError> {
        let name = &key.name;
        let Some((_, pick)) = picks.iter().find(|(picked, _)| picked == name) else {
            return Err(self.error(format!("no value is chosen for the vary key `{name}`"), String::new()));
        };
        let source =
            |value: &str| key.names().position(|known| known == value).and_then(|at| sources.get(at));
        if let Some(source) = source(pick) {
            return Ok(source.clone());
        }
        if pick.starts_with(STAND_IN) {
            let text = pick.strip_prefix('\0').unwrap_or_default();
            let span = sources.first().map_or(0..0, |source| source.span.clone());
            return Ok(Source { toml: format!("\"\\u0000{text}\""), span, verbatim: false });
        }
        let concrete = concrete(key, pick).and_then(|plan| {
            let open = pick.split_once('@').map_or("", |(open, _)| open);
            let span = source(open)?.span.clone();
            Some(Source { toml: format!("\"{plan}\""), span, verbatim: false })
        });
        concrete.ok_or_else(|| {
            let help = near::help(pick, key.names());
            self.error(format!("the vary key `{name}` has no value `{pick}`"), help)
        })
    }

    fn error(&self, message: String, help: String) -> SourceError {
        if self.keys.is_empty() {
            return SourceError::file(&self.path, message, "the case has no [vary]");
        }
        SourceError::at(&self.path, &self.text, self.vary.clone(), message, help)
    }
}

/// What the picks of stand-ins begin with: no file can hold such a name.
const STAND_IN: &str = "\0plan-";

/// The plan that a key's value is, if it is one.
fn plan_of(key: &VaryKey, pick: &str) -> Option<String> {
    match key.values.iter().find(|(known, _)| known == pick) {
        Some((_, value)) => value.as_str().filter(|text| text.parse::<Plan>().is_ok()).map(str::to_owned),
        None => concrete(key, pick).map(|plan| plan.to_string()),
    }
}

/// `each-cut@17` where the file lists `each-cut`, or `cut@17` where it names `cut = "each-cut"`.
fn concrete(key: &VaryKey, pick: &str) -> Option<Plan> {
    let (open, cut) = pick.split_once('@')?;
    let (_, value) = key.values.iter().find(|(known, _)| known == open)?;
    let listed = value.as_str()?;
    let plan: Plan = format!("{listed}@{cut}").parse().ok()?;
    is_open(listed).then_some(plan)
}

/// A case's text with the chosen values in place, and where each part of it came from.
#[derive(Clone, Debug)]
pub(crate) struct Filled {
    pub(crate) text: String,
    pieces: Vec<Piece>,
}

/// A part of the filled text, up to the next piece.
#[derive(Clone, Debug)]
struct Piece {
    at: usize,
    from: Range<usize>,
    verbatim: bool,
}

impl Filled {
    fn push(&mut self, text: &str, range: Range<usize>) {
        self.pieces.push(Piece { at: self.text.len(), from: range.clone(), verbatim: true });
        self.text.push_str(text.get(range).unwrap_or_default());
    }

    /// The place in the file of a span of the filled text.
    pub(crate) fn origin(&self, span: Range<usize>) -> Range<usize> {
        let Some(first) = self.pieces.iter().rfind(|piece| piece.at <= span.start) else { return span };
        if !first.verbatim {
            return first.from.clone();
        }
        let start = first.from.start + (span.start - first.at);
        // An end exactly on the border belongs to the piece before it.
        let end = match self.pieces.iter().rfind(|piece| piece.at < span.end.max(span.start + 1)) {
            Some(last) if last.verbatim => last.from.start + (span.end.max(last.at) - last.at),
            Some(last) => last.from.end,
            None => start,
        };
        // A span that begins in a value and ends outside it has its end before its start, or far after it: the
        // value is what to look at.
        if end < start { start..first.from.end } else { start..end }
    }
}

#[cfg(test)]
mod tests;
