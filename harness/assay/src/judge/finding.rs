//! What one check found, and the form of its texts.

use crate::digest::Digest;
use crate::source::escape;
use crate::tokens::Tokens;
use crate::verdict::Outcome;

/// An outcome and what was seen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Finding {
    pub(crate) outcome: Outcome,
    pub(crate) actual: String,
}

impl Finding {
    pub(crate) fn pass(actual: String) -> Self {
        Self { outcome: Outcome::Pass, actual }
    }

    pub(crate) fn fail(actual: String) -> Self {
        Self { outcome: Outcome::Fail, actual }
    }

    pub(crate) fn of(holds: bool, actual: String) -> Self {
        if holds { Self::pass(actual) } else { Self::fail(actual) }
    }

    pub(crate) fn unexercised(actual: String) -> Self {
        Self { outcome: Outcome::Unexercised, actual }
    }

    pub(crate) fn unsupported(actual: String) -> Self {
        Self { outcome: Outcome::Unsupported, actual }
    }

    pub(crate) fn inconclusive(actual: String) -> Self {
        Self { outcome: Outcome::Inconclusive, actual }
    }

    pub(crate) fn error(actual: String) -> Self {
        Self { outcome: Outcome::Error, actual }
    }
}

/// The longest text of a check result, in bytes, without the words that tell of the cut.
pub(crate) const LONGEST: usize = 160;

/// A text fit for a check result: one bounded line that any terminal may print. What is cut off still tells: the hash
/// of the whole stands beside it, so that two texts never look alike because they begin alike.
pub(crate) fn line(text: &str) -> String {
    line_of(text, LONGEST)
}

/// The same with another bound, in bytes.
pub(crate) fn line_of(text: &str, longest: usize) -> String {
    let text = escape(text);
    if text.len() <= longest {
        return text.into_owned();
    }
    let mut end = longest;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text.get(..end).unwrap_or_default();
    format!("{kept}… (cut, {} bytes in all, sha256 {})", text.len(), Digest::of(text.as_bytes()).short())
}

/// Like [`line`], with what differs between runs replaced by tokens.
pub(crate) fn stable_line(text: &str, tokens: &mut Tokens) -> String {
    line(&tokens.text(text))
}

/// A text in quotes, as results show one.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        assert_eq!(line(&"a".repeat(LONGEST)), "a".repeat(LONGEST));
        let cut = line(&"雪".repeat(200));
        assert_eq!(cut, format!("{}… (cut, 600 bytes in all, sha256 6024a444)", "雪".repeat(53)));
        // Two texts that begin alike do not look alike.
        assert_ne!(line(&format!("{}a", "x".repeat(900))), line(&format!("{}b", "x".repeat(900))));
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(line("\u{1b}[2J\r\n"), "\\x1b[2J\\r\\n");
    }
}
