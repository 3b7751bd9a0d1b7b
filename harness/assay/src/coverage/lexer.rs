//! Just enough of Rust's lexical grammar to tell documentation from strings, comments and code.

/// One token. White space, plain comments and block comments are none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Token<'a> {
    /// A line `/// text`, without the slashes.
    OuterDoc(DocLine<'a>),
    /// A line `//! text`, without the mark.
    InnerDoc(DocLine<'a>),
    /// An identifier or a keyword; of a raw identifier what follows `r#`.
    Word(&'a str),
    /// A literal or a lifetime.
    Literal,
    /// Any other character.
    Punct(char),
}

/// One line of documentation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct DocLine<'a> {
    /// The line's number, from 1.
    pub(crate) line: usize,
    /// What follows the comment mark.
    pub(crate) text: &'a str,
}

/// The tokens of a source text, whether it is valid Rust or not.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    placed_tokens(text).map(|(_, token)| token)
}

/// The tokens, each with the number of the line it ends on, from 1.
pub(crate) fn placed_tokens(text: &str) -> impl Iterator<Item = (usize, Token<'_>)> {
    let mut lexer = Lexer { rest: text, line: 1 };
    std::iter::from_fn(move || {
        let token = lexer.next()?;
        Some((lexer.line, token))
    })
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let first = self.rest.chars().next()?;
            if first.is_whitespace() {
                self.take(first.len_utf8());
            } else if self.rest.starts_with("//") {
                if let Some(doc) = self.line_comment() {
                    return Some(doc);
                }
            } else if self.rest.starts_with("/*") {
                self.block_comment();
            } else if first == '"' {
                self.string();
                return Some(Token::Literal);
            } else if first == '\'' {
                self.quote();
                return Some(Token::Literal);
            } else if first.is_ascii_digit() {
                self.take_while(is_word);
                return Some(Token::Literal);
            } else if is_word(first) {
                return Some(self.word());
            } else {
                self.take(first.len_utf8());
                return Some(Token::Punct(first));
            }
        }
    }

    /// Moves on by `length` bytes, which end on a character's border.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(|c| !holds(c)).unwrap_or(self.rest.len());
        self.take(length)
    }

    /// Moves past the first `end`, or to the end of the text.
    fn take_past(&mut self, end: &str) {
        let length = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.take(length);
    }

    fn line_comment(&mut self) -> Option<Token<'a>> {
        let line = self.line;
        let comment = self.take_while(|c| c != '\n');
        if let Some(text) = comment.strip_prefix("//!") {
            return Some(Token::InnerDoc(DocLine { line, text }));
        }
        let text = comment.strip_prefix("///")?;
        // Four slashes are a ruler, not documentation.
        (!text.starts_with('/')).then_some(Token::OuterDoc(DocLine { line, text }))
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            let Some(at) = self.rest.find(['/', '*']) else {
                self.take(self.rest.len());
                return;
            };
            self.take(at);
            if self.rest.starts_with("/*") {
                depth += 1;
                self.take(2);
            } else if self.rest.starts_with("*/") {
                self.take(2);
                depth -= 1;
                if depth == 0 {
                    return;
                }
            } else {
                self.take(1);
            }
        }
    }

    /// A string that knows escapes; the rest starts with its quote.
    fn string(&mut self) {
        let mut escaped = true; // The opening quote ends nothing.
        let end = self.rest.char_indices().find(|&(_, c)| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        self.take(end.map_or(self.rest.len(), |(at, _)| at + 1));
    }

    /// A raw string, if one starts here: hashes, a quote, anything, a quote and as many hashes.
    fn raw_string(&mut self) -> bool {
        let hashes = self.rest.bytes().take_while(|&byte| byte == b'#').count();
        if !self.rest[hashes..].starts_with('"') {
            return false;
        }
        self.take(hashes + 1);
        self.take_past(&format!("\"{}", "#".repeat(hashes)));
        true
    }

    /// A character or a lifetime; the rest starts with the quote.
    fn quote(&mut self) {
        self.take(1);
        let mut chars = self.rest.chars();
        match (chars.next(), chars.next()) {
            (Some('\\'), Some(escaped)) => {
                self.take(1 + escaped.len_utf8());
                self.take_past("'");
            }
            (Some(c), Some('\'')) => drop(self.take(c.len_utf8() + 1)),
            _ => drop(self.take_while(is_word)),
        }
    }

    fn word(&mut self) -> Token<'a> {
        let word = self.take_while(is_word);
        match word {
            "r" | "br" | "cr" if self.raw_string() => Token::Literal,
            "r" if self.rest.starts_with('#') => {
                self.take(1);
                Token::Word(self.take_while(is_word))
            }
            "b" | "c" if self.rest.starts_with('"') => {
                self.string();
                Token::Literal
            }
            _ => Token::Word(word),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(text: &str) -> Vec<(usize, &str)> {
        tokens(text)
            .filter_map(|token| match token {
                Token::OuterDoc(doc) | Token::InnerDoc(doc) => Some((doc.line, doc.text)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn documentation_in_strings_and_comments_is_none() {
        let text = "let a = \"\n/// no \\\"\n/// no\";\nlet b = r#\"\n/// \"no\n\"#;\n/* /* \n/// no */\n/// no\n*/\n\
                    //// no\n// /// no\nlet c = br##\"\n/// no\"# \"##; let d = c\"\n/// no\";\n/// yes\n//! also";
        assert_eq!(docs(text), [(16, " yes"), (17, " also")]);
    }

    #[test]
    fn quotes_of_characters_and_lifetimes_open_no_string() {
        for text in [
            "'\"'",
            "'\\''",
            "'\\\"'",
            "b'\"'",
            "'\\u{22}'",
            "<'a>",
            "&'static str",
            "'雪'",
            "r#type",
            "0b1_u8",
        ] {
            let text = format!("{text}\n/// yes");
            assert_eq!(docs(&text), [(2, " yes")], "{text}");
        }
    }

    #[test]
    fn unfinished_text_ends() {
        for text in ["\"a", "r#\"a\"", "/* /* */", "'", "'\\", "r#", "\"\\", "//", "b\"", "/*/", "é'", "#"] {
            assert!(tokens(text).count() <= 2, "{text}");
        }
    }
}
