//! Rules for documentation: every command it shows is one.

use super::files::File;
use super::{Commands, problem};
use crate::receipt::Problem;

/// How commands begin.
const PROGRAMS: [&str; 2] = ["cargo xtask ", "mcp-assay "];

pub(super) fn check(file: &File, commands: Commands<'_>, broken: &mut Vec<Problem>) {
    if file.ending() != "md" {
        return;
    }
    let mut fenced = false;
    for (line, text) in (1..).zip(file.text.lines()) {
        if text.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let found: Vec<Vec<String>> = if fenced {
            let prompt = text.trim_start();
            let prompt = prompt.strip_prefix("$ ").unwrap_or(prompt);
            whole(prompt).into_iter().collect()
        } else {
            // Outside of a block a command may be abbreviated, so only its name counts.
            text.split('`').skip(1).step_by(2).filter_map(name).collect()
        };
        for words in found {
            if let Err(seen) = commands(&words) {
                let expected = "a command that exists";
                broken.push(problem(&file.path, Some(line), expected, &seen, "correct the documentation"));
            }
        }
    }
}

/// The words of a command line as a shell splits them, without program and comment.
fn whole(text: &str) -> Option<Vec<String>> {
    let rest = PROGRAMS.iter().find_map(|program| text.strip_prefix(program))?;
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in rest.chars().chain([' ']) {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => quote = Some(c),
            ('#', None) if word.is_empty() => break,
            (' ', None) => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => word.push(c),
        }
    }
    Some(words)
}

/// The name of an abbreviated command, asked for its help.
fn name(code: &str) -> Option<Vec<String>> {
    let rest = PROGRAMS.iter().find_map(|program| code.strip_prefix(program))?;
    let name = rest.split_whitespace().next()?;
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    plain.then(|| vec![name.to_owned(), "--help".to_owned()])
}
