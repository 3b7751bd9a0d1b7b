//! What is wrong with a receipt, as data: where, what was expected, what was seen, what to do.

use std::fmt;
use std::path::Path;

/// How much of a seen text a message shows, in characters.
const SHOWN: usize = 240;

/// One thing that is wrong with a run, a receipt or an accepted claim.
///
/// Its text is one line without control characters: what stands in a file never reaches a terminal raw.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, serde::Serialize, thiserror::Error)]
pub struct Problem {
    /// The file, below the run's folder where it lies there, and the place in it where one is known.
    pub place: String,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// What to do about it.
    pub remedy: String,
}

impl Problem {
    /// Names a problem.
    pub fn new(
        place: impl Into<String>,
        expected: impl Into<String>,
        seen: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), expected: expected.into(), seen: seen.into(), remedy: remedy.into() }
    }

    /// A file or folder that the system would not read or write.
    #[must_use]
    pub fn io(path: &Path, doing: &str, error: &std::io::Error) -> Self {
        Self::new(
            path.display().to_string(),
            format!("to {doing} it"),
            error.to_string(),
            "check the path, its permissions and the free space",
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, expected, seen, remedy } = self;
        write!(f, "{}: expected {}, saw {}; {}", Shown(place), Shown(expected), Shown(seen), Shown(remedy))
    }
}

/// A text as one line of printable characters, cut after [`SHOWN`].
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, c) in self.0.chars().enumerate() {
            if index == SHOWN {
                return f.write_str("…");
            }
            if is_plain(c) { write!(f, "{c}")? } else { write!(f, "{}", c.escape_default())? }
        }
        Ok(())
    }
}

/// Whether a terminal shows the character as itself: no controls, no marks that turn the writing direction.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_one_printable_line() {
        let seen = "\u{1b}[31mred\u{202e}\n".to_owned() + &"x".repeat(400);
        let text = Problem::new("claims/sse/bom.json", "a digest", seen, "restore the file").to_string();
        assert!(text.chars().all(is_plain));
        assert!(text.starts_with(r"claims/sse/bom.json: expected a digest, saw \u{1b}[31mred\u{202e}\n"));
        assert!(text.len() < 400 && text.ends_with("…; restore the file"));
    }
}
