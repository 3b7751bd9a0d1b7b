//! Rules of the tap in words, with the bytes they inject.

use crate::case::reply::{Region, Then};
use crate::case::tap::At;
use crate::case::{Case, TapRule};
use crate::judge::finding::line;
use crate::peer::Calls;
use crate::peer::compile::{Tokens, stream};
use crate::render::annotated;
use crate::revision::Revision;
use crate::timeline::Request;
use std::fmt::Write as _;

/// What becomes of an answer that is withheld.
const WITHHELD: &str = "is taken from the server and not passed on; the connection stays open";

/// Bytes shown of one injection.
const MOST: usize = 1_200;

/// What the tap does, one rule after the other.
pub(super) fn rules(case: &Case, revision: Revision) -> String {
    let mut out = String::new();
    if case.tap.is_empty() {
        out.push_str("  nothing: each passes as the server sends it\n");
    }
    // Writing into a String cannot fail.
    for rule in &case.tap {
        let nth = rule.nth.map_or_else(|| "each".to_owned(), |nth| format!("number {nth}"));
        let _ = writeln!(out, "  the answer to {}, {nth}", line(&rule.on));
        if let Some(plan) = &rule.slice {
            let _ =
                writeln!(out, "    is gathered and written in parts: {} over {}", line(plan), region(rule));
        }
        if rule.inject.is_some() {
            inject(rule, revision, &mut out);
        }
        let after = if rule.withhold { WITHHELD } else { then(rule.then) };
        let _ = writeln!(out, "    {after}");
    }
    out
}

/// The bytes that are put in, as they are if the request's id is 1.
fn inject(rule: &TapRule, revision: Revision, out: &mut String) {
    let at = match rule.at {
        At::End => "after all that the server wrote",
        At::Start => "before all that the server writes",
    };
    let items = rule.inject.as_deref().unwrap_or_default();
    match stream(items, rule.eol, &Tokens::of(&stand_in(), revision, &Calls::default())) {
        Ok(bytes) => {
            let _ = writeln!(out, "    {} bytes are put in, {at}", bytes.len());
            for row in annotated(bytes.get(..MOST).unwrap_or(&bytes), &[], &[]).lines() {
                let _ = writeln!(out, "      {row}");
            }
            if let Some(more) = bytes.len().checked_sub(MOST).filter(|more| *more > 0) {
                let _ = writeln!(out, "      … and {more} bytes more");
            }
        }
        Err(problem) => {
            let _ = writeln!(out, "    bytes are put in, {at}: {}", line(&problem.to_string()));
        }
    }
}

/// A request for those tokens of a rule that stand for something of the request.
fn stand_in() -> Request {
    Request {
        conn: 1,
        number: 1,
        reused: false,
        method: "POST".to_owned(),
        target: "/mcp".to_owned(),
        headers: Vec::new(),
        head: Default::default(),
        body: Default::default(),
        json: Some(serde_json::json!({ "jsonrpc": "2.0", "id": 1 })),
        rule: String::new(),
    }
}

fn region(rule: &TapRule) -> &'static str {
    match rule.slice_over {
        Region::Reply => "all of it",
        Region::Head => "the head",
        Region::Body => "the body",
        Region::Suffix => "what follows the terminal message",
    }
}

fn then(then: Then) -> &'static str {
    match then {
        Then::Continue => "then all goes on as the server has it",
        Then::Fin => "then the connection is closed",
        Then::Rst => "then the connection is reset",
        Then::Hold => "then body and connection are left open, until the client closes it",
        Then::Truncate => "then the connection is closed in mid-body",
        Then::TruncateRst => "then the connection is reset in mid-body",
        Then::Drip => "then more comes and comes",
    }
}
