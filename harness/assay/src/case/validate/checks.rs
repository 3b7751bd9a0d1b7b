//! Checks: one kind each, tied to a clause or row that exists, no stronger than the clause, naming what is there.

use super::names::{Names, numbered, on};
use super::peer::json;
use super::steps::is_name;
use super::{Findings, LIMITS, near};
use crate::case::check::{Answered, RequestMatch, Wanted, WitnessCheck};
use crate::case::step::NamedStep;
use crate::case::{Case, Check};
use crate::clauses::Clauses;
use crate::document::Place;
use crate::judge::VERBS;
use crate::select::Pattern;
use std::collections::BTreeSet;

/// The kind keys of a check.
const KINDS: [&str; 12] = [
    "seen", "never", "count", "order", "gap", "header", "result", "error", "closed", "memory", "alive",
    "witness",
];

/// What only a check with a policy may say of an error.
const ERROR_WORDS: [&str; 6] = ["kind", "status", "code", "text", "effect", "without"];

/// All checks.
pub(super) fn checks(
    case: &Case,
    place: Place<'_>,
    names: &Names,
    clauses: &Clauses,
    findings: &mut Findings<'_>,
) {
    let mut ids = BTreeSet::new();
    for (index, check) in case.check.iter().enumerate() {
        let at = place.at(index);
        let id = check.id.get_ref();
        if !is_name(id) {
            let help = "write 1 to 60 characters a-z, 0-9 and -";
            findings.at(at.get("id"), format!("{id:?} is no check id"), help);
        } else if !ids.insert(id) {
            findings.at(at.get("id"), format!("the check id `{id}` is taken"), "name each check once");
        }
        ties(case, check, at, clauses, findings);
        conditions(case, check, at, names, findings);
        let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| at.find(kind).is_some()).collect();
        if findings.exactly_one(at, "kind of check", &KINDS, &kinds) {
            kind(check, at, names, findings);
            memory(case, check, at, names, findings);
        }
    }
}

/// Clause, rows, policy and level.
fn ties(case: &Case, check: &Check, at: Place<'_>, clauses: &Clauses, findings: &mut Findings<'_>) {
    if check.clause.is_none() && check.row.is_none() {
        findings.at(at.get("id"), "a check of nothing", "name the `clause` or the `row` it shows");
    }
    if let Some(id) = check.clause.as_ref().map(toml::Spanned::get_ref) {
        match clauses.get(id) {
            None => findings.unknown(at.get("clause"), "clause", id, clauses.iter().map(|c| c.id.as_str())),
            Some(clause) => {
                let allowed = clause.keyword.level();
                if check.level.is_some_and(|level| level < allowed) {
                    let help = format!("the strongest level is {:?}, or leave it out", allowed.as_str());
                    let message = format!("the level is above the clause's: {}", clause.text);
                    findings.at(at.get("level"), message, help);
                }
                let revisions = check.revisions.as_ref().unwrap_or(&case.revisions);
                if !revisions.iter().any(|revision| clause.holds_in(*revision)) {
                    let holds: Vec<&str> = clause.revisions.iter().map(|r| r.as_str()).collect();
                    let help = format!("it holds in {}", holds.join(", "));
                    findings.at(
                        at.get("clause"),
                        format!("`{id}` binds none of the check's revisions"),
                        help,
                    );
                }
            }
        }
    }
    if check.row.is_none() {
        findings.idle(at, &["rows"], "they are further rows beside `row`");
    }
    if check.policy.is_none() {
        for key in ["row", "rows"] {
            if let Some(place) = at.find(key) {
                let help = "a row is a behaviour of one policy: write `policy` too";
                findings.at(place.at_key(), "a row without a policy", help);
            }
        }
    }
    if let Some(policy) = &check.policy {
        let known: Vec<&str> = clauses.policies().map(|rows| rows.policy()).collect();
        if !known.contains(&policy.as_str()) {
            findings.unknown(at.get("policy"), "policy", policy, known);
            return;
        }
    }
    let rows = check.row.iter().map(|row| (row, at.get("row")));
    let more = check.rows.iter().enumerate().map(|(index, row)| (row, at.get("rows").at(index)));
    for (id, place) in rows.chain(more).map(|(id, place)| (id.get_ref(), place)) {
        match (clauses.row(id), &check.policy) {
            (None, _) => {
                let known = clauses.policies().flat_map(|rows| rows.rows()).map(|row| row.id.as_str());
                findings.unknown(place, "row", id, known);
            }
            (Some(row), Some(policy)) if row.policy != *policy => {
                let help = format!("write `policy = \"{}\"`", row.policy);
                findings.at(place, format!("`{id}` is a row of the policy {}", row.policy), help);
            }
            _ => {}
        }
    }
}

