//! Finding a key that an object has twice.
//!
//! Keys are compared after unescaping, but nothing unescaped is stored: a [`Key`] is the place of its text and
//! its first bytes, which settle almost every comparison. Sorting bounds the cost for any input: no hash to
//! collide, and a long common prefix costs at most its length for each comparison.

use std::cmp::Ordering;
use std::ops::Range;

/// Up to this many keys, comparing each with each is faster than sorting.
const FEW: usize = 8;

/// A key of an open object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// The first eight bytes after unescaping, in an order that is the order of the bytes.
    prefix: u64,
    start: usize,
    end: usize,
}

impl Key {
    pub(super) fn new(text: &[u8], span: Range<usize>) -> Self {
        let raw = text.get(span.clone()).unwrap_or_default();
        let mut prefix = [0; 8];
        for (slot, byte) in prefix.iter_mut().zip(Unescaped::new(raw)) {
            *slot = byte;
        }
        Self { prefix: u64::from_be_bytes(prefix), start: span.start, end: span.end }
    }

    fn compare(&self, other: &Self, text: &[u8]) -> Ordering {
        let raw = |key: &Self| text.get(key.start..key.end).unwrap_or_default();
        self.prefix.cmp(&other.prefix).then_with(|| Unescaped::new(raw(self)).cmp(Unescaped::new(raw(other))))
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
