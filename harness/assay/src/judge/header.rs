//! The kind header: a header of every matching request.

use super::finding::{Finding, quoted};
use super::index::{Index, RequestRecord};
use super::request::session_of;
use super::requests::{describe_match, matching};
use super::script::describe;
use crate::case::check::{HeaderCheck, Wanted};

pub(super) fn expected(check: &HeaderCheck) -> String {
    let HeaderCheck { name, is, lists, absent, .. } = check;
    let what = match (absent, is) {
        (true, _) => format!("no header {name}"),
        (false, Some(is)) => match Wanted::of(is) {
            Wanted::AnyText => format!("header {name} once"),
            Wanted::SessionOf(step) => format!("header {name} once, the session id that step `{step}` got"),
            Wanted::IdOf(_) | Wanted::Is(_) => format!("header {name} once, {}", quoted(is)),
        },
        (false, None) if lists.is_empty() => format!("header {name}"),
        (false, None) => format!("header {name} listing {}", lists.join(" and ")),
    };
    format!("every {} carries {what}", describe_match(&check.of))
}

pub(super) fn header(index: &Index<'_>, check: &HeaderCheck) -> Finding {
    let requests = matching(index, &check.of);
    if requests.is_empty() {
        return Finding::unexercised("no such request was sent".to_owned());
    }
    let session = match check.is.as_deref().map(Wanted::of) {
        Some(Wanted::SessionOf(step)) => match session_of(index, step) {
            None => return Finding::unexercised(format!("step `{step}` got no session id")),
            session => session,
        },
        _ => None,
    };
    let is = session.as_deref().or(check.is.as_deref());
    match requests.iter().find_map(|record| problem(record, check, is)) {
        Some(problem) => Finding::fail(problem),
        None => Finding::pass("so it was".to_owned()),
    }
}

/// What is wrong with one request, if anything; `is` is the value asked for.
fn problem(record: &RequestRecord<'_>, check: &HeaderCheck, is: Option<&str>) -> Option<String> {
    let name = &check.name;
    let values: Vec<&str> = record.request.header(name).collect();
    let shown = || match values.as_slice() {
        [] => format!("{} carries no {name}", describe(record)),
        values => {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            format!("{} carries {name}: {}", describe(record), values.join(" and "))
        }
    };
    let holds = if check.absent {
        values.is_empty()
    } else {
        !values.is_empty()
            && is.is_none_or(|is| match values.as_slice() {
                [value] => Wanted::of(is) == Wanted::AnyText || *value == is,
                _ => false,
            })
            && check.lists.iter().all(|wanted| listed(&values, wanted))
    };
    (!holds).then(shown)
}

/// Whether comma-separated values list a token or media range, whatever its parameters and case.
fn listed(values: &[&str], wanted: &str) -> bool {
    values
        .iter()
        .flat_map(|value| value.split(','))
        .filter_map(|item| item.split(';').next())
        .any(|item| item.trim().eq_ignore_ascii_case(wanted))
}
