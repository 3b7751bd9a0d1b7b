//! The values of one dimension of a fold: sets, ranges of cuts, pairs of cuts.

use super::{escape, unescape};
use std::collections::{BTreeMap, BTreeSet};

/// One value, its last cut apart so that cuts sort as numbers: `each-cut@` and 17, `each-two-cuts@3,` and 9.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Value {
    stem: String,
    cut: Option<u32>,
}

impl Value {
    pub(super) fn of(text: &str) -> Self {
        match split_cut(text) {
            Some((stem, cut)) => Self { stem: stem.to_owned(), cut: Some(cut) },
            None => Self { stem: text.to_owned(), cut: None },
        }
    }

    pub(super) fn text(&self) -> String {
        match self.cut {
            Some(cut) => format!("{}{cut}", self.stem),
            None => self.stem.clone(),
        }
    }
}

/// Splits the number after the last `@` or `,` off, where the text has an `@` and the number one spelling.
fn split_cut(text: &str) -> Option<(&str, u32)> {
    let at = text.rfind(['@', ','])? + 1;
    let (stem, digits) = text.split_at(at);
    Some((stem, number(digits)?)).filter(|_| stem.contains('@'))
}

fn number(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

/// The text of a set: one element bare, several in braces.
pub(super) fn text(set: &BTreeSet<Value>) -> String {
    let mut stems: BTreeMap<&str, (bool, BTreeSet<u32>)> = BTreeMap::new();
    for value in set {
        let (bare, cuts) = stems.entry(&value.stem).or_default();
        match value.cut {
            Some(cut) => _ = cuts.insert(cut),
            None => *bare = true,
        }
    }
    let mut elements = take_pairs(&mut stems);
    for (stem, (bare, cuts)) in stems {
        let stem = escape(stem);
        if bare {
            elements.push(stem.clone());
        }
        elements.extend(runs(&cuts).into_iter().map(|(first, last)| match last - first {
            0 => format!("{stem}{first}"),
            1 => format!("{stem}{first}|{stem}{last}"),
            _ => format!("{stem}{first}..{last}"),
        }));
    }
    let one = elements.len() == 1 && !elements.iter().any(|element| element.contains('|'));
    if one { elements.concat() } else { format!("{{{}}}", elements.join("|")) }
}

/// Runs of numbers that follow each other, as first and last.
fn runs(cuts: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &cut in cuts {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cut) => *last = cut,
            _ => runs.push((cut, cut)),
        }
    }
    runs
}

/// Takes the stems out whose cuts are all pairs `a,b` with first ≤ a < b ≤ last, at least three of them.
fn take_pairs(stems: &mut BTreeMap<&str, (bool, BTreeSet<u32>)>) -> Vec<String> {
    let mut plans: BTreeMap<&str, BTreeMap<u32, &str>> = BTreeMap::new();
    for stem in stems.keys() {
        if let Some((plan, first)) =
            stem.strip_suffix(',').and_then(split_cut).filter(|(p, _)| p.ends_with('@'))
        {
            plans.entry(plan).or_default().insert(first, stem);
        }
    }
    let mut elements = Vec::new();
    for (plan, firsts) in plans {
        let low = firsts.keys().next().copied().unwrap_or_default();
        let high = firsts.keys().next_back().and_then(|a| a.checked_add(1)).unwrap_or_default();
        let all = high > low.saturating_add(1)
            && firsts.keys().copied().eq(low..high)
            && firsts.iter().all(|(a, stem)| {
                stems.get(stem).is_some_and(|(bare, cuts)| !bare && cuts.iter().copied().eq(a + 1..=high))
            });
        if all {
            firsts.values().for_each(|stem| _ = stems.remove(stem));
            elements.push(format!("{}pairs({low}..{high})", escape(plan)));
        }
    }
    elements
}

/// Reads a set of at most `limit` values; none where the text is not the spelling of one.
pub(super) fn read(text: &str, limit: usize) -> Option<BTreeSet<Value>> {
    let elements = text.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(text);
    let mut set = BTreeSet::new();
    for element in elements.split('|') {
        let room = limit.checked_sub(set.len())?;
        if let Some((plan, range)) = element.strip_suffix(')').and_then(|e| e.split_once("pairs(")) {
            let (low, high) = range.split_once("..")?;
            let (low, high) = (number(low)?, number(high)?);
            let width = usize::try_from(high.checked_sub(low)?).ok()?;
            within(width.checked_mul(width.checked_add(1)?)? / 2, room)?;
            let plan = unescape(plan)?;
            for a in low..high {
                set.extend((a + 1..=high).map(|b| Value { stem: format!("{plan}{a},"), cut: Some(b) }));
            }
        } else if let Some((first, last)) = element.split_once("..") {
            let first = unescape(first)?;
            let (stem, first) = split_cut(&first)?;
            let last = number(last)?;
            within(usize::try_from(last.checked_sub(first)?).ok()?.checked_add(1)?, room)?;
            set.extend((first..=last).map(|cut| Value { stem: stem.to_owned(), cut: Some(cut) }));
        } else {
            within(1, room)?;
            set.insert(Value::of(&unescape(element)?));
        }
    }
    (!set.is_empty()).then_some(set)
}

fn within(wanted: usize, room: usize) -> Option<()> {
    (wanted <= room).then_some(())
}
