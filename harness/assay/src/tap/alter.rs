//! A rule of the tap carried out on a gathered answer: injected bytes, an open end, and where writes end.

use super::stream::{marks_of, terminal};
use crate::case::TapRule;
use crate::case::reply::{Framing, Region, Then};
use crate::layout::Layout;
use crate::peer::Calls;
use crate::peer::compile::{Tokens, stream};
use crate::plan::Plan;
use crate::revision::Revision;
use crate::timeline::{Mark, Request};
use std::ops::Range;

/// An answer ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Altered {
    pub(crate) bytes: Vec<u8>,
    pub(crate) content_len: usize,
    pub(crate) marks: Vec<Mark>,
    pub(crate) cuts: Vec<usize>,
    /// What follows the bytes; `continue` leaves it to the server.
    pub(crate) then: Then,
}

/// Carries out `rule` on the answer `raw` to `request`.
///
/// # Errors
/// In words: a rule that cannot be carried out on this answer.
pub(crate) fn alter(
    rule: &TapRule,
    request: &Request,
    raw: &[u8],
    layout: &Layout,
    revision: Revision,
    seed: u64,
) -> Result<Altered, String> {
    let id = request.json.as_ref().and_then(|json| json.get("id"));
    let injected = injected(rule, request, revision)?;
    if !layout.has_head() {
        return Err("expected an answer of the server, it gave none".to_owned());
    }
    if !injected.is_empty() && (!layout.is_stream() || terminal(layout, id).is_none()) {
        return Err("expected an event stream with the answer, to put bytes after it".to_owned());
    }
    let bytes = match (injected.is_empty(), rule.leaves_open(), layout.framing) {
        (true, false, _) => raw.to_vec(),
        (_, open, Framing::Chunked) => {
            let last = layout.last_chunk.unwrap_or(raw.len());
            let (before, end) = raw.split_at(last.min(raw.len()));
            [before, &chunk(&injected), if open { &[] } else { end }].concat()
        }
        (_, open, Framing::Length) => {
            let end: &[u8] = if open { b"" } else { b"0\r\n\r\n" };
            [&head(raw, layout)[..], &chunk(&layout.content), &chunk(&injected), end].concat()
        }
        (_, _, Framing::Close | Framing::None) => [raw, &injected].concat(),
    };
    let layout = Layout::of(&bytes, &request.method);
    let marks = marks_of(&bytes, &layout, id);
    let region = region(rule.slice_over, &bytes, &layout, &marks);
    let mut cuts = Vec::new();
    if let Some(text) = &rule.slice {
        let plan: Plan = text.parse().map_err(|bad: crate::plan::BadPlan| bad.to_string())?;
        if let Some(reach) = plan.reach().filter(|reach| *reach >= region.len()) {
            return Err(format!("{text} cuts at {reach}, the region has {} bytes", region.len()));
        }
        cuts = plan.cuts(region, &marks, seed);
    }
    Ok(Altered { content_len: layout.content.len(), bytes, marks, cuts, then: rule.then })
}

/// The bytes that a rule puts in.
pub(super) fn injected(rule: &TapRule, request: &Request, revision: Revision) -> Result<Vec<u8>, String> {
    let items = rule.inject.as_deref().unwrap_or_default();
    stream(items, rule.eol, &Tokens::of(request, revision, &Calls::default()))
        .map_err(|problem| problem.to_string())
}

/// One chunk with these bytes; nothing for nothing, since an empty chunk is the last one.
pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        return Vec::new();
    }
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// The head, and what came before it, with the length turned into the chunked coding.
fn head(raw: &[u8], layout: &Layout) -> Vec<u8> {
    let mut head = raw.get(..layout.head.start).unwrap_or_default().to_vec();
    let own = raw.get(layout.head.clone()).unwrap_or_default();
    for line in own.split_inclusive(|byte| *byte == b'\n') {
        if line.len() > 15 && line[..15].eq_ignore_ascii_case(b"content-length:") {
            head.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        } else {
            head.extend_from_slice(line);
        }
    }
    head
}

fn region(region: Region, bytes: &[u8], layout: &Layout, marks: &[Mark]) -> Range<usize> {
    let terminal = marks.iter().find(|mark| mark.name == "terminal").map_or(bytes.len(), |mark| mark.at);
    match region {
        Region::Reply => 0..bytes.len(),
        Region::Head => 0..layout.head.end,
        Region::Body => layout.head.end..bytes.len(),
        Region::Suffix => terminal..bytes.len(),
    }
}
