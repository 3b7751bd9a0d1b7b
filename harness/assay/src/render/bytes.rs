//! Bytes as text that any terminal may print, with cuts and marks in their places.

use crate::source::escape;
use crate::timeline::Mark;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

/// The sign of a cut: a write ended here.
pub(crate) const CUT: char = '│';

/// Replies up to this many bytes are shown whole; of longer ones the start, the end, and what lies around cuts.
pub(super) const WHOLE: usize = 1200;

/// Columns of one row, without its offset.
const COLUMNS: usize = 88;

/// Renders bytes row by row, each with its offset: text where they are UTF-8, `\xNN` where not, a `│` where a write
/// ended, and below a row `^ name` where a mark stands. Long input is shortened and says by how much.
///
/// ```
/// use mcp_assay::render::annotated;
/// use mcp_assay::timeline::Mark;
///
/// let marks = [Mark { name: "terminal".to_owned(), at: 6 }];
/// assert_eq!(annotated(b"data: \xe9\x9b\xaa\n", &marks, &[7]), "0000  data: \\xe9│\\x9b\\xaa\\n\n            ^ terminal\n");
/// ```
#[must_use]
pub fn annotated(bytes: &[u8], marks: &[Mark], cuts: &[usize]) -> String {
    annotated_up_to(WHOLE, bytes, marks, cuts)
}

/// As [`annotated`], with input of up to `whole` bytes shown whole.
pub(super) fn annotated_up_to(whole: usize, bytes: &[u8], marks: &[Mark], cuts: &[usize]) -> String {
    let drawn: BTreeSet<usize> = cuts.iter().copied().collect();
    let parts = windows(whole, bytes, marks, cuts).into_iter();
    let rows: Vec<Row> = parts.flat_map(|part| rows(bytes, part, marks, &drawn)).collect();
    joined(rows.iter(), bytes.len())
}

/// Rows as text, with a line for each gap between them and at either end.
pub(super) fn joined<'a>(rows: impl Iterator<Item = &'a Row>, len: usize) -> String {
    let mut out = String::new();
    let mut shown_to = 0;
    let gap = |from: usize, to: usize, out: &mut String| {
        if to > from {
            let _ = writeln!(out, "      … {} bytes …", to - from);
        }
    };
    for row in rows {
        gap(shown_to, row.at, &mut out);
        for line in &row.lines {
            out.push_str(line);
            out.push('\n');
        }
        shown_to = row.end;
    }
    gap(shown_to, len, &mut out);
    out
}

/// The parts shown, ascending and apart from each other: one, of everything, if there are no more than `whole` bytes.
fn windows(whole: usize, bytes: &[u8], marks: &[Mark], cuts: &[usize]) -> Vec<Range<usize>> {
    let len = bytes.len();
    let mut parts: Vec<Range<usize>> = Vec::new();
    if len <= whole {
        parts.push(0..len);
        return parts;
    }
    let terminal = marks.iter().filter(|mark| mark.name == "terminal").map(|mark| mark.at);
    let mut places: Vec<usize> =
        cuts.iter().copied().take(3).chain(cuts.last().copied()).chain(terminal).collect();
    places.sort_unstable();
    let around = places.into_iter().map(|at| at.saturating_sub(120)..at.saturating_add(120).min(len));
    for part in std::iter::once(0..300).chain(around).chain(std::iter::once(len - 160..len)) {
        let (start, end) = (on_boundary(bytes, part.start.min(len)), on_boundary(bytes, part.end.min(len)));
        match parts.last_mut() {
            // A gap of a few bytes is not worth a row that says so.
            Some(last) if start <= last.end + 16 => last.end = last.end.max(end),
            _ => parts.push(start..end),
        }
    }
    parts
}

/// The start of the UTF-8 sequence that goes on at `at`.
pub(super) fn on_boundary(bytes: &[u8], at: usize) -> usize {
    let goes_on = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|at| !goes_on(*at)).unwrap_or(at)
}

/// One thing shown: a character, or a byte that is none.
struct Cell {
    at: usize,
    text: String,
    width: usize,
    ends_row: bool,
}

/// One row as shown, with the marks below it.
pub(super) struct Row {
    /// Where it begins.
    pub(super) at: usize,
    /// Where it ends: the next row begins here, if none is left out.
    pub(super) end: usize,
    /// Its lines.
    pub(super) lines: Vec<String>,
}

