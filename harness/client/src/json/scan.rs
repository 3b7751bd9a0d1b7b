//! The tokens of JSON: whitespace, strings, numbers, literals.

use std::ops::Range;

use crate::error::{Error, JsonrpcFault};

/// Strings are searched byte by byte so far, then with `memchr`, whose set-up costs more than a short string.
const SHORT: usize = 24;

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

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// Steps over the byte if it is the next one.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// The error "this byte cannot be here".
    pub(super) fn fault(&self) -> Error {
        Error::InvalidJsonrpc(JsonrpcFault::Syntax { offset: self.at })
    }

    /// Nothing but whitespace may follow.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        self.skip_whitespace();
        if self.at == self.text.len() { Ok(()) } else { Err(self.fault()) }
    }

    /// A string, number or literal.
    pub(super) fn scalar(&mut self) -> Result<(), Error> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            _ => Err(self.fault()),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Error> {
        for &byte in word {
            if !self.take(byte) {
                return Err(self.fault());
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Error> {
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
    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.fault()) } else { Ok(()) }
    }

    /// A string, from its opening quote on. Gives the place of its content, which may hold escapes.
    pub(super) fn string(&mut self) -> Result<Range<usize>, Error> {
        self.at += 1;
        let start = self.at;
        loop {
            self.skip_plain()?;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(start..self.at - 1);
                }
                Some(b'\\') => self.escape()?,
                _ => return Err(self.fault()),
            }
        }
    }

    /// Goes to the next quote or backslash, over bytes that stand for themselves.
    fn skip_plain(&mut self) -> Result<(), Error> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let near = rest.iter().take(SHORT).position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F));
        if let Some(plain) = near {
            self.at += plain;
            return Ok(());
        }
        let plain = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        let (span, _) = rest.split_at(plain);
        // A loop without an early exit is vectorised; the place of a bad byte is looked for only if there is one.
        if span.iter().fold(false, |bad, &byte| bad | (byte < 0x20)) {
            self.at += span.iter().position(|&byte| byte < 0x20).unwrap_or(plain);
            return Err(self.fault());
        }
        self.at += plain;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Error> {
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
                            return Err(self.fault());
                        }
                        let low = self.hex()?;
                        if (0xDC00..=0xDFFF).contains(&low) { Ok(()) } else { Err(self.fault()) }
                    }
                    0xDC00..=0xDFFF => Err(self.fault()),
                    _ => Ok(()),
                }
            }
            _ => Err(self.fault()),
        }
    }

    /// The `u` of an escape and its four digits.
    fn hex(&mut self) -> Result<u32, Error> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit * 16 + digit.ok_or_else(|| self.fault())?;
            self.at += 1;
        }
        Ok(unit)
    }
}
