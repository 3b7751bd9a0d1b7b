//! The names of a case, and the words that refer to them.

use super::Findings;
use crate::case::Case;
use crate::case::reply::{Item, Rule};
use crate::case::vary::VaryKey;
use crate::document::Place;
use crate::judge::Moment;
use std::collections::BTreeSet;

/// The limits of a client by their public option names, sizes in bytes, times in ms.
pub(super) const LIMITS: &[&str] = &[
    "control_timeout",
    "max_connections",
    "max_control_bytes",
    "max_control_workers",
    "max_controls",
    "max_event_bytes",
    "max_header_bytes",
    "max_json_depth",
    "max_json_nodes",
    "max_line_bytes",
    "max_pending",
    "max_request_bytes",
    "max_response_bytes",
    "max_session_bytes",
    "max_tools",
    "timeout",
];

/// All names that something in a case can refer to.
pub(super) struct Names {
    /// Steps in order, with whether they are started and not waited for.
    pub(super) steps: Vec<(String, bool)>,
    /// Holds of rules and items.
    pub(super) holds: BTreeSet<String>,
    /// `vary` keys with their values.
    pub(super) vary: Vec<VaryKey>,
}

impl Names {
    pub(super) fn of(case: &Case, keys: &[VaryKey]) -> Self {
        let steps = case.named_steps().iter().map(|named| (named.name.clone(), named.step.start)).collect();
        let mut holds = BTreeSet::new();
        for rule in &case.peer {
            holds.extend(rule.hold.clone());
            items(rule, &mut |item| holds.extend(item.hold.clone()));
        }
        Self { steps, holds, vary: keys.to_vec() }
    }

    pub(super) fn step_names(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|(name, _)| name.as_str())
    }

    /// A reference to a step.
    pub(super) fn step(&self, name: &str, place: Place<'_>, findings: &mut Findings<'_>) {
        if self.step_names().all(|known| known != name) {
            findings.unknown(place, "step", name, self.step_names());
        }
    }

    /// A reference to a hold.
    pub(super) fn hold(&self, name: &str, place: Place<'_>, findings: &mut Findings<'_>) {
        if !self.holds.contains(name) {
            findings.unknown(place, "hold", name, self.holds.iter().map(String::as_str));
        }
    }

    /// A moment of the timeline; `words` are the kinds that this place takes (`held`, `seen`, `replied`, …).
    pub(super) fn moment(&self, text: &str, words: &[&str], place: Place<'_>, findings: &mut Findings<'_>) {
        let word = text.split_once(':').map_or("", |(word, _)| word);
        let moment = text.parse::<Moment>().ok().filter(|_| words.contains(&word));
        match moment {
            Some(Moment::Held(name)) => self.hold(&name, place, findings),
            Some(Moment::Seen { .. }) => numbered(text.trim_start_matches("seen:"), place, findings),
            Some(Moment::Replied(name) | Moment::Closed(name)) => self.request(&name, place, findings),
            Some(Moment::Began(name) | Moment::Ended(name)) => self.step(&name, place, findings),
            None => {
                let forms: Vec<String> = words.iter().map(|word| format!("{word}:…")).collect();
                let help = format!("expected one of {}", forms.join(", "));
                findings.at(place, format!("{text:?} names no moment"), help);
            }
        }
    }

    /// A request: that of a step, or the first or n-th on a method (`ON`, `ON#n`).
    pub(super) fn request(&self, text: &str, place: Place<'_>, findings: &mut Findings<'_>) {
        if text.contains(['/', '#'])
            || text.starts_with(|c: char| c.is_ascii_uppercase())
            || PLAIN.contains(&text)
        {
            numbered(text, place, findings);
        } else {
            self.step(text, place, findings);
        }
    }
}

/// `ON` or `ON#n`, n from 1.
pub(super) fn numbered(text: &str, place: Place<'_>, findings: &mut Findings<'_>) {
    let (name, number) = text.split_once('#').map_or((text, None), |(name, number)| (name, Some(number)));
    if number.is_some_and(|number| number.parse::<u32>().map_or(true, |number| number == 0)) {
        findings.at(place, format!("{text:?} names no request"), "after # stands which one, counted from 1");
    }
    on(name, place, findings);
}

/// What requests are matched by, besides JSON-RPC methods with a `/` and HTTP methods.
const PLAIN: [&str; 6] = ["initialize", "ping", "reply", "resume", "invalid", "any"];

/// What a request is matched by: see [`crate::timeline::Request::is_on`].
pub(super) fn on(text: &str, place: Place<'_>, findings: &mut Findings<'_>) {
    const HTTP: [&str; 6] = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "PUT"];
    let is_method = text.contains('/') && text.chars().all(|c| c.is_ascii_graphic());
    if !is_method && !HTTP.contains(&text) && !PLAIN.contains(&text) {
        let help = "expected a JSON-RPC method (initialize, ping, tools/call, …), reply, resume, invalid, any, or \
                    an HTTP method other than POST";
        findings.at(place, format!("{text:?} matches no request"), help);
    }
}

/// Calls back for each item of a rule, nested ones included.
pub(super) fn items(rule: &Rule, each: &mut impl FnMut(&Item)) {
    fn walk(item: &Item, each: &mut impl FnMut(&Item)) {
        each(item);
        if let Some(inner) = &item.bytes {
            walk(inner, each);
        }
        for inner in item.items.iter().flatten() {
            walk(inner, each);
        }
    }
    for item in [&rule.body, &rule.stream, &rule.wire].into_iter().flatten().flatten() {
        walk(item, each);
    }
    if let Some(drip) = &rule.drip {
        walk(&drip.item, each);
    }
}
