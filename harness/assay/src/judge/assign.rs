//! Which request belongs to which step.

use super::index::{Index, Place, RequestRecord, Role, StepRecord, items};
use crate::case::reply::Rule;
use crate::timeline::Request;
use serde_json::Value;
use std::collections::BTreeMap;

/// Gives every request its step.
///
/// A call's request is the one with its tool and arguments; the other verbs take the requests they stand for in
/// order. Further requests of the same sort (retries, pages) go to the step that is still running. Cancellations
/// and answers follow the request they are about.
pub(super) fn owners(index: &mut Index<'_>) {
    for at in 0..index.requests.len() {
        let owner = index.requests.get(at).and_then(|record| sent_by(index, record));
        if let Some((step, Role::Own)) = owner
            && let Some(step) = index.steps.get_mut(step)
        {
            step.requests.push(at);
        }
        if let Some(record) = index.requests.get_mut(at) {
            record.owner = owner;
        }
    }
    order_alike(index);
    let follows =
        |record: &RequestRecord<'_>| matches!(record.request.on(), "notifications/cancelled" | "reply");
    if !index.requests.iter().any(follows) {
        return;
    }
    let calls = Calls::of(index);
    let mut asked = Asked::of(index);
    for at in 0..index.requests.len() {
        let follows = index.requests.get(at).and_then(|record| match record.request.on() {
            "notifications/cancelled" => {
                calls.cancelled(record.request).map(|step| (step, Role::Cancellation))
            }
            "reply" => asked.answered(record.request).map(|step| (step, Role::Answer)),
            _ => None,
        });
        if let Some(record) = index.requests.get_mut(at) {
            record.owner = record.owner.or(follows);
        }
        asked.pass(index, at);
    }
}

/// Gives steps that send the same (equal calls at once) their requests by id instead of by arrival, since order
/// between sockets is chance and clients count upwards. Left alone where that cannot be how it was.
fn order_alike(index: &mut Index<'_>) {
    let once =
        |step: &&StepRecord<'_>| matches!(step.verb, "call_tool" | "list_tools") && step.requests.len() == 1;
    if index.steps.iter().filter(once).count() < 2 {
        return;
    }
    let mut groups: BTreeMap<(&str, Option<String>, String), Vec<usize>> = BTreeMap::new();
    for (at, step) in index.steps.iter().enumerate() {
        if once(&step) {
            let plan = &step.named.step;
            let key = (step.verb, plan.call.clone(), plan.arguments(&step.name));
            // The default arguments are the step's name, which a listing does not send.
            let key = if step.verb == "list_tools" { (step.verb, None, String::new()) } else { key };
            groups.entry(key).or_default().push(at);
        }
    }
    for steps in groups.into_values().filter(|steps| steps.len() > 1) {
        let mut requests: Vec<usize> =
            steps.iter().filter_map(|at| index.steps.get(*at)?.requests.first().copied()).collect();
        requests.sort_by_key(|at| {
            let id = index.requests.get(*at).and_then(|r| r.request.json.as_ref()?.get("id"));
            (id.and_then(Value::as_u64), id.map(Value::to_string))
        });
        let fits = |(step, request): (&usize, &usize)| match (
            index.steps.get(*step),
            index.requests.get(*request),
        ) {
            (Some(step), Some(request)) => step.runs_at(request.place),
            _ => false,
        };
        if requests.len() != steps.len() || !steps.iter().zip(&requests).all(fits) {
            continue;
        }
        for (step, request) in steps.into_iter().zip(requests) {
            if let Some(record) = index.requests.get_mut(request) {
                record.owner = Some((step, Role::Own));
            }
            if let Some(record) = index.steps.get_mut(step) {
                record.requests = vec![request];
            }
        }
    }
}

/// The step whose verb a request stands for, or whose connection it keeps.
fn sent_by(index: &Index<'_>, record: &RequestRecord<'_>) -> Option<(usize, Role)> {
    let RequestRecord { place, request, .. } = *record;
    let own = |step| (step, Role::Own);
    match request.on() {
        "tools/call" => pick(index, place, |step| wants(step, request, true))
            .or_else(|| pick(index, place, |step| wants(step, request, false)))
            .map(own),
        "tools/list" => pick(index, place, |step| step.verb == "list_tools")
            .or_else(|| last(index, place, connects))
            .map(own),
        "initialize" | "server/discover" => pick(index, place, connects).map(own),
        "notifications/initialized" => index
            .steps
            .iter()
            .position(|step| step.began_by(place) && connects(step) && step.requests.len() == 1)
            .or_else(|| last(index, place, connects))
            .map(own),
        "GET" => last(index, place, connects).map(|step| (step, Role::Stream)),
        "DELETE" => pick(index, place, |step| step.verb == "close")
            .or_else(|| last(index, place, |step| step.verb == "reconnect" && step.runs_at(place)))
            .or_else(|| last(index, place, |step| step.verb == "kill"))
            .map(own),
        _ => None,
    }
}

