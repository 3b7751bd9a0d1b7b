//! Finding the tests and doc tests that name rows.

use std::fs;
use std::io;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use super::lexer::{DocLine, Token, tokens};
use super::statement::{self, Statement};
use super::{Cover, Problem, ScanError};
use crate::source::bounded_text;

/// What the sources say.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Found {
    /// A row and what covers it, in the order of files and lines.
    pub(super) covers: Vec<(String, Cover)>,
    /// Lists of rows that cannot be read.
    pub(super) problems: Vec<Problem>,
}

/// Searches every `*.rs` file below a folder.
pub(super) fn folder(root: &Path) -> Result<Found, ScanError> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut found = Found::default();
    for path in files {
        let text = bounded_text(&path).map_err(|source| ScanError { path: path.clone(), source })?;
        let shown: Vec<_> =
            path.strip_prefix(root).unwrap_or(&path).iter().map(|part| part.to_string_lossy()).collect();
        file(&shown.join("/"), &text, &mut found);
    }
    Ok(found)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), ScanError> {
    let error = |source: io::Error| ScanError { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Links are not followed: they lead out of the project, or round in it.
        let kind = entry.file_type().map_err(error)?;
        if kind.is_dir()
            && !name.starts_with('.')
            && !matches!(&*name, "target" | "fixtures" | "node_modules")
        {
            collect(&entry.path(), files)?;
        } else if kind.is_file() && name.ends_with(".rs") {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Searches one file, shown under the given name.
pub(super) fn file(shown: &str, text: &str, found: &mut Found) {
    let mut scan = Scan { file: shown, tokens: tokens(text).peekable(), found };
    while scan.item().is_some() {}
}

/// Whether rustdoc runs the doc tests of a file: not those of tests and binaries.
fn runs_doc_tests(file: &str) -> bool {
    let mut parts = file.split('/');
    let name = parts.next_back().unwrap_or_default();
    !matches!(name, "main.rs" | "tests.rs" | "build.rs")
        && parts.all(|part| !matches!(part, "tests" | "benches" | "bin"))
}

struct Scan<'f, 'a, I: Iterator<Item = Token<'a>>> {
    file: &'f str,
    tokens: Peekable<I>,
    found: &'f mut Found,
}

/// What attributes say about a function.
#[derive(Clone, Copy, Default)]
struct Attributes {
    test: bool,
    ignore: bool,
}

impl<'a, I: Iterator<Item = Token<'a>>> Scan<'_, 'a, I> {
    /// Reads one token, or documentation and attributes with the item they belong to.
    fn item(&mut self) -> Option<()> {
        let inner = self.docs(|token| match token {
            Token::InnerDoc(doc) => Some(*doc),
            _ => None,
        });
        if !inner.is_empty() {
            self.types(&inner, || "module".to_owned());
            return Some(());
        }
        let mut docs = Vec::new();
        let mut attributes = Attributes::default();
        loop {
            docs.extend(self.docs(|token| match token {
                Token::OuterDoc(doc) => Some(*doc),
                _ => None,
            }));
            if self.tokens.next_if_eq(&Token::Punct('#')).is_none() {
                break;
            }
            let outer = self.tokens.next_if_eq(&Token::Punct('!')).is_none();
            if self.tokens.peek() == Some(&Token::Punct('[')) {
                let path = self.attribute();
                if outer {
                    attributes.test |= path.last() == Some(&"test");
                    attributes.ignore |= path == ["ignore"];
                }
            }
        }
        if docs.is_empty() {
            return self.tokens.next().map(drop);
        }
        let (function, name) = self.name();
        if function && attributes.test && !attributes.ignore {
            let file = self.file;
            let cover = || Cover::Test { file: file.to_owned(), function: name.clone() };
            self.take(statement::in_prose(&docs), cover);
        }
        self.types(&docs, || name.clone());
        Some(())
    }

    fn docs(&mut self, line: impl Fn(&Token<'a>) -> Option<DocLine<'a>>) -> Vec<DocLine<'a>> {
        let mut docs = Vec::new();
        while let Some(doc) = self.tokens.peek().and_then(&line) {
            self.tokens.next();
            docs.push(doc);
        }
        docs
    }

    /// Reads `[path…]` to its end and gives the path: `test`, `tokio` `test`.
    fn attribute(&mut self) -> Vec<&'a str> {
        let mut path = Vec::new();
        let mut in_path = true;
        let mut depth = 0_usize;
        for token in self.tokens.by_ref() {
            match token {
                Token::Punct('[') => depth += 1,
                Token::Punct(']') if depth == 1 => break,
                Token::Punct(']') => depth -= 1,
                Token::Word(word) if in_path => path.push(word),
                Token::Punct(':') => {}
                _ => in_path = false,
            }
        }
        path
    }

    /// Reads the head of an item: whether it is a function, and its name.
    fn name(&mut self) -> (bool, String) {
        while let Some(token) = self.tokens.next() {
            match token {
                Token::Word("pub" | "async" | "unsafe" | "extern" | "const" | "default" | "safe")
                | Token::Literal => {}
                // The scope of `pub(…)`.
                Token::Punct('(') => {
                    while self.tokens.next_if(|token| *token != Token::Punct(')')).is_some() {}
                }
                Token::Punct(')') => {}
                Token::Word(
                    keyword @ ("fn" | "struct" | "enum" | "union" | "trait" | "type" | "mod" | "static"),
                ) => {
                    let name = match self.tokens.peek() {
                        Some(Token::Word(name)) => (*name).to_owned(),
                        _ => keyword.to_owned(),
                    };
                    return (keyword == "fn", name);
                }
                // A field, a variant, a constant's name, or another keyword such as `impl`.
                Token::Word(word) => return (false, word.to_owned()),
                _ => break,
            }
        }
        (false, "item".to_owned())
    }

    fn types(&mut self, docs: &[DocLine<'_>], item: impl Fn() -> String) {
        if runs_doc_tests(self.file) {
            let file = self.file;
            let cover = || Cover::Type { file: file.to_owned(), item: item() };
            self.take(statement::of_compile_fail(docs), cover);
        }
    }

    fn take(&mut self, statements: Vec<Statement>, cover: impl Fn() -> Cover) {
        for Statement { line, rows } in statements {
            match rows {
                Ok(rows) => self.found.covers.extend(rows.into_iter().map(|row| (row, cover()))),
                Err(text) => {
                    self.found.problems.push(Problem::UnreadableRows {
                        file: self.file.to_owned(),
                        line,
                        text,
                    });
                }
            }
        }
    }
}
