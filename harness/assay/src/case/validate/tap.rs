//! Cases for SDK servers: no scripted peer, rules of the tap that mean something.

use super::Findings;
use super::names::on;
use super::peer::{item, plan, tokens};
use crate::case::reply::{Item, Then};
use crate::case::tap::At;
use crate::case::{Case, Limit, Measure, TapRule};
use crate::document::{Document, Place};

/// All that is for SDK servers, or must not be with them.
pub(super) fn servers(case: &Case, document: &Document<'_>, findings: &mut Findings<'_>) {
    let elsewhere = "it is for SDK servers: write `servers = { … }`, or leave it out";
    if case.servers.is_some() {
        if !case.peer.is_empty() {
            let help = "SDK servers answer by themselves; change an answer with [[tap]]";
            findings.at(
                document.get("peer").at_key(),
                "rules of the scripted peer in a case for SDK servers",
                help,
            );
        }
        for place in (0..case.check.len()).filter_map(|at| document.get("check").at(at).find("memory")) {
            let help = "no SDK server pours: let the scripted peer do it, and leave `servers` out";
            findings.at(place.at_key(), "memory is measured in a case for SDK servers", help);
        }
    } else {
        let admin = |index: usize| document.get("step").at(index).find("admin");
        let witness = |index: usize| document.get("check").at(index).find("witness");
        let answered = |index: usize| {
            let check = document.get("check").at(index);
            let of = |kind: &str, of: &str| check.find(kind).and_then(|kind| kind.find(of));
            let matches = [check.find("seen"), check.find("never"), of("count", "of"), of("header", "of")];
            matches.into_iter().chain([of("given", "seen")]).flatten().find_map(|of| of.find("answered"))
        };
        let places = (!case.tap.is_empty())
            .then(|| document.get("tap"))
            .into_iter()
            .chain((0..case.step.len()).filter_map(admin))
            .chain((0..case.check.len()).filter_map(witness))
            .chain((0..case.check.len()).filter_map(answered));
        for place in places {
            findings.at(place.at_key(), "no SDK server is named", elsewhere);
        }
        for (name, limit) in &case.limits {
            if let Limit::Measured(measured) = limit
                && !matches!(measured.measure, Measure::Request | Measure::Control)
            {
                let help = "the scripted peer fills up to a limit instead: see `bound`";
                findings.at(document.get("limits").get(name).get("measure"), "an answer is measured", help);
            }
        }
    }
    for (index, rule) in case.tap.iter().enumerate() {
        self::rule(rule, document.get("tap").at(index), findings);
    }
}

fn rule(rule: &TapRule, place: Place<'_>, findings: &mut Findings<'_>) {
    on(&rule.on, place.get("on"), findings);
    if rule.nth == Some(0) {
        findings.at(place.get("nth"), "requests are counted from 1", "");
    }
    plan(rule.slice.as_deref(), place.get("slice"), findings);
    if rule.slice.is_none() {
        findings.idle(place, &["slice_over"], "it says what `slice` cuts: write `slice` too");
    }
    if rule.inject.is_none() {
        findings.idle(place, &["at", "eol"], "it is about `inject`: write that too");
    }
    if rule.then == Then::Drip {
        findings.at(place.get("then"), "the tap does not drip", "write another ending");
    }
    if rule.at == At::Start && (rule.slice.is_some() || rule.then != Then::Continue) {
        let help =
            "later parts of the answer pass as they come: write another rule for what is sliced or ended";
        findings.at(place.get("at"), "`at = \"start\"` goes with neither `slice` nor `then`", help);
    }
    if rule.withhold {
        let help = "nothing of a withheld answer is passed on: leave one of them out";
        let keys = ["slice", "slice_over", "inject", "at", "eol", "then"];
        for key in keys.into_iter().filter_map(|key| place.find(key)) {
            findings.at(key.at_key(), "a change of what is withheld", help);
        }
    } else if !rule.gathers() && rule.inject.is_none() {
        findings.at(place, "a rule that changes nothing", "write `slice`, `inject`, `then` or `withhold`");
    }
    for (index, one) in rule.inject.iter().flatten().enumerate() {
        let place = place.get("inject").at(index);
        item(one, place, None, findings);
        waits(one, place, findings);
    }
    tokens(place, &["id", "n", "session", "revision", "arg.NAME"], findings);
}

fn waits(item: &Item, place: Place<'_>, findings: &mut Findings<'_>) {
    findings.idle(place, &["pause_ms"], "the tap writes at once");
    if let Some(inner) = &item.bytes {
        waits(inner, place.get("bytes"), findings);
    }
    for (index, inner) in item.items.iter().flatten().enumerate() {
        waits(inner, place.get("items").at(index), findings);
    }
}
