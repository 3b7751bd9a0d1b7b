//! Finding a key that an object has twice.
//!
//! Keys are compared after unescaping, but nothing unescaped is stored: a [`Key`] is the place of its text and a
//! hash of what the text stands for, which settles almost every comparison. The hash has no secret, so a server can
//! make keys collide; that costs no more than sorting by the text itself, which bounds the work for any input.

use std::cmp::Ordering;

use super::scan::Span;

use crate::rule::{Rule, rule};

/// Up to this many keys, comparing each with each is faster than sorting.
const FEW: usize = 8;

/// A key of an open object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    hash: u64,
    start: usize,
    end: usize,
}

impl Key {
    pub(super) fn new(text: &[u8], span: Span) -> Self {
        let raw = text.get(span.start..span.end).unwrap_or_default();
        Self {
            hash: if span.escaped && rule(Rule::KeysAreUnescaped) { hash_escaped(raw) } else { hash(raw) },
            start: span.start,
            end: span.end,
        }
    }

    #[cfg(test)]
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    #[inline]
    fn compare(&self, other: &Self, text: &[u8]) -> Ordering {
        self.hash.cmp(&other.hash).then_with(|| self.compare_text(other, text))
    }

    fn compare_text(&self, other: &Self, text: &[u8]) -> Ordering {
        let raw = |key: &Self| text.get(key.start..key.end).unwrap_or_default();
        let (mine, theirs) = (raw(self), raw(other));
        if memchr::memchr(b'\\', mine).or_else(|| memchr::memchr(b'\\', theirs)).is_some() {
            Unescaped::new(mine).cmp(Unescaped::new(theirs))
        } else {
            mine.cmp(theirs)
        }
    }
}

/// Whether two of the keys are equal; sorts them if they are many.
pub(super) fn has_duplicate(keys: &mut [Key], text: &[u8]) -> bool {
    let equal = |a: &Key, b: &Key| a.compare(b, text).is_eq();
    if keys.len() <= FEW {
        return keys
            .iter()
            .enumerate()
            .any(|(at, key)| keys.iter().take(at).any(|earlier| equal(key, earlier)));
    }
    keys.sort_unstable_by(|a, b| a.compare(b, text));
    keys.windows(2).any(|pair| matches!(pair, [a, b] if equal(a, b)))
}

/// Hashes bytes that stand for themselves.
#[inline]
fn hash(mut raw: &[u8]) -> u64 {
    let mut state = 0;
    while let Some((word, rest)) = raw.split_first_chunk() {
        state = mix(state, *word);
        raw = rest;
    }
    let mut last = [0; 8];
    last.iter_mut().zip(raw).for_each(|(slot, &byte)| *slot = byte);
    mix(state, last)
}

/// Hashes what escapes stand for, to the same value as [`hash`].
fn hash_escaped(raw: &[u8]) -> u64 {
    let mut bytes = Unescaped::new(raw);
    let mut state = 0;
    loop {
        let mut word = [0; 8];
        let mut filled = 0;
        for (slot, byte) in word.iter_mut().zip(&mut bytes) {
            *slot = byte;
            filled += 1;
        }
        state = mix(state, word);
        if filled < word.len() {
            return state;
        }
    }
}

#[inline]
fn mix(state: u64, word: [u8; 8]) -> u64 {
    // An odd constant without pattern: the golden ratio's fraction.
    (state.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The bytes that the content of a valid JSON string stands for.
struct Unescaped<'a> {
    raw: std::slice::Iter<'a, u8>,
    /// The rest of a character that an escape named.
    rest: std::array::IntoIter<u8, 4>,
    left: usize,
}

impl<'a> Unescaped<'a> {
    fn new(raw: &'a [u8]) -> Self {
        Self { raw: raw.iter(), rest: [0; 4].into_iter(), left: 0 }
    }

    fn unit(&mut self) -> u32 {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0);
        self.raw.by_ref().take(4).fold(0, |unit, byte| unit * 16 + digit(byte))
    }

    /// The first byte of the character that a `\u` escape names; keeps the others.
    fn character(&mut self) -> Option<u8> {
        let mut scalar = self.unit();
        if let 0xD800..=0xDBFF = scalar {
            self.raw.nth(1);
            let low = self.unit();
            scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF);
        }
        let mut encoded = [0; 4];
        self.left = char::from_u32(scalar).map_or(0, |character| character.encode_utf8(&mut encoded).len());
        self.rest = encoded.into_iter();
        self.next()
    }
}

impl Iterator for Unescaped<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if self.left > 0 {
            self.left -= 1;
            return self.rest.next();
        }
        match *self.raw.next()? {
            b'\\' => match *self.raw.next()? {
                b'b' => Some(0x08),
                b'f' => Some(0x0C),
                b'n' => Some(b'\n'),
                b'r' => Some(b'\r'),
                b't' => Some(b'\t'),
                b'u' => self.character(),
                other => Some(other),
            },
            plain => Some(plain),
        }
    }
}