/// The rows of a part of the bytes.
pub(super) fn rows(bytes: &[u8], part: Range<usize>, marks: &[Mark], cuts: &BTreeSet<usize>) -> Vec<Row> {
    let end = part.end;
    let breaks: BTreeSet<usize> =
        cuts.iter().copied().chain(marks.iter().map(|mark| mark.at)).filter(|at| part.contains(at)).collect();
    let mut rows = Vec::new();
    let mut row = Growing::default();
    let mut start = part.start;
    for stop in breaks.into_iter().chain(std::iter::once(end)) {
        for cell in cells(bytes.get(start..stop).unwrap_or_default(), start, bytes) {
            if row.width + cell.width > COLUMNS {
                rows.extend(row.finish(cell.at, marks));
            }
            let ends_row = cell.ends_row;
            let next = cell.at + 1;
            row.push(&cell, cuts);
            if ends_row {
                rows.extend(row.finish(next, marks));
            }
        }
        start = stop;
    }
    // A mark at the very end stands behind the last byte.
    if end == bytes.len()
        && marks.iter().any(|mark| mark.at == end)
        && row.cells.is_empty()
        && row.at != Some(end)
    {
        row.at = Some(end);
    }
    rows.extend(row.finish(end.saturating_add(usize::from(end == bytes.len())), marks));
    if let Some(last) = rows.last_mut() {
        last.end = last.end.min(bytes.len());
    }
    rows
}

/// A row under construction.
#[derive(Default)]
struct Growing {
    at: Option<usize>,
    text: String,
    width: usize,
    /// Offset and column of each cell.
    cells: Vec<(usize, usize)>,
}

impl Growing {
    fn push(&mut self, cell: &Cell, cuts: &BTreeSet<usize>) {
        self.at.get_or_insert(cell.at);
        if cuts.contains(&cell.at) && cell.at > 0 {
            self.text.push(CUT);
            self.width += 1;
        }
        self.cells.push((cell.at, self.width));
        self.text.push_str(&cell.text);
        self.width += cell.width;
    }

    /// Gives the row with the marks before offset `next`, and starts another.
    fn finish(&mut self, next: usize, marks: &[Mark]) -> Option<Row> {
        let at = self.at?;
        // A space at the end would not be seen.
        let text = match self.text.strip_suffix(' ') {
            Some(text) => format!("{text}\\x20"),
            None => std::mem::take(&mut self.text),
        };
        let indent = format!("{at:04}  ").len();
        let mut below: Vec<String> = Vec::new();
        for mark in marks.iter().filter(|mark| (at..next).contains(&mark.at)) {
            let column = self
                .cells
                .iter()
                .find(|(cell, _)| *cell >= mark.at)
                .map_or(self.width, |(_, column)| *column);
            let column = indent + column;
            let label = format!("^ {}", escape(&mark.name));
            let taken = |line: &String| line.chars().count();
            match below.iter_mut().find(|line| taken(line) < column) {
                Some(line) => {
                    let pad = column - taken(line);
                    line.extend(std::iter::repeat_n(' ', pad));
                    line.push_str(&label);
                }
                None => below.push(format!("{}{label}", " ".repeat(column))),
            }
        }
        let mut lines = vec![format!("{at:04}  {text}").trim_end().to_owned()];
        lines.extend(below);
        *self = Self::default();
        Some(Row { at, end: next, lines })
    }
}

/// The cells of a part between two cuts or marks; `whole` tells whether a CR is part of a CR LF.
fn cells(part: &[u8], offset: usize, whole: &[u8]) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(part.len());
    let mut at = offset;
    for chunk in part.utf8_chunks() {
        for c in chunk.valid().chars() {
            let ends_row = c == '\n' || (c == '\r' && whole.get(at + 1) != Some(&b'\n'));
            let (text, width) = shown(c);
            cells.push(Cell { at, text, width, ends_row });
            at += c.len_utf8();
        }
        for byte in chunk.invalid() {
            cells.push(Cell { at, text: format!("\\x{byte:02x}"), width: 4, ends_row: false });
            at += 1;
        }
    }
    cells
}

/// A character as shown, and how many columns that takes. Backslashes and the sign of a cut are escaped, so that
/// nothing shown can be taken for something else; so is what would join the character before.
fn shown(c: char) -> (String, usize) {
    let text = match c {
        '\\' => "\\\\".to_owned(),
        CUT => "\\u{2502}".to_owned(),
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe2f}' => format!("\\u{{{:x}}}", u32::from(c)),
        c => match escape(c.encode_utf8(&mut [0; 4])) {
            // `\xNN` beyond ASCII is a byte that is no text.
            Cow::Owned(_) if !c.is_ascii() => format!("\\u{{{:x}}}", u32::from(c)),
            text => text.into_owned(),
        },
    };
    let width = text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum();
    (text, width)
}

/// Whether terminals show the character two columns wide, as far as carets need to know.
fn is_wide(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}
