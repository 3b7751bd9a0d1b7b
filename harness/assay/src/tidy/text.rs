//! Rules for every line of text: no trace of a merge or of a machine, nothing left for later, clean white space.

use super::files::File;
use super::problem;
use crate::receipt::Problem;

/// The most lines of a Rust file.
pub(super) const MOST_LINES: usize = 450;

/// Words for work left for later; written apart, so that this file does not break its own rule.
const LATER: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// Folders that only exist on somebody's machine; the same.
const MACHINE: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

/// Where this project was planned, which its readers do not have.
const ELSEWHERE: &str = concat!("../sha", "red/");

pub(super) fn check(file: &File, broken: &mut Vec<Problem>) {
    let ending = file.ending();
    let spaced = matches!(ending, "rs" | "toml" | "md");
    let source = spaced || matches!(ending, "py" | "mjs" | "js" | "ts" | "sh" | "run" | "yml" | "yaml");
    let mut add = |line: usize, expected: &str, seen: &str, remedy: &str| {
        broken.push(problem(&file.path, Some(line), expected, seen, remedy));
    };
    for (line, text) in (1..).zip(file.text.split('\n')) {
        if is_merge_marker(text) {
            add(line, "no trace of a merge", text, "resolve it");
        }
        if let Some(path) = machine_path(text) {
            add(line, "no path of a machine", path, "name it relative to the project");
        }
        if !source {
            continue;
        }
        if let Some(word) = LATER.into_iter().find(|word| has_word(text, word)) {
            add(line, "nothing left for later", word, "do it now, or open an issue");
        }
        if text.ends_with('\r') {
            add(line, "LF line ends", "CR LF", "save the file with LF line ends");
        } else if spaced && text.ends_with([' ', '\t']) {
            add(line, "no white space at the end", "some", "delete it");
        }
        if spaced && text.contains('\t') {
            add(line, "spaces", "a tab", "write spaces, or \\t inside a literal");
        }
    }
    let lines = file.text.lines().count();
    if source && !file.text.is_empty() && !file.text.ends_with('\n') {
        add(lines, "a line break at the end", "none", "add one");
    }
    if ending == "rs" && lines > MOST_LINES {
        let expected = format!("at most {MOST_LINES} lines");
        add(MOST_LINES + 1, &expected, &lines.to_string(), "split the file: one idea each");
    }
}

fn is_merge_marker(line: &str) -> bool {
    let marks = |sign: char| {
        let rest = line.trim_start_matches(sign);
        line.len() - rest.len() == 7 && rest.starts_with(' ')
    };
    marks('<') || marks('>')
}

/// The absolute path in a line that only one machine has.
fn machine_path(line: &str) -> Option<&str> {
    if line.contains(ELSEWHERE) {
        return Some(ELSEWHERE);
    }
    let starts_path = |at: usize| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| !(c.is_alphanumeric() || "._-/~})]>$*".contains(c)))
    };
    let mut found = MACHINE.into_iter().flat_map(|folder| line.match_indices(folder));
    found.find(|(at, _)| starts_path(*at)).map(|(_, folder)| folder)
}

/// Whether the word stands in the line with nothing of a word around it.
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}
