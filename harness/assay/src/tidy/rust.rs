//! Rules for Rust beyond clippy's: no macro that stands for missing work anywhere, no panic in the client.

use super::files::File;
use super::problem;
use crate::coverage::lexer::{Token, placed_tokens};
use crate::receipt::Problem;

/// Macros that stand for work to be done, or for a look inside.
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Macros that end the caller's program.
const PANICS: [&str; 3] = ["panic", "unreachable", "unimplemented"];

/// Where no input of anybody may lead to a panic.
const NEVER_PANICS: &str = "harness/client/src/";

pub(super) fn check(file: &File, broken: &mut Vec<Problem>) {
    if file.ending() != "rs" {
        return;
    }
    let never = file.path.starts_with(NEVER_PANICS) && !is_test_file(&file.path);
    let tokens: Vec<(usize, Token<'_>)> = placed_tokens(&file.text).collect();
    let mut at = 0;
    while at < tokens.len() {
        let rest = tokens.get(at..).unwrap_or_default();
        if never && is_test_attribute(rest) {
            at += 7 + item(rest.get(7..).unwrap_or_default());
            continue;
        }
        match rest {
            [(line, Token::Word(name)), (_, Token::Punct('!')), (_, Token::Punct('(' | '[' | '{')), ..]
                if UNFINISHED.contains(name) =>
            {
                let seen = format!("{name}!");
                broken.push(problem(&file.path, Some(*line), "finished work", &seen, "finish it"));
            }
            [(line, Token::Word(name)), (_, Token::Punct('!')), (_, Token::Punct('(' | '[' | '{')), ..]
                if never && PANICS.contains(name) =>
            {
                panics(file, *line, &format!("{name}!"), broken);
            }
            [
                (_, Token::Punct('.')),
                (line, Token::Word(name @ ("unwrap" | "expect"))),
                (_, Token::Punct('(')),
                ..,
            ] if never => {
                panics(file, *line, &format!(".{name}()"), broken);
            }
            _ => {}
        }
        at += 1;
    }
}

fn panics(file: &File, line: usize, seen: &str, broken: &mut Vec<Problem>) {
    let remedy = "return an error, or write it so that the types show it cannot happen";
    broken.push(problem(&file.path, Some(line), "a client that cannot panic", seen, remedy));
}

/// Files that the sources only name under `#[cfg(test)]`.
fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// `#[cfg(test)]`, seven tokens.
fn is_test_attribute(tokens: &[(usize, Token<'_>)]) -> bool {
    let expected = [
        Token::Punct('#'),
        Token::Punct('['),
        Token::Word("cfg"),
        Token::Punct('('),
        Token::Word("test"),
        Token::Punct(')'),
        Token::Punct(']'),
    ];
    tokens.len() >= expected.len() && tokens.iter().zip(expected).all(|((_, token), wanted)| *token == wanted)
}

/// How many tokens the item takes that begins here: to its closing brace, or to its semicolon.
fn item(tokens: &[(usize, Token<'_>)]) -> usize {
    let mut depth = 0_usize;
    for (at, (_, token)) in tokens.iter().enumerate() {
        match token {
            Token::Punct('{' | '(' | '[') => depth += 1,
            Token::Punct(c @ ('}' | ')' | ']')) => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *c == '}' {
                    return at + 1;
                }
            }
            Token::Punct(';') if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}
