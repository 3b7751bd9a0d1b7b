//! Requests, replies and ends of connections around a check, as text.

use super::bytes::annotated_up_to;
use super::window::window;
use crate::judge::finding::line;
use crate::judge::index::{Index, RequestRecord};
use crate::judge::kind::Kind;
use crate::judge::requests::matching;
use crate::judge::script::describe;
use crate::timeline::{Event, EventKind, Mark, Request, Side};
use std::fmt::Write as _;

/// Requests shown for one failure.
const MOST_REQUESTS: usize = 3;
/// Lines of the only reply shown for a failure.
const MOST_LINES: usize = 16;
/// Lines of each reply where there are several.
const FEW_LINES: usize = 9;
/// Header lines shown of a request.
const MOST_HEADERS: usize = 12;
/// Bytes shown of a request's body or of bytes that are no request.
const MOST_BODY: usize = 600;

/// The requests that a check is about: of its steps, those it names, those that match, else on the same method,
/// else the last one.
pub(super) fn concerned(index: &Index<'_>, kind: Option<Kind<'_>>) -> Vec<usize> {
    let mut numbers: Vec<usize> = Vec::new();
    let number = |record: &RequestRecord<'_>| index.requests.iter().position(|r| r.place == record.place);
    if let Some(kind) = kind {
        for name in kind.steps() {
            match index.step(&name) {
                Some(step) => numbers.extend(&step.requests),
                None => numbers.extend(index.named_request(&name).and_then(number)),
            }
        }
        if let Some(wanted) = kind.wanted() {
            let found: Vec<usize> = matching(index, wanted).into_iter().filter_map(number).collect();
            let same = |r: &&RequestRecord<'_>| r.request.is_on(&wanted.on);
            if found.is_empty() {
                numbers.extend(index.requests.iter().filter(same).filter_map(number));
            }
            numbers.extend(found);
        }
    }
    if numbers.is_empty() {
        numbers.extend(index.requests.len().checked_sub(1));
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The wire around these requests.
pub(super) fn wire(index: &Index<'_>, numbers: &[usize], timeline: &[Event], out: &mut String) {
    if index.requests.is_empty() {
        out.push_str("  wire      the peer read no request\n");
    }
    let extent = Extent::Lines(if numbers.len() > 1 { FEW_LINES } else { MOST_LINES });
    for record in numbers.iter().take(MOST_REQUESTS).filter_map(|at| index.requests.get(*at)) {
        request(record, MOST_HEADERS, MOST_BODY, out);
        reply(index, record, extent, out);
        connection(index, record, out);
        out.push('\n');
    }
    if let Some(more) = numbers.len().checked_sub(MOST_REQUESTS).filter(|more| *more > 0) {
        let _ = writeln!(out, "  … and {more} requests more\n");
    }
    no_requests(timeline, MOST_BODY, out);
}

/// The bytes that are no request, up to so many each.
pub(super) fn no_requests(timeline: &[Event], most: usize, out: &mut String) {
    for event in timeline {
        match &event.kind {
            EventKind::Teardown => break,
            EventKind::BadRequest { conn, raw, problem } => {
                let _ = writeln!(out, "  no request on connection {conn}: {}", line(problem));
                indented(&annotated_up_to(most, raw.get(..most).unwrap_or(raw), &[], &[]), out);
                out.push('\n');
            }
            _ => {}
        }
    }
}

/// A request with so many of its header lines and bytes of its body.
pub(super) fn request(record: &RequestRecord<'_>, lines: usize, bytes: usize, out: &mut String) {
    let Request { number, conn, reused, method, target, headers, body, rule, .. } = record.request;
    let again = if *reused { ", used before" } else { "" };
    let _ = writeln!(
        out,
        "  request {number} on connection {conn}{again}: {}, answered by rule {}",
        line(&describe(record)),
        line(rule)
    );
    let mut text = format!("{} {}\n", line(method), line(target));
    for (name, value) in headers.iter().take(lines) {
        let value = match name.as_str() {
            "authorization" | "proxy-authorization" | "cookie" => "(not shown)".to_owned(),
            _ => line(value),
        };
        let _ = writeln!(text, "{}: {value}", line(name));
    }
    if let Some(more) = headers.len().checked_sub(lines).filter(|more| *more > 0) {
        let _ = writeln!(text, "… and {more} header lines more");
    }
    indented(&text, out);
    if !body.is_empty() {
        out.push('\n');
        indented(&annotated_up_to(bytes, body.get(..bytes).unwrap_or(body), &[], &[]), out);
    }
    if let Some(more) = body.len().checked_sub(bytes).filter(|more| *more > 0) {
        let _ = writeln!(out, "      … and {more} bytes more");
    }
}

/// A request in three lines: what it is, its own headers of MCP, its body.
pub(super) fn brief(record: &RequestRecord<'_>, out: &mut String) {
    let Request { number, conn, method, target, headers, body, rule, .. } = record.request;
    let _ = writeln!(
        out,
        "  request {number} on connection {conn}: {}, answered by rule {}",
        line(&describe(record)),
        line(rule)
    );
    let _ = write!(out, "      {} {}", line(method), line(target));
    for (name, value) in headers.iter().filter(|(name, _)| name.starts_with("mcp-")).take(MOST_HEADERS) {
        let _ = write!(out, "  {}: {}", line(name), line(value));
    }
    out.push('\n');
    if !body.is_empty() {
        let _ = writeln!(out, "      {}", line(&String::from_utf8_lossy(body)));
    }
}

/// How much is shown of a reply.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    /// All of it, if it has no more than so many bytes, else its start, its end, and what lies around cuts.
    Bytes(usize),
    /// The first row, and so many lines around its last cut and the end of what decides the outcome.
    Lines(usize),
}

/// The reply to a request as it was written, its bytes annotated.
pub(super) fn reply(index: &Index<'_>, record: &RequestRecord<'_>, extent: Extent, out: &mut String) {
    let Some(found) = index.replies.get(&record.request.number) else {
        out.push_str("  reply: none\n");
        return;
    };
    let reply = found.reply;
    let cuts = match reply.cuts.len() {
        0 => "written at once".to_owned(),
        1 => "a write ended at the │".to_owned(),
        n => format!("{n} writes ended inside, each at a │"),
    };
    let late = if found.before_teardown { "" } else { ", after teardown" };
    let part = if reply.complete { "whole" } else { "cut short" };
    let _ = writeln!(out, "  reply, {part}: {} of {} bytes{late}; {cuts}", reply.written, reply.bytes.len());
    // What was never written was never seen: marks and cuts in it go with it.
    let written = reply.bytes.get(..reply.written).unwrap_or(&reply.bytes);
    let marks: Vec<Mark> = reply.marks.iter().filter(|mark| mark.at <= written.len()).cloned().collect();
    let text = match extent {
        Extent::Bytes(whole) => annotated_up_to(whole, written, &marks, &reply.cuts),
        Extent::Lines(most) => {
            let cut = reply.cuts.iter().copied().filter(|cut| *cut < written.len()).max();
            let end = marks.iter().find(|mark| mark.name == "terminal").map(|mark| mark.at);
            let mut places: Vec<usize> = cut.into_iter().chain(end).collect();
            if places.is_empty() {
                places.push(written.len());
            }
            window(written, &marks, &reply.cuts, &places, most)
        }
    };
    indented(&text, out);
}

/// Holds of the request, and how its connection ended.
pub(super) fn connection(index: &Index<'_>, record: &RequestRecord<'_>, out: &mut String) {
    let number = record.request.number;
    for hold in index.holds.iter().filter(|hold| hold.request == number) {
        let until = if hold.released.is_some() { "and released" } else { "and never released" };
        let _ = writeln!(out, "  held as {} {until}", line(hold.name));
    }
    let conn = record.request.conn;
    let end = match index.closes.get(&conn).map(|close| close.by) {
        Some(Side::Client) => "closed by the client",
        Some(Side::Peer) => "closed by the peer",
        None => "open at teardown",
    };
    let _ = writeln!(out, "  connection {conn}: {end}");
}

fn indented(text: &str, out: &mut String) {
    for line in text.lines() {
        let _ = writeln!(out, "      {line}");
    }
}
