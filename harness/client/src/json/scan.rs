//! The tokens of JSON: whitespace, strings, numbers, literals.

/// The byte at the scanner's offset cannot be there.
#[derive(Debug)]
pub(super) struct Misplaced;

/// Strings are searched this many eight-byte words far, then with `memchr`, whose set-up costs more than a short
/// string.
const WORDS: usize = 8;

/// Where the content of a string is, and whether it holds escapes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) escaped: bool,
}

/// A position in a text.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of what is known to be UTF-8.
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Steps over the byte if it is the next one.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[inline]
    pub(super) fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Nothing but whitespace may follow.
    pub(super) fn end(&mut self) -> Result<(), Misplaced> {
        self.skip_whitespace();
        if self.at == self.text.len() { Ok(()) } else { Err(Misplaced) }
    }

    /// A string, number or literal.
    #[inline]
    pub(super) fn scalar(&mut self) -> Result<(), Misplaced> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            _ => Err(Misplaced),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Misplaced> {
        for &byte in word {
            if !self.take(byte) {
                return Err(Misplaced);
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Misplaced> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(())
    }

    /// At least one digit.
    #[inline]
    fn digits(&mut self) -> Result<(), Misplaced> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        if digits == 0 { Err(Misplaced) } else { Ok(()) }
    }

    /// A string, from its opening quote on.
    pub(super) fn string(&mut self) -> Result<Span, Misplaced> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.skip_plain();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Span { start, end: self.at - 1, escaped });
                }
                Some(b'\\') => self.escape()?,
                _ => return Err(Misplaced),
            }
            escaped = true;
        }
    }

    /// Goes over bytes that stand for themselves, to the next quote, backslash or control byte, or to the end.
    #[inline]
    fn skip_plain(&mut self) {
        for _ in 0..WORDS {
            let Some(word) = self.rest().first_chunk() else {
                let plain = self.rest().iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F));
                self.at += plain.unwrap_or_else(|| self.rest().len());
                return;
            };
            let special = special_bytes(u64::from_le_bytes(*word));
            if special != 0 {
                self.at += (special.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += word.len();
        }
        self.skip_long_plain();
    }

    fn skip_long_plain(&mut self) {
        let plain = memchr::memchr2(b'"', b'\\', self.rest()).unwrap_or_else(|| self.rest().len());
        let (span, _) = self.rest().split_at(plain);
        // A loop without an early exit is vectorised; the place of a control byte is sought only if there is one.
        let control = span.iter().fold(false, |bad, &byte| bad | (byte < 0x20));
        self.at += if control { span.iter().position(|&byte| byte < 0x20).unwrap_or(plain) } else { plain };
    }

    fn escape(&mut self) -> Result<(), Misplaced> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                let unit = self.hex()?;
                match unit {
                    0xD800..=0xDBFF => {
                        if !self.take(b'\\') || self.peek() != Some(b'u') {
                            return Err(Misplaced);
                        }
                        let low = self.hex()?;
                        if (0xDC00..=0xDFFF).contains(&low) { Ok(()) } else { Err(Misplaced) }
                    }
                    0xDC00..=0xDFFF => Err(Misplaced),
                    _ => Ok(()),
                }
            }
            _ => Err(Misplaced),
        }
    }

    /// The `u` of an escape and its four digits.
    fn hex(&mut self) -> Result<u32, Misplaced> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit * 16 + digit.ok_or(Misplaced)?;
            self.at += 1;
        }
        Ok(unit)
    }
}

/// A mark in each byte of the word that is a quote, a backslash or a control byte. Only the lowest mark is exact:
/// a borrow may leave false ones above it.
#[inline]
const fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES * 0x80;
    const fn below(word: u64, bound: u8) -> u64 {
        word.wrapping_sub(ONES * bound as u64) & !word
    }
    let quote = below(word ^ (ONES * b'"' as u64), 1);
    let backslash = below(word ^ (ONES * b'\\' as u64), 1);
    (below(word, 0x20) | quote | backslash) & HIGH
}
