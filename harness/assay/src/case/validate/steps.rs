//! Steps: one verb each, names used once, references to what comes before.

use super::Findings;
use super::credentials::credentials;
use super::names::Names;
use super::peer::{json, tokens};
use crate::case::{Case, Step};
use crate::document::Place;
use crate::judge::Moment;

/// The verb keys of a step as they stand in files.
const VERBS: [&str; 11] = [
    "connect",
    "list",
    "call",
    "cancel",
    "reconnect",
    "close",
    "kill",
    "await",
    "release",
    "linger",
    "admin",
];

/// The most that an URL may be padded to, in bytes: far above every client's limit of a head.
const PAD_MAX: u32 = 1 << 20;

/// All steps.
pub(super) fn steps(case: &Case, place: Place<'_>, names: &Names, findings: &mut Findings<'_>) {
    // The implied `connect` comes first in the names and has no place.
    let implied = names.steps.len() - case.step.len();
    for (index, step) in case.step.iter().enumerate() {
        let at = place.at(index);
        let (before, own) = names.steps.split_at((implied + index).min(names.steps.len()));
        if let Some((name, _)) = own.first() {
            if before.iter().any(|(known, _)| known == name) {
                findings.at(at.get("as"), format!("the step name `{name}` is taken"), "name each step once");
            }
            if !is_name(name) {
                let help = "write 1 to 60 characters a-z, 0-9 and -";
                findings.at(at.get("as"), format!("{name:?} is no step name"), help);
            }
        }
        one(step, at, names, before, findings);
    }
}

fn one(step: &Step, at: Place<'_>, names: &Names, before: &[(String, bool)], findings: &mut Findings<'_>) {
    let set = [
        step.connect.is_some(),
        step.list,
        step.call.is_some(),
        step.cancel.is_some(),
        step.reconnect,
        step.close,
        step.kill,
        step.join.is_some(),
        step.release.is_some(),
        step.linger.is_some(),
        step.admin.is_some(),
    ];
    let verbs: Vec<&str> = VERBS.into_iter().zip(set).filter_map(|(verb, set)| set.then_some(verb)).collect();
    if !findings.exactly_one(at, "verb", &VERBS, &verbs) {
        return;
    }
    let is = |keys: &[&str]| verbs.iter().any(|verb| keys.contains(verb));
    if !is(&["call"]) {
        findings.idle(at, &["args", "args_json"], "only `call` takes arguments");
    } else if step.args.is_some() && step.args_json.is_some() {
        findings.at(at.get("args_json").at_key(), "arguments come once", "write `args` or `args_json`");
    }
    if !is(&["connect", "list", "call", "reconnect", "close"]) {
        findings.idle(at, &["timeout_ms"], "only a verb of the client has a time limit");
        findings.idle(at, &["start"], "only a verb of the client can be started and joined later");
    }
    if let Some(text) = &step.args_json {
        json(text, at.get("args_json"), findings);
    }
    for (key, name) in [("cancel", &step.cancel), ("await", &step.join)] {
        let Some(name) = name else { continue };
        match before.iter().find(|(known, _)| known == name) {
            Some((_, true)) => {}
            Some((_, false)) => {
                let help = format!("write `start = true` in the step `{name}`");
                findings.at(at.get(key), format!("the step `{name}` has ended by then"), help);
            }
            None => {
                let known = before.iter().filter(|(_, start)| *start).map(|(name, _)| name.as_str());
                findings.unknown(at.get(key), "started step before this one named", name, known);
            }
        }
    }
    if let Some(name) = &step.release {
        names.hold(name, at.get("release"), findings);
    }
    if let Some(event) = &step.after {
        names.moment(event, &["held", "seen", "replied", "closed", "ended"], at.get("after"), findings);
        let moment = event.parse::<Moment>().ok();
        let is_in = |names: &[(String, bool)], name: &str| names.iter().any(|(known, _)| known == name);
        if let Some(name) = moment.as_ref().and_then(Moment::step)
            && is_in(&names.steps, name)
            && !is_in(before, name)
        {
            let help = "steps run in order: name one that stands before this one";
            findings.at(at.get("after"), format!("the step `{name}` has not begun by then"), help);
        }
    }
    if step.linger.as_ref().is_some_and(|linger| linger.because.trim().is_empty()) {
        findings.at(at.get("linger").get("because"), "an empty reason", "say why this long is enough");
    }
    if let Some(admin) = &step.admin
        && !["expire", "drop_sockets"].contains(&admin.as_str())
    {
        findings.unknown(at.get("admin"), "admin route", admin, ["expire", "drop_sockets"]);
    }
    if let Some(connect) = &step.connect {
        credentials(&connect.headers, at.get("connect").get("headers"), findings);
        let pads = connect.url.as_ref().is_some_and(|url| url.contains("{{pad}}"));
        if pads != connect.pad_to.is_some() {
            let help = "`pad_to` says up to what {{pad}} in `url` fills: write both or neither";
            findings.at(at.get("connect"), "padding and its length go together", help);
        }
        if connect.pad_to.is_some_and(|len| len > PAD_MAX) {
            let message = format!("an URL of more than {PAD_MAX} bytes");
            let place = at.get("connect").get("pad_to");
            findings.at(place, message, "one byte more than the client's limit is enough");
        }
    }
    tokens(at.get("connect").get("url"), &["host", "pad"], findings);
}

/// A name of a step or check: `[a-z0-9-]{1,60}`.
pub(super) fn is_name(name: &str) -> bool {
    (1..=60).contains(&name.len()) && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}
