//! The whole dialogue of one variant, for people who read a case.

use super::exchange::{Extent, brief, connection, reply};
use crate::case::Case;
use crate::judge::index::Index;
use crate::timeline::Event;

/// Bytes of each reply that a person wants to see who reads what a case does.
pub const SKETCH: usize = super::bytes::WHOLE;

/// Bytes of each reply that a person wants to see who looks for a fault: all, unless it is one of those that pour.
pub const WHOLE: usize = 64 * 1024;

/// Each request in brief, each reply with its bytes up to so many, marks and cuts, and how connections ended. Ends with
/// a line break unless the peer read nothing.
#[must_use]
pub fn dialogue(case: &Case, timeline: &[Event], most: usize) -> String {
    let index = Index::new(case, timeline);
    let mut out = String::new();
    for record in &index.requests {
        brief(record, &mut out);
        reply(&index, record, Extent::Bytes(most), &mut out);
        connection(&index, record, &mut out);
        out.push('\n');
    }
    out
}
