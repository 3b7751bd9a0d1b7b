//! The part of a reply that a person wants to see: its first line, and some rows around a place.

use super::bytes::{Row, joined, on_boundary, rows};
use crate::timeline::Mark;
use std::collections::BTreeSet;
use std::ops::Range;

/// More marks of chunk sizes than this are left out: rows show the sizes, and nothing else could be seen.
const CHUNK_MARKS: usize = 6;

/// So few rows are not left out.
const SMALL_GAP: usize = 2;

/// How far from a place a row may be, in bytes, however short rows are.
const NEAR: usize = 2_000;

/// Like [`annotated`](super::annotated), cut down to the first row and the rows around `places`, in some `most` lines.
pub(super) fn window(bytes: &[u8], marks: &[Mark], cuts: &[usize], places: &[usize], most: usize) -> String {
    let cuts: BTreeSet<usize> = cuts.iter().copied().collect();
    let is_chunk = |mark: &&Mark| mark.name == "chunk-size-line";
    let many = marks.iter().filter(is_chunk).count() > CHUNK_MARKS;
    let marks: Vec<Mark> = marks.iter().filter(|mark| !(many && is_chunk(mark))).cloned().collect();
    let all: Vec<Row> =
        near(bytes, places).into_iter().flat_map(|part| rows(bytes, part, &marks, &cuts)).collect();
    let lines: usize = all.iter().map(|row| row.lines.len()).sum();
    let each = if lines <= most { most } else { most / places.len().max(1) };
    let mut kept: BTreeSet<usize> = BTreeSet::from([0]);
    for place in places {
        kept.extend(around(&all, *place, each));
    }
    without_small_gaps(&mut kept);
    joined(kept.into_iter().filter_map(|row| all.get(row)), bytes.len())
}

/// Keeps rows too that are so few between two others that a line in their place would save nothing.
fn without_small_gaps(kept: &mut BTreeSet<usize>) {
    let rows: Vec<usize> = kept.iter().copied().collect();
    for (before, after) in rows.iter().zip(rows.iter().skip(1)) {
        if after - before <= SMALL_GAP + 1 {
            kept.extend(before + 1..*after);
        }
    }
}

/// The parts of the bytes that may be shown, ascending and apart from each other.
fn near(bytes: &[u8], places: &[usize]) -> Vec<Range<usize>> {
    let mut wanted: Vec<Range<usize>> =
        places.iter().map(|at| at.saturating_sub(NEAR)..at.saturating_add(NEAR)).collect();
    wanted.push(0..NEAR);
    wanted.sort_by_key(|part| part.start);
    let mut parts: Vec<Range<usize>> = Vec::new();
    for part in wanted {
        let border = |at: usize| on_boundary(bytes, at.min(bytes.len()));
        let (start, end) = (border(part.start), border(part.end));
        match parts.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => parts.push(start..end),
        }
    }
    parts
}

/// The rows around the one that holds a place, as many as fit into so many lines.
fn around(rows: &[Row], place: usize, most: usize) -> Range<usize> {
    let holds = rows.iter().rposition(|row| row.at <= place).unwrap_or(0);
    let size = |at: usize| rows.get(at).map(|row| row.lines.len());
    let mut shown = holds..(holds + 1).min(rows.len());
    let mut left = most.saturating_sub(size(holds).unwrap_or(0));
    loop {
        let before = shown.start.checked_sub(1).and_then(size).filter(|lines| *lines <= left);
        if let Some(lines) = before {
            (shown.start, left) = (shown.start - 1, left - lines);
        }
        let after = size(shown.end).filter(|lines| *lines <= left);
        if let Some(lines) = after {
            (shown.end, left) = (shown.end + 1, left - lines);
        }
        if before.is_none() && after.is_none() {
            return shown;
        }
    }
}
