//! Marks that bytes have by themselves.

use crate::timeline::Mark;
use std::collections::VecDeque;

/// How many marks of one kind are kept at each end.
const KEEP: usize = 128;

/// Marks every offset inside a multi-byte character and between CR and LF.
pub(crate) fn inside(bytes: &[u8], marks: &mut Vec<Mark>) {
    let mut utf8 = Ends::default();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_ascii() {
            for (offset, char) in chunk.valid().char_indices().filter(|(_, char)| !char.is_ascii()) {
                for inner in 1..char.len_utf8() {
                    utf8.push(at + offset + inner);
                }
            }
        }
        at += chunk.valid().len() + chunk.invalid().len();
    }
    let mut cr_lf = Ends::default();
    for cr in memchr::memmem::find_iter(bytes, b"\r\n") {
        cr_lf.push(cr + 1);
    }
    let mut add = |name: &str, ends: Ends| {
        marks.extend(ends.all().map(|at| Mark { name: name.to_owned(), at }));
    };
    add("inside-utf8", utf8);
    add("between-cr-lf", cr_lf);
}

/// Marks a chunk size line: its start, behind its digits, between its CR and LF, and its end.
pub(crate) fn size_line(start: usize, digits: usize, end: usize, marks: &mut Vec<Mark>) {
    for at in [start, start + digits, end - 1, end] {
        marks.push(Mark { name: "chunk-size-line".to_owned(), at });
    }
}

/// Sorts marks, drops doubles, and thins the size lines out.
pub(crate) fn tidy(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name)));
    marks.dedup();
    let lines = marks.iter().filter(|mark| mark.name == "chunk-size-line").count();
    let mut seen = 0;
    marks.retain(|mark| {
        if mark.name != "chunk-size-line" {
            return true;
        }
        seen += 1;
        seen <= KEEP || seen > lines - KEEP.min(lines)
    });
    marks
}

/// The first and the last offsets of a list that may be long.
#[derive(Default)]
struct Ends {
    first: Vec<usize>,
    last: VecDeque<usize>,
}

impl Ends {
    fn push(&mut self, at: usize) {
        if self.first.len() < KEEP {
            self.first.push(at);
        } else {
            if self.last.len() == KEEP {
                self.last.pop_front();
            }
            self.last.push_back(at);
        }
    }

    fn all(self) -> impl Iterator<Item = usize> {
        self.first.into_iter().chain(self.last)
    }
}
