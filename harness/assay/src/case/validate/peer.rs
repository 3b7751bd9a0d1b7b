//! Rules and their items: keys that belong together, plans, tokens, JSON texts.

use super::credentials::credentials;
use super::names::{Names, on};
use super::{Findings, LIMITS};
use crate::case::reply::{Framing, Item, Rule, Then};
use crate::document::Place;
use crate::plan::Plan;

/// The content keys of an item.
const CONTENT: [&str; 14] = [
    "result",
    "result_json",
    "error",
    "request",
    "note",
    "json",
    "event",
    "text",
    "hex",
    "repeat",
    "bytes",
    "items",
    "pause_ms",
    "hold",
];

/// Keys of a rule that say how the reply is built; `wire` replaces what they would build.
const BUILT: [&str; 14] = [
    "status",
    "reason",
    "content_type",
    "session",
    "headers",
    "interim",
    "body",
    "stream",
    "eol",
    "framing",
    "chunks",
    "chunk_extension",
    "trailers",
    "length_lie",
];

/// One rule. Without names (a polite peer) it can refer to nothing.
pub(super) fn rule(rule: &Rule, place: Place<'_>, names: Option<&Names>, findings: &mut Findings<'_>) {
    on(&rule.on, place.get("on"), findings);
    if rule.nth == Some(0) {
        findings.at(place.get("nth"), "requests are counted from 1", "");
    }
    if let Some(with) = &rule.with
        && with.absent
        && with.is.is_some()
    {
        findings.at(place.get("with"), "a header that is absent has no value", "write `is` or `absent`");
    }
    status(rule, place, findings);
    content(rule, place, names, findings);
    framing(rule, place, findings);
    credentials(&rule.headers, place.get("headers"), findings);
    plan(rule.slice.as_deref(), place.get("slice"), findings);
    if rule.slice.is_none() {
        findings.idle(place, &["slice_over"], "it says what `slice` cuts: write `slice` too");
    }
    match (rule.then, &rule.drip) {
        (Then::Drip, None) => findings.at(place.get("then"), "nothing to drip", "write `drip` too"),
        (Then::Drip, Some(_)) => {}
        _ => findings.idle(place, &["drip"], "it is what `then = \"drip\"` sends: write that too"),
    }
    let known = ["id", "n", "pad", "session", "host", "revision", "arg.NAME", "call.NAME"];
    tokens(place, &known, findings);
    bound(rule, place, names, findings);
    match names {
        Some(names) => {
            if let Some(release) = &rule.release {
                names.hold(release, place.get("release"), findings);
            }
        }
        None => findings.idle(place, &["hold", "release"], "a polite peer answers at once"),
    }
}

fn status(rule: &Rule, place: Place<'_>, findings: &mut Findings<'_>) {
    if rule.status.is_some_and(|status| !(200..=999).contains(&status)) {
        findings.at(
            place.get("status"),
            "no status of a final reply",
            "expected 200 to 999; 1xx go in `interim`",
        );
    }
    for (index, _) in rule.interim.iter().enumerate().filter(|(_, status)| !(100..=199).contains(*status)) {
        findings.at(place.get("interim").at(index), "no status of an interim reply", "expected 100 to 199");
    }
}

fn content(rule: &Rule, place: Place<'_>, names: Option<&Names>, findings: &mut Findings<'_>) {
    if rule.wire.is_some() {
        findings.idle(place, &BUILT, "`wire` is the whole reply as it goes over the wire");
    } else if rule.body.is_some() && rule.stream.is_some() {
        findings.at(place.get("stream").at_key(), "a reply has one body", "write `body` or `stream`");
    }
    if rule.stream.is_none() && rule.drip.is_none() {
        findings.idle(place, &["eol"], "only a `stream` has lines");
    }
    for (key, list) in [("body", &rule.body), ("stream", &rule.stream), ("wire", &rule.wire)] {
        for (index, one) in list.iter().flatten().enumerate() {
            item(one, place.get(key).at(index), names, findings);
        }
    }
    if let Some(drip) = &rule.drip {
        item(&drip.item, place.get("drip").get("item"), names, findings);
        if drip.every_ms == 0 {
            findings.at(place.get("drip").get("every_ms"), "a drip without a pause never ends", "at least 1");
        }
    }
}

fn framing(rule: &Rule, place: Place<'_>, findings: &mut Findings<'_>) {
    let framing = rule
        .framing
        .unwrap_or_else(|| if rule.stream.is_some() { Framing::Chunked } else { Framing::Length });
    if framing != Framing::Chunked {
        let why = "only `framing = \"chunked\"` (a `stream` unless said) has chunks";
        findings.idle(place, &["chunks", "chunk_extension", "trailers"], why);
    }
    if framing != Framing::Length {
        findings.idle(place, &["length_lie"], "only `framing = \"length\"` states a length");
    }
    plan(rule.chunks.as_deref(), place.get("chunks"), findings);
}

