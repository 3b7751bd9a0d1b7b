//! Replacing in bytes, and where offsets go.

use super::scan::Tokens;
use bytes::Bytes;
use std::ops::Range;

/// The replacements in one byte string.
pub(super) struct Edits<'a> {
    edits: Vec<(Range<usize>, &'a str)>,
}

impl<'a> Edits<'a> {
    pub(super) fn of(bytes: &[u8], tokens: &'a Tokens<'_>) -> Self {
        Self { edits: tokens.find(bytes) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The bytes after the replacements.
    pub(super) fn bytes(&self, bytes: &Bytes) -> Bytes {
        if self.is_empty() { bytes.clone() } else { self.replaced(bytes).into() }
    }

    /// The text after the replacements. A learnt value may be no UTF-8 and so match inside a character: what is left
    /// of that becomes U+FFFD.
    pub(super) fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.replaced(text.as_bytes())).into_owned()
    }

    fn replaced(&self, bytes: &[u8]) -> Vec<u8> {
        let mut replaced = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for (range, token) in &self.edits {
            replaced.extend_from_slice(&bytes[from..range.start]);
            replaced.extend_from_slice(token.as_bytes());
            from = range.end;
        }
        replaced.extend_from_slice(&bytes[from..]);
        replaced
    }

    /// Where an offset lies after the replacements; one inside a value keeps its share of the token.
    pub(super) fn offset(&self, at: usize) -> usize {
        let mut moved = at;
        for (range, token) in &self.edits {
            if range.end <= at {
                moved = moved + token.len() - range.len();
            } else if range.start < at {
                let inside = at - range.start;
                return moved - inside + inside * token.len() / range.len();
            } else {
                break;
            }
        }
        moved
    }
}