/// The step among those wanted that most likely sent a request: one that runs and has sent none, then the last one
/// that runs, then an ended one that has sent none, then the last one.
fn pick(index: &Index<'_>, place: Place, wanted: impl Fn(&StepRecord<'_>) -> bool) -> Option<usize> {
    let steps = || index.steps.iter().enumerate().filter(|(_, step)| step.began_by(place) && wanted(step));
    steps()
        .find(|(_, step)| step.runs_at(place) && step.requests.is_empty())
        .or_else(|| steps().rfind(|(_, step)| step.runs_at(place)))
        .or_else(|| steps().find(|(_, step)| step.requests.is_empty()))
        .or_else(|| steps().next_back())
        .map(|(at, _)| at)
}

/// The last step begun among those wanted.
fn last(index: &Index<'_>, place: Place, wanted: impl Fn(&StepRecord<'_>) -> bool) -> Option<usize> {
    index.steps.iter().rposition(|step| step.began_by(place) && wanted(step))
}

fn connects(step: &StepRecord<'_>) -> bool {
    matches!(step.verb, "connect" | "reconnect")
}

fn wants(step: &StepRecord<'_>, request: &Request, arguments_too: bool) -> bool {
    let Some(call) = &step.named.step.call else { return false };
    let params = request.json.as_ref().and_then(|body| body.get("params"));
    let tool = params.and_then(|params| params.get("name")).and_then(Value::as_str);
    if tool != Some(call.as_str()) {
        return false;
    }
    if !arguments_too {
        return true;
    }
    let sent = params.and_then(|params| params.get("arguments"));
    match (&step.arguments, sent) {
        (Some(wanted), Some(sent)) => wanted == sent,
        (Some(Value::Object(wanted)), None) => wanted.is_empty(),
        _ => false,
    }
}

/// The steps of own requests by what a cancellation names; the last of several counts.
struct Calls<'a> {
    by_id: BTreeMap<String, usize>,
    /// By id and session, since two clients may count alike.
    by_session: BTreeMap<(String, Option<&'a str>), usize>,
}

impl<'a> Calls<'a> {
    fn of(index: &Index<'a>) -> Self {
        let mut calls = Self { by_id: BTreeMap::new(), by_session: BTreeMap::new() };
        for record in &index.requests {
            let id = record.request.json.as_ref().and_then(|body| body.get("id"));
            if let (Some(id), Some((step, Role::Own))) = (id, record.owner) {
                calls.by_id.insert(id.to_string(), step);
                calls.by_session.insert((id.to_string(), session(record.request)), step);
            }
        }
        calls
    }

    /// The step whose request a cancellation names: of the same session first.
    fn cancelled(&self, request: &Request) -> Option<usize> {
        let id = request.json.as_ref()?.get("params")?.get("requestId")?.to_string();
        let of_session = self.by_session.get(&(id.clone(), session(request)));
        of_session.or_else(|| self.by_id.get(&id)).copied()
    }
}

fn session(request: &Request) -> Option<&str> {
    request.headers.iter().find(|(name, _)| name == "mcp-session-id").map(|(_, value)| value.as_str())
}

/// The requests that rules of the case put to the client, and the step whose reply held them last.
struct Asked<'a> {
    rules: BTreeMap<usize, AskingRule<'a>>,
}

struct AskingRule<'a> {
    /// The ids of its requests, as the case writes them.
    ids: Vec<&'a str>,
    /// The last request that the rule answered and that belongs to a step, and that step.
    last: Option<(usize, usize)>,
}

impl<'a> Asked<'a> {
    fn of(index: &Index<'a>) -> Self {
        let case = index.case;
        let ids = |rule: &'a Rule| -> Vec<&'a str> {
            items(rule).into_iter().filter_map(|item| Some(item.request.as_ref()?.id.as_str())).collect()
        };
        let rules = case.peer.iter().map(|rule| ids(rule)).enumerate();
        let rules = rules.filter(|(_, ids)| !ids.is_empty());
        Self { rules: rules.map(|(number, ids)| (number, AskingRule { ids, last: None })).collect() }
    }

    /// The step whose reply asked what this message answers: the rule of its request holds a request with that id.
    fn answered(&self, answer: &Request) -> Option<usize> {
        let id = answer.json.as_ref()?.get("id")?.to_string();
        let asking = self.rules.values().filter(|rule| rule.ids.iter().any(|ask| template_fits(ask, &id)));
        asking.filter_map(|rule| rule.last).max().map(|(_, step)| step)
    }

    /// Goes on past a request whose owner is known: only what came before an answer can have asked for it.
    fn pass(&mut self, index: &Index<'_>, at: usize) {
        let Some(record) = index.requests.get(at) else { return };
        let rule = index.rule_number(record.request).and_then(|number| self.rules.get_mut(&number));
        if let (Some(rule), Some((step, _))) = (rule, record.owner) {
            rule.last = Some((at, step));
        }
    }
}

/// Whether an id is what a template with at most one `{{n}}` (digits) gives.
fn template_fits(template: &str, id: &str) -> bool {
    match template.split_once("{{n}}") {
        None => template == id,
        Some((before, after)) => id
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())),
    }
}
