//! The lines of documentation that name rows, and where they stand.

use super::lexer::DocLine;

/// A line, or the start of a paragraph, that names rows.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Statement {
    /// The line it starts on, from 1.
    pub(super) line: usize,
    /// The rows, or what stands there instead of a list of them.
    pub(super) rows: Result<Vec<String>, String>,
}

/// The statements in the prose of a doc comment: outside its code blocks.
pub(super) fn in_prose(docs: &[DocLine<'_>]) -> Vec<Statement> {
    blocks(docs)
        .into_iter()
        .filter(|block| block.info.is_none())
        .flat_map(|block| prose(block.lines))
        .collect()
}

/// The statements that belong to a doc test that must not compile: inside its code block as comments, and in the
/// paragraph right above it.
pub(super) fn of_compile_fail(docs: &[DocLine<'_>]) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut above: &[DocLine<'_>] = &[];
    for block in blocks(docs) {
        match block.info {
            None => above = last_paragraph(block.lines),
            Some(info) => {
                if must_not_compile(info) {
                    found.extend(prose(above));
                    found.extend(block.lines.iter().filter_map(code_comment));
                }
                above = &[];
            }
        }
    }
    found
}

/// Prose, or a code block with what its fence says.
struct Block<'d, 'a> {
    info: Option<&'a str>,
    lines: &'d [DocLine<'a>],
}

fn blocks<'d, 'a>(docs: &'d [DocLine<'a>]) -> Vec<Block<'d, 'a>> {
    let mut blocks = Vec::new();
    let mut start = 0;
    let mut open: Option<(&str, &str)> = None;
    for (index, doc) in docs.iter().enumerate() {
        let text = doc.text.trim();
        let Some(fence) = fence(text) else { continue };
        match open {
            None => {
                blocks.push(Block { info: None, lines: &docs[start..index] });
                open = Some((fence, text[fence.len()..].trim()));
            }
            // A fence is closed by one at least as long, with nothing behind it.
            Some((opening, info)) if fence.starts_with(opening) && fence.len() == text.len() => {
                blocks.push(Block { info: Some(info), lines: &docs[start..index] });
                open = None;
            }
            Some(_) => continue,
        }
        start = index + 1;
    }
    blocks.push(Block { info: open.map(|(_, info)| info), lines: &docs[start..] });
    blocks
}

/// The run of three or more backticks or tildes that a line starts with.
fn fence(text: &str) -> Option<&str> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.find(|c| c != mark).unwrap_or(text.len());
    (length >= 3).then(|| &text[..length])
}

fn must_not_compile(info: &str) -> bool {
    let mut words = info.split([',', ' ']);
    words.clone().any(|word| word == "compile_fail") && words.all(|word| !word.starts_with("ignore"))
}

/// The lines after the last blank one, blank lines at the end left out.
fn last_paragraph<'d, 'a>(lines: &'d [DocLine<'a>]) -> &'d [DocLine<'a>] {
    let blank = |doc: &DocLine<'_>| doc.text.trim().is_empty();
    let end = lines.iter().rposition(|doc| !blank(doc)).map_or(0, |last| last + 1);
    let start = lines[..end].iter().rposition(blank).map_or(0, |last| last + 1);
    &lines[start..end]
}

/// A statement in a comment of code, also of a line that rustdoc hides.
fn code_comment(doc: &DocLine<'_>) -> Option<Statement> {
    let text = doc.text.trim();
    let text = text.strip_prefix("# ").unwrap_or(text).trim_start();
    let comment = text.strip_prefix("//")?.trim_start_matches('/');
    read(doc.line, comment, &[])
}

fn prose(lines: &[DocLine<'_>]) -> Vec<Statement> {
    let mut found = Vec::new();
    for (index, doc) in lines.iter().enumerate() {
        found.extend(read(doc.line, doc.text, &lines[index + 1..]));
    }
    found
}

/// Reads the statement that starts with `text`, if one does; it may go on over the lines of its paragraph.
fn read(line: usize, text: &str, following: &[DocLine<'_>]) -> Option<Statement> {
    let ids = begin(text)?;
    let mut list = ids.to_owned();
    for next in following {
        let ended = list.contains(['.', ':']);
        if ended || next.text.trim().is_empty() || begin(next.text).is_some() {
            break;
        }
        list.push(' ');
        list.push_str(next.text.trim());
    }
    let list = list.split(['.', ':']).next().unwrap_or_default();
    let rows: Option<Vec<_>> = list.replace(" and ", ", ").split(',').map(|id| row_id(id.trim())).collect();
    Some(Statement { line, rows: rows.ok_or_else(|| text.trim().to_owned()) })
}

/// What follows `Row` or `Rows` at the start of a line, if that looks like an id.
fn begin(text: &str) -> Option<&str> {
    let text = text.trim();
    let ids = text.strip_prefix("Row ").or_else(|| text.strip_prefix("Rows "))?.trim_start();
    let (family, rest) = ids.split_once('-')?;
    let is_family = !family.is_empty() && family.bytes().all(|byte| byte.is_ascii_uppercase());
    (is_family && rest.starts_with(|c: char| c.is_ascii_uppercase())).then_some(ids)
}

/// Checks an id: policy, section, number.
fn row_id(id: &str) -> Option<String> {
    let mut parts = id.split('-');
    let letters = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_uppercase());
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let whole = parts.next().is_some_and(letters)
        && parts.next().is_some_and(letters)
        && parts.next().is_some_and(digits)
        && parts.next().is_none();
    whole.then(|| id.to_owned())
}
