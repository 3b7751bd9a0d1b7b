//! Commands in manifests: words with named places, such as `{runtime}`, that are filled in when a program is started.

use std::ffi::{OsStr, OsString};

/// A command with places.
#[derive(Clone, Debug)]
pub(super) struct Template(Vec<String>);

impl Template {
    /// Takes a command's words.
    ///
    /// # Errors
    /// A place of another name than those in `known`.
    pub(super) fn new(words: Vec<String>, known: &[&str]) -> Result<Self, String> {
        let template = Self(words);
        let unknown = template.places().find(|place| !known.contains(place));
        match unknown {
            Some(unknown) => {
                let known: Vec<String> = known.iter().map(|place| format!("{{{place}}}")).collect();
                let (last, others) = known
                    .split_last()
                    .map_or(("", String::new()), |(last, others)| (last.as_str(), others.join(", ")));
                Err(format!("unknown place {{{unknown}}}, expected {others} or {last}"))
            }
            None => Ok(template),
        }
    }

    /// Whether some word has the place.
    pub(super) fn has(&self, place: &str) -> bool {
        self.places().any(|known| known == place)
    }

    /// The command with every place filled in.
    pub(super) fn fill(&self, places: &[(&str, &OsStr)]) -> Vec<OsString> {
        let fill = |word: &String| {
            let mut filled = OsString::new();
            for (literal, place) in pieces(word) {
                filled.push(literal);
                if let Some((_, value)) = places.iter().find(|(name, _)| place == Some(*name)) {
                    filled.push(value);
                }
            }
            filled
        };
        self.0.iter().map(fill).collect()
    }

    fn places(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|word| pieces(word)).filter_map(|(_, place)| place)
    }
}

/// Splits `a{b}c` into the literal `a` before the place `b`, and the literal `c` before none.
fn pieces(word: &str) -> Vec<(&str, Option<&str>)> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while let Some((literal, after)) = rest.split_once('{') {
        let Some((place, after)) = after.split_once('}') else { break };
        pieces.push((literal, Some(place)));
        rest = after;
    }
    pieces.push((rest, None));
    pieces
}
