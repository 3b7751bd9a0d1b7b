//! The whole dialogue of one variant, for people who read a case.

use super::bytes::WHOLE;
use super::exchange::{Extent, brief, connection, reply};
use crate::case::Case;
use crate::judge::index::Index;
use crate::timeline::Event;

/// Each request in brief, each reply with its bytes, marks and cuts, and how connections ended. Ends with a line break
/// unless the peer read nothing.
#[must_use]
pub fn dialogue(case: &Case, timeline: &[Event]) -> String {
    let index = Index::new(case, timeline);
    let mut out = String::new();
    for record in &index.requests {
        brief(record, &mut out);
        reply(&index, record, Extent::Bytes(WHOLE), &mut out);
        connection(&index, record, &mut out);
        out.push('\n');
    }
    out
}