/// Where and for whom the check holds.
fn conditions(case: &Case, check: &Check, at: Place<'_>, names: &Names, findings: &mut Findings<'_>) {
    if let Some(revisions) = &check.revisions {
        super::revisions(revisions, at.get("revisions"), findings);
        for (index, revision) in revisions.iter().enumerate() {
            if !case.revisions.contains(revision) {
                let help = near::help(revision.as_str(), case.revisions.iter().map(|r| r.as_str()));
                let place = at.get("revisions").at(index);
                findings.at(place, format!("the case does not run in {revision}"), help);
            }
        }
    }
    for (name, values) in &check.when {
        let place = at.get("when").get(name);
        if name == "server" && case.servers.is_some() {
            for (index, value) in values.0.iter().enumerate() {
                if value.parse::<Pattern>().is_err() {
                    findings.at(place.at(index), format!("{value:?} is no glob"), "such as ts2-*");
                }
            }
            continue;
        }
        let Some(key) = names.vary.iter().find(|key| key.name == *name) else {
            findings.unknown(
                place.at_key(),
                "vary key",
                name,
                names.vary.iter().map(|key| key.name.as_str()),
            );
            continue;
        };
        for (index, value) in values.0.iter().enumerate() {
            if key.names().all(|known| known != value) {
                findings.unknown(place.at(index), "value named", value, key.names());
            }
        }
    }
    for (index, need) in check.needs.iter().enumerate() {
        if !LIMITS.contains(&need.as_str()) && !VERBS.contains(&need.as_str()) {
            let known = LIMITS.iter().chain(&VERBS).copied();
            findings.unknown(at.get("needs").at(index), "limit or verb", need, known);
        }
    }
    let Some(given) = &check.given else { return };
    let place = at.get("given");
    for (key, step) in [("ended", &given.ended), ("ok", &given.ok), ("replied", &given.replied)] {
        if let Some(step) = step {
            names.step(step, place.get(key), findings);
        }
    }
    if let Some(wanted) = &given.seen {
        request(wanted, place.get("seen"), names, findings);
    }
}

/// The one kind.
fn kind(check: &Check, at: Place<'_>, names: &Names, findings: &mut Findings<'_>) {
    for (key, wanted) in [("seen", &check.seen), ("never", &check.never)] {
        if let Some(wanted) = wanted {
            request(wanted, at.get(key), names, findings);
        }
    }
    if let Some(count) = &check.count {
        let place = at.get("count");
        request(&count.of, place.get("of"), names, findings);
        if count.is.is_some() == (count.min.is_some() || count.max.is_some()) {
            findings.at(place, "how many?", "write `is`, or `min` and `max` or one of them");
        }
    }
    for (index, entry) in check.order.iter().flatten().enumerate() {
        let place = at.get("order").at(index);
        if entry.contains(':') {
            names.moment(entry, &["closed", "ended"], place, findings);
        } else {
            numbered(entry, place, findings);
        }
    }
    if check.order.as_ref().is_some_and(|order| order.len() < 2) {
        findings.at(at.get("order"), "an order of fewer than two", "name at least two requests");
    }
    if let Some(gap) = &check.gap {
        const WORDS: [&str; 6] = ["held", "seen", "replied", "began", "ended", "closed"];
        names.moment(&gap.from, &WORDS, at.get("gap").get("from"), findings);
        names.moment(&gap.to, &WORDS, at.get("gap").get("to"), findings);
    }
    if let Some(header) = &check.header {
        let place = at.get("header");
        request(&header.of, place.get("of"), names, findings);
        lower(&header.name, place.get("name"), findings);
        if let Some(Wanted::SessionOf(step)) = header.is.as_deref().map(Wanted::of) {
            names.step(step, place.get("is"), findings);
        }
        if header.absent == (header.is.is_some() || !header.lists.is_empty()) {
            findings.at(place, "what about the header?", "write `is`, `lists` or `absent = true`");
        }
    }
    if let Some(result) = &check.result {
        names.step(&result.of, at.get("result").get("of"), findings);
        if let Some(schema) = &result.schema_json {
            json(schema, at.get("result").get("schema_json"), findings);
        }
    }
    if let Some(error) = &check.error {
        let place = at.get("error");
        names.step(&error.of, place.get("of"), findings);
        for word in ERROR_WORDS.into_iter().filter(|_| check.policy.is_none()) {
            if let Some(place) = place.find(word) {
                let help = "a check that binds every client may only ask for an error: write `policy`, or leave \
                            this out";
                findings.at(place.at_key(), format!("`{word}` of an error without a policy"), help);
            }
        }
        if let Some(effect) = &error.effect
            && !["not-sent", "uncertain", "answered"].contains(&effect.as_str())
        {
            findings.unknown(place.get("effect"), "effect", effect, ["not-sent", "uncertain", "answered"]);
        }
    }
    if let Some(closed) = &check.closed {
        names.request(&closed.request, at.get("closed").get("request"), findings);
    }
    if let Some(step) = &check.alive {
        names.step(step, at.get("alive"), findings);
    }
    if check.witness.as_ref().is_some_and(|witness| *witness == WitnessCheck::default()) {
        findings.at(
            at.get("witness"),
            "what does it say?",
            "write `agrees = true`, `effects` or `cancelled`",
        );
    }
}

