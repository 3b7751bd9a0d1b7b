//! Which request belongs to which step.

use super::index::{Index, Place, RequestRecord, Role, StepRecord, items};
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
    for at in 0..index.requests.len() {
        let follows = index.requests.get(at).and_then(|record| match record.request.on() {
            "notifications/cancelled" => {
                cancelled(index, record.request).map(|step| (step, Role::Cancellation))
            }
            "reply" => answered(index, record.place, record.request).map(|step| (step, Role::Answer)),
            _ => None,
        });
        if let Some(record) = index.requests.get_mut(at) {
            record.owner = record.owner.or(follows);
        }
    }
}

/// Gives steps that send the same (equal calls at once) their requests by id instead of by arrival, since order
/// between sockets is chance and clients count upwards. Left alone where that cannot be how it was.
fn order_alike(index: &mut Index<'_>) {
    let mut groups: BTreeMap<(&str, Option<String>, String), Vec<usize>> = BTreeMap::new();
    for (at, step) in index.steps.iter().enumerate() {
        if matches!(step.verb, "call_tool" | "list_tools") && step.requests.len() == 1 {
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
    let wanted = serde_json::from_str::<Value>(&step.named.step.arguments(&step.name)).ok();
    let sent = params.and_then(|params| params.get("arguments"));
    match (&wanted, sent) {
        (Some(wanted), Some(sent)) => wanted == sent,
        (Some(Value::Object(wanted)), None) => wanted.is_empty(),
        _ => false,
    }
}

/// The step whose request a cancellation names: of the same session first, since two clients may count alike.
fn cancelled(index: &Index<'_>, request: &Request) -> Option<usize> {
    let id = request.json.as_ref()?.get("params")?.get("requestId")?;
    let session = request.header("mcp-session-id").next();
    let named = || {
        index.requests.iter().filter(|r| {
            r.request.json.as_ref().and_then(|body| body.get("id")) == Some(id)
                && matches!(r.owner, Some((_, Role::Own)))
        })
    };
    named()
        .rfind(|r| r.request.header("mcp-session-id").next() == session)
        .or_else(|| named().next_back())
        .and_then(|r| r.owner)
        .map(|(step, _)| step)
}

/// The step whose reply asked what this message answers: the rule of its request holds a request with that id.
fn answered(index: &Index<'_>, place: Place, answer: &Request) -> Option<usize> {
    let id = answer.json.as_ref()?.get("id")?.to_string();
    let asked = |r: &&RequestRecord<'_>| {
        r.place < place
            && index.rule_of(r.request).is_some_and(|rule| {
                items(rule)
                    .iter()
                    .filter_map(|item| item.request.as_ref())
                    .any(|request| template_fits(&request.id, &id))
            })
    };
    let record = index.requests.iter().rfind(|r| asked(r) && r.owner.is_some())?;
    record.owner.map(|(step, _)| step)
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
