//! The kinds order and gap: what came before what, and how long before at least.

use super::finding::Finding;
use super::index::{Index, Place};
use super::moment::Moment;
use crate::case::check::Gap;

/// An entry of `order`: a moment, or a method, whose k-th mention in the list means its k-th request.
pub(super) fn entries(order: &[String]) -> Vec<Moment> {
    let mut entries: Vec<Moment> = Vec::with_capacity(order.len());
    for (at, entry) in order.iter().enumerate() {
        let moment = match entry.parse::<Moment>() {
            Ok(moment) => moment,
            Err(_) if entry.contains('#') => {
                let (on, nth) = super::index::split_nth(entry);
                Moment::Seen { on: on.to_owned(), nth }
            }
            Err(_) => {
                let before = order.iter().take(at).filter(|earlier| *earlier == entry).count();
                Moment::Seen { on: entry.clone(), nth: before + 1 }
            }
        };
        entries.push(moment);
    }
    entries
}

pub(super) fn expected_order(order: &[String]) -> String {
    format!("in this order: {}", order.join(", "))
}

pub(super) fn order(index: &Index<'_>, order: &[String]) -> Finding {
    let places: Vec<(&String, Option<Place>)> =
        order.iter().zip(entries(order)).map(|(name, moment)| (name, moment.place(index))).collect();
    // Two that came the wrong way round are a violation, whatever is missing.
    let mut latest: Option<(&String, Place)> = None;
    for (name, place) in &places {
        let Some(place) = *place else { continue };
        match latest {
            Some((before, at)) if at > place => return Finding::fail(format!("{name} came before {before}")),
            _ => latest = Some((name, place)),
        }
    }
    match places.iter().find(|(_, place)| place.is_none()) {
        Some((name, _)) => index.missing(format!("{name} never came")),
        None => Finding::pass("so it was".to_owned()),
    }
}

pub(super) fn expected_gap(gap: &Gap) -> String {
    format!("at least {} ms from {} to {}", gap.min_ms, gap.from, gap.to)
}

pub(super) fn gap(index: &Index<'_>, gap: &Gap) -> Finding {
    let place = |text: &str| text.parse::<Moment>().map(|moment| moment.place(index));
    let (from, to) = match (place(&gap.from), place(&gap.to)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(bad), _) | (_, Err(bad)) => return Finding::error(bad.to_string()),
    };
    let Some(from) = from else { return Finding::unexercised(format!("{} never came", gap.from)) };
    let Some(to) = to else { return index.missing(format!("{} never came", gap.to)) };
    if to < from {
        return Finding::fail(format!("{} came before {}", gap.to, gap.from));
    }
    let enough = to.at_us.saturating_sub(from.at_us) >= gap.min_ms.saturating_mul(1000);
    Finding::of(enough, if enough { "at least that much" } else { "less than that" }.to_owned())
}
