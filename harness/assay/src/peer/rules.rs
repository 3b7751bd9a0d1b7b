//! Which rule answers a request: the case's rules first, then the polite peer's, then a stated default.

use crate::case::reply::{Framing, HeaderMatch, Item, Rule};
use crate::revision::Revision;
use crate::timeline::Request;
use std::sync::Arc;

/// The rules of one variant, with how many requests each has met.
#[derive(Debug)]
pub(super) struct Rules {
    rules: Vec<Counted>,
    revision: Revision,
}

#[derive(Debug)]
struct Counted {
    /// `case:0`, `polite:3`.
    name: String,
    rule: Arc<Rule>,
    met: u32,
}

impl Rules {
    pub(super) fn new(case: &[Arc<Rule>], polite: &[Arc<Rule>], revision: Revision) -> Self {
        let named = |origin: &'static str, rules: &[Arc<Rule>]| -> Vec<Counted> {
            let count = |(i, rule): (usize, &Arc<Rule>)| Counted {
                name: format!("{origin}:{i}"),
                rule: Arc::clone(rule),
                met: 0,
            };
            rules.iter().enumerate().map(count).collect()
        };
        let mut rules = named("case", case);
        rules.extend(named("polite", polite));
        Self { rules, revision }
    }

    /// Counts the request on every rule whose conditions it meets, and picks the first of them whose turn it is.
    ///
    /// A rule's n-th request is the n-th that meets its own conditions, whichever rule answered the ones before.
    pub(super) fn pick(&mut self, request: &Request) -> (String, Arc<Rule>) {
        let mut picked = None;
        for counted in &mut self.rules {
            if !meets(&counted.rule, request) {
                continue;
            }
            counted.met = counted.met.saturating_add(1);
            if picked.is_none() && counted.rule.nth.is_none_or(|nth| nth == counted.met) {
                picked = Some((counted.name.clone(), Arc::clone(&counted.rule)));
            }
        }
        picked.unwrap_or_else(|| ("default".to_owned(), Arc::new(default(request, self.revision))))
    }
}

fn meets(rule: &Rule, request: &Request) -> bool {
    request.is_on(&rule.on) && rule.with.as_ref().is_none_or(|with| has(with, request))
}

fn has(with: &HeaderMatch, request: &Request) -> bool {
    let mut values = request.header(&with.name);
    match (&with.is, with.absent) {
        (_, true) => values.next().is_none(),
        (Some(wanted), false) => values.any(|value| value == wanted),
        (None, false) => values.next().is_some(),
    }
}

/// The reply where no rule matches: 405 to GET, DELETE and every other method but POST; to a POST 202 for
/// notifications and replies, JSON-RPC error -32601 for requests, and 400 with -32600 for what is neither.
///
/// The error's status is that of the era: before 2026-07-28 a 404 would say that the session is gone, so it is 200.
fn default(request: &Request, revision: Revision) -> Rule {
    let error = |status, code: i64, message: &str, id: &str| Rule {
        status: Some(status),
        body: Some(vec![Item {
            json: Some(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}"
            )),
            ..Item::default()
        }]),
        ..Rule::default()
    };
    let unknown_method = if revision >= Revision::V20260728 { 404 } else { 200 };
    let has_id = request.json.as_ref().is_some_and(|json| json.get("id").is_some());
    match request.on() {
        _ if request.method != "POST" => Rule {
            status: Some(405),
            headers: vec![("allow".to_owned(), "POST".to_owned())],
            framing: Some(Framing::Length),
            ..Rule::default()
        },
        "invalid" => error(400, -32600, "Invalid Request", "null"),
        "reply" => Rule { status: Some(202), ..Rule::default() },
        _ if has_id => error(unknown_method, -32601, "Method not found", "{{id}}"),
        _ => Rule { status: Some(202), ..Rule::default() },
    }
}
