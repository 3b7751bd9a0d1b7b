//! What a report shows of a file: the marked line with its neighbours, each cut where it is long, so that a file without
//! line breaks fills no screen.

use super::{escape, escape_lines};
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::ops::Range;
use std::path::Path;

/// The longest line that is shown whole, in characters.
const LINE: usize = 240;

/// Characters shown before and after the marked place of a longer line.
const AROUND: usize = 90;

/// What stands where a line was cut.
const CUT: &str = "…";

/// Up to three lines, escaped, that know where in the file they stand.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Excerpt {
    /// The file's name, escaped.
    name: String,
    text: String,
    /// The number of the first line, from 0.
    first: usize,
    /// The marked place's column in the file, in characters from 0.
    column: usize,
    /// The marked place in `text`.
    pub(super) marked: Range<usize>,
}

impl Excerpt {
    /// The excerpt around a span that lies on one line, and on borders of characters. `line` and `column` count from 0.
    pub(super) fn new(path: &Path, text: &str, span: &Range<usize>, line: usize, column: usize) -> Self {
        let name = escape(&path.to_string_lossy()).into_owned();
        let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[span.end..].find('\n').map_or(text.len(), |length| span.end + length);
        let mut shown = String::new();
        if let Some(before) = text[..start].strip_suffix('\n') {
            let before = before.rsplit('\n').next().unwrap_or_default();
            shown.push_str(&neighbour(before));
            shown.push('\n');
        }
        let at = part(&text[start..end], span.start - start..span.end - start);
        shown.push_str(if at.start > 0 { CUT } else { "" });
        shown.push_str(&escape_lines(&text[start + at.start..span.start]));
        let marked_start = shown.len();
        // A mark that is longer than what is shown ends with it.
        let marked_end = span.end.min(start + at.end);
        shown.push_str(&escape_lines(&text[span.start..marked_end]));
        let marked = marked_start..shown.len();
        let rest = &text[marked_end..start + at.end];
        if start + at.end < end {
            shown.push_str(&escape_lines(rest));
            shown.push_str(CUT);
        } else {
            shown.push_str(&escape_lines(without_cr(rest)));
        }
        if let Some(after) = text.get(end + 1..) {
            // The line break counts: a mark at the end of the line stands on it.
            shown.push('\n');
            let (next, more) = after.split_once('\n').map_or((after, ""), |(next, _)| (next, "\n"));
            shown.push_str(&neighbour(next));
            shown.push_str(more);
        }
        Self { name, text: shown, first: line - usize::from(start > 0), column, marked }
    }
}

/// A line without the CR of its end.
fn without_cr(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// A neighbour of the marked line: its beginning, if it is long.
fn neighbour(line: &str) -> String {
    let line = without_cr(line);
    match line.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}{CUT}", escape_lines(&line[..at])),
        None => escape_lines(line).into_owned(),
    }
}

/// The part of a line that is shown: all of it, if it is not long.
fn part(line: &str, marked: Range<usize>) -> Range<usize> {
    if line.char_indices().nth(LINE).is_none() {
        return 0..line.len();
    }
    let start = line[..marked.start].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let after = &line[marked.start..];
    let end = after.char_indices().nth(AROUND).map_or(line.len(), |(at, _)| marked.start + at);
    start..end
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.text.read_span(span, before, after)?;
        // Where the report asks for the place itself, it names the column: that of the file.
        let column = if before == 0 && after == 0 { self.column } else { found.column() };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            found.data(),
            *found.span(),
            self.first + found.line(),
            column,
            found.line_count(),
        )))
    }
}