pub(super) fn plan(text: Option<&str>, place: Place<'_>, findings: &mut Findings<'_>) {
    if let Some(Err(bad)) = text.map(str::parse::<Plan>) {
        let bad = bad.to_string();
        let (message, expected) = bad.split_once(": ").unwrap_or((&bad, ""));
        findings.at(place, message, expected);
    }
}

fn bound(rule: &Rule, place: Place<'_>, names: Option<&Names>, findings: &mut Findings<'_>) {
    let pad = place.texts().into_iter().find(|(text, _)| text.contains("{{pad}}"));
    match (&rule.bound, pad) {
        (None, Some((_, pad))) => {
            findings.at(
                pad,
                "padding without a bound",
                "`bound` says up to what {{pad}} fills: write it too",
            );
        }
        (Some(_), None) => {
            findings.at(
                place.get("bound").at_key(),
                "a bound without padding",
                "write {{pad}} where the padding goes",
            );
        }
        _ => {}
    }
    let Some(bound) = &rule.bound else { return };
    let limit = place.get("bound").get("limit");
    if names.is_none() {
        findings.at(limit, "a polite peer knows no limits", "leave `bound` out");
    } else if !LIMITS.contains(&bound.limit.as_str()) {
        findings.unknown(limit, "limit", &bound.limit, LIMITS.iter().copied());
    }
}

pub(super) fn item(item: &Item, place: Place<'_>, names: Option<&Names>, findings: &mut Findings<'_>) {
    let present: Vec<&str> = CONTENT.into_iter().filter(|key| place.find(key).is_some()).collect();
    if !findings.exactly_one(place, "content key", &CONTENT, &present) {
        return;
    }
    let is = |keys: &[&str]| present.iter().any(|key| keys.contains(key));
    if !is(&["repeat"]) {
        findings.idle(place, &["then"], "it follows a `repeat`");
    } else if item.times.is_none() {
        findings.at(place.get("repeat"), "how often?", "say `times = N`");
    }
    if !is(&["result", "result_json", "error"]) {
        findings.idle(place, &["id"], "only a result or an error takes another id");
    }
    if !is(&["result", "result_json", "error", "request", "note", "json", "event"]) {
        findings.idle(place, &["eol"], "only an event has line ends");
    }
    if item
        .hex
        .as_deref()
        .is_some_and(|hex| hex.len() % 2 == 1 || !hex.bytes().all(|b| b.is_ascii_hexdigit()))
    {
        findings.at(place.get("hex"), "no hexadecimal bytes", "two digits 0-9 a-f a byte, without blanks");
    }
    if let Some(id) = item.id.as_deref().filter(|id| !id.is_empty()) {
        json(id, place.get("id"), findings);
    }
    if let Some(request) = &item.request {
        json(&request.id, place.get("request").get("id"), findings);
    }
    if names.is_none() {
        findings.idle(place, &["hold"], "nothing lets go of it here");
    }
    if let Some(inner) = &item.bytes {
        self::item(inner, place.get("bytes"), names, findings);
    }
    for (index, inner) in item.items.iter().flatten().enumerate() {
        self::item(inner, place.get("items").at(index), names, findings);
    }
}

/// A text that must be JSON once its tokens are replaced.
pub(super) fn json(text: &str, place: Place<'_>, findings: &mut Findings<'_>) {
    let mut replaced =
        ["{{id}}", "{{n}}"].iter().fold(text.to_owned(), |text, token| text.replace(token, "1"));
    while let Some((before, (_, after))) =
        replaced.split_once("{{call.").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    {
        replaced = format!("{before}1{after}");
    }
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&without_tokens(&replaced)) {
        let help = "a JSON text keeps its quotes: '\"ping\"', 7, null; write what is malformed on purpose as \
                    `json` or `text`";
        findings.at(place, format!("no JSON: {error}"), help);
    }
}

/// Tokens stand inside JSON texts, where any text may stand for them.
fn without_tokens(text: &str) -> String {
    ["{{pad}}", "{{session}}", "{{revision}}"]
        .iter()
        .fold(text.to_owned(), |text, token| text.replace(token, ""))
}

/// Unknown tokens: what looks like one is meant as one.
pub(super) fn tokens(place: Place<'_>, known: &[&str], findings: &mut Findings<'_>) {
    for (text, place) in place.texts() {
        for part in text.split("{{").skip(1) {
            let Some((name, _)) = part.split_once("}}") else { continue };
            let is_name = !name.is_empty() && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'_' | b'.'));
            let is_known = known.iter().any(|known| match known.strip_suffix("NAME") {
                Some(prefix) => name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()),
                None => name == *known,
            });
            if is_name && !is_known {
                let known: Vec<String> = known.iter().map(|name| format!("{{{{{name}}}}}")).collect();
                let help = format!("known here: {}", known.join(", "));
                findings.at(place, format!("unknown token {{{{{name}}}}}"), help);
            }
        }
    }
}
