//! The whole dialogue of one variant.

use super::bytes::WHOLE;
use super::exchange::{Extent, brief, connection, no_requests, reply, request};
use crate::case::Case;
use crate::judge::index::Index;
use crate::timeline::Event;

/// Bytes up to which a request's body or a reply is shown to the last byte, where everything is.
const EVERYTHING: usize = 64 * 1024;

/// How much of a dialogue is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Detail {
    /// Each request in brief, and the beginnings and ends of long replies: for who reads what a case does.
    Sketch,
    /// Each line and byte of requests, of replies, and of what is no request: for who looks for a fault. Only what is
    /// longer than 64 KiB is shortened.
    Everything,
}

/// Each request, each reply with its bytes, marks and cuts, and how connections ended. Ends with a line break unless the
/// peer read nothing.
#[must_use]
pub fn dialogue(case: &Case, timeline: &[Event], detail: Detail) -> String {
    let index = Index::new(case, timeline);
    let mut out = String::new();
    for record in &index.requests {
        match detail {
            Detail::Sketch => {
                brief(record, &mut out);
                reply(&index, record, Extent::Bytes(WHOLE), &mut out);
            }
            Detail::Everything => {
                request(record, usize::MAX, EVERYTHING, &mut out);
                reply(&index, record, Extent::Bytes(EVERYTHING), &mut out);
            }
        }
        connection(&index, record, &mut out);
        out.push('\n');
    }
    if detail == Detail::Everything {
        no_requests(timeline, EVERYTHING, &mut out);
    }
    out
}
