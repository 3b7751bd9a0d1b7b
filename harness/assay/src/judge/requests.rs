//! Which requests a check means, and the kinds seen, never and count.

use super::finding::Finding;
use super::index::{Index, RequestRecord};
use super::request;
use crate::case::check::{Count, RequestMatch, Wanted};

/// The requests before teardown that a match means; none of them can be told while `since` has not ended.
pub(crate) fn matching<'i, 'a>(index: &'i Index<'a>, wanted: &RequestMatch) -> Vec<&'i RequestRecord<'a>> {
    let since = match &wanted.since {
        None => None,
        Some(step) => match index.step(step).and_then(|step| step.ended) {
            Some((place, _)) => Some(place),
            None => return Vec::new(),
        },
    };
    let nth = |position: usize| wanted.nth.is_none_or(|nth| u32::try_from(position + 1) == Ok(nth));
    index
        .requests
        .iter()
        .filter(|record| record.request.is_on(&wanted.on))
        .enumerate()
        .filter(|(position, record)| nth(*position) && since.is_none_or(|since| record.place > since))
        .map(|(_, record)| record)
        .filter(|record| request::fits(index, record, wanted))
        .collect()
}

/// A match in words.
pub(crate) fn describe_match(wanted: &RequestMatch) -> String {
    let mut text = match wanted.on.as_str() {
        "any" => "a request".to_owned(),
        on => on.to_owned(),
    };
    if let Some(nth) = wanted.nth {
        text.push_str(&format!(" #{nth}"));
    }
    if let Some(body) = &wanted.body {
        text.push_str(&format!(" with {body}"));
    }
    if !wanted.absent.is_empty() {
        text.push_str(&format!(" without {}", wanted.absent.join(" and ")));
    }
    match &wanted.header {
        Some((name, value)) if Wanted::of(value) == Wanted::AnyText => {
            text.push_str(&format!(" with a header {name}"));
        }
        Some((name, value)) => text.push_str(&format!(" with header {name}: {value}")),
        None => {}
    }
    if let Some(target) = &wanted.target {
        text.push_str(&format!(" to {target}"));
    }
    if let Some(answered) = &wanted.answered {
        text.push_str(&format!(" {}", request::describe_answer(answered)));
    }
    if let Some(since) = &wanted.since {
        text.push_str(&format!(" after step `{since}` ended"));
    }
    text
}

/// `since` names a step that did not end: the stimulus is missing.
pub(super) fn since_missing(index: &Index<'_>, wanted: &RequestMatch) -> Option<Finding> {
    let since = wanted.since.as_ref()?;
    match index.step(since).and_then(|step| step.ended) {
        Some(_) => None,
        None => Some(Finding::unexercised(format!("step `{since}` did not end"))),
    }
}

pub(super) fn seen(index: &Index<'_>, wanted: &RequestMatch) -> Finding {
    if !matching(index, wanted).is_empty() {
        return Finding::pass("it was sent".to_owned());
    }
    let others = index.requests.iter().filter(|record| record.request.is_on(&wanted.on)).count();
    index.missing(match others {
        0 => "none was sent".to_owned(),
        n => format!("none was sent ({n} on {} did not match)", wanted.on),
    })
}

pub(super) fn never(index: &Index<'_>, wanted: &RequestMatch) -> Finding {
    match (matching(index, wanted).len(), index.unfinished()) {
        (0, None) => Finding::pass("none was sent".to_owned()),
        (0, Some(why)) => Finding::inconclusive(why),
        (1, _) => Finding::fail("it was sent".to_owned()),
        (n, _) => Finding::fail(format!("it was sent {n} times")),
    }
}

pub(super) fn expected_count(count: &Count) -> String {
    let of = describe_match(&count.of);
    let range = match (count.is, count.min, count.max) {
        (Some(is), ..) => format!("exactly {is}"),
        (None, Some(min), Some(max)) => format!("{min} to {max}"),
        (None, Some(min), None) => format!("at least {min}"),
        (None, None, Some(max)) => format!("at most {max}"),
        (None, None, None) => "any number".to_owned(),
    };
    format!("{range} of: {of}")
}

pub(super) fn count(index: &Index<'_>, count: &Count) -> Finding {
    let seen = u64::try_from(matching(index, &count.of).len()).unwrap_or(u64::MAX);
    let actual = format!("{seen} sent");
    let least = count.is.or(count.min).unwrap_or(0);
    let most = count.is.or(count.max);
    if most.is_some_and(|most| seen > most) {
        return Finding::fail(actual);
    }
    if seen < least {
        return index.missing(actual);
    }
    match index.unfinished() {
        // More might have come.
        Some(why) if most.is_some() => Finding::inconclusive(why),
        _ => Finding::pass(actual),
    }
}