/// How much the client's process grew.
fn memory(case: &Case, check: &Check, at: Place<'_>, names: &Names, findings: &mut Findings<'_>) {
    let Some(memory) = &check.memory else { return };
    let place = at.get("memory");
    if memory.at_most == 0 {
        let help = "every process grows: say how many bytes are none of the peer's doing";
        findings.at(place.get("at_most"), "no growth at all", help);
    }
    if let Some(step) = &memory.since {
        names.step(step, place.get("since"), findings);
        let joins = |named: &NamedStep<'_>| named.name == *step && named.step.join.is_some();
        if case.named_steps().iter().any(joins) {
            let help = "name the step that is joined, or one behind it";
            findings.at(place.get("since"), format!("the step `{step}` only joins another one"), help);
        }
    }
    if check.given.is_none() {
        let help = "name in `given` what shows that the peer was asked";
        findings.at(place, "a client that does nothing does not grow either", help);
    }
}

fn request(wanted: &RequestMatch, place: Place<'_>, names: &Names, findings: &mut Findings<'_>) {
    on(&wanted.on, place.get("on"), findings);
    if wanted.nth == Some(0) {
        findings.at(place.get("nth"), "requests are counted from 1", "");
    }
    if let Some(step) = &wanted.since {
        names.step(step, place.get("since"), findings);
    }
    for (text, place) in place.get("body").texts() {
        if let Wanted::IdOf(step) = Wanted::of(text) {
            names.step(step, place, findings);
        }
    }
    for (index, pointer) in wanted.absent.iter().enumerate() {
        if !is_pointer(pointer) {
            let help = "write a JSON pointer (RFC 6901) such as /id or /params/_meta";
            findings.at(place.get("absent").at(index), format!("{pointer:?} names no member"), help);
        }
    }
    if let Some(target) = &wanted.target
        && !target.starts_with(['/', '?', '*'])
    {
        let help = "write path and query as they are sent, such as /mcp?a=b, or a pattern such as *a=b*";
        findings.at(place.get("target"), format!("{target:?} is no target: it never holds the host"), help);
    }
    if wanted.answered.as_ref().is_some_and(|answered| *answered == Answered::default()) {
        findings.at(place.get("answered"), "answered how?", "write `status`, or `empty = true`");
    }
    if let Some((name, _)) = &wanted.header {
        lower(name, place.get("header").at(0), findings);
    }
}

/// Whether a text is a JSON pointer to a member: the whole value is none.
fn is_pointer(text: &str) -> bool {
    let escaped = |part: &str| part.starts_with(['0', '1']);
    text.starts_with('/') && text.split('~').skip(1).all(escaped)
}

fn lower(name: &str, place: Place<'_>, findings: &mut Findings<'_>) {
    if name.chars().any(|c| c.is_ascii_uppercase()) {
        findings.at(place, "header names are compared in lower case", "write it so");
    }
}
