//! Byte strings as text where they are text, else as Base64, long repetitions as a generator.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// From how many bytes on a repetition is stored as unit and times.
pub const LONG: usize = 1024;

/// The longest unit that is looked for, in bytes.
const UNIT: usize = 64;

/// The most bytes that one byte string may hold.
pub(super) const MAX_BLOB: usize = 64 << 20;

/// A part of a byte string.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Part {
    /// UTF-8 text.
    Text(String),
    /// Other bytes, in standard Base64 with padding.
    Base64(String),
    /// A unit that comes several times.
    Repeat {
        /// What is repeated.
        unit: Unit,
        /// How often it comes.
        times: u64,
    },
}

/// What is repeated.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Unit {
    /// UTF-8 text.
    Text(String),
    /// Other bytes, in standard Base64 with padding.
    Base64(String),
}

/// Splits bytes into parts.
pub(super) fn split(bytes: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut from = 0;
    for run in runs(bytes) {
        plain(&bytes[from..run.start], &mut parts);
        let unit = unit(&bytes[run.start..run.start + run.unit]);
        parts.push(Part::Repeat { unit, times: run.times as u64 });
        from = run.start + run.unit * run.times;
    }
    plain(&bytes[from..], &mut parts);
    parts
}

/// Puts parts together again; none where they are not what [`split`] makes, or too long.
pub(super) fn join(parts: &[Part]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for part in parts {
        let (unit, times) = match part {
            Part::Text(text) => (text.clone().into_bytes(), 1),
            Part::Base64(text) => (STANDARD.decode(text).ok()?, 1),
            Part::Repeat { unit: Unit::Text(text), times } => (text.clone().into_bytes(), *times),
            Part::Repeat { unit: Unit::Base64(text), times } => (STANDARD.decode(text).ok()?, *times),
        };
        let times = usize::try_from(times).ok()?;
        let grown = unit.len().checked_mul(times)?.checked_add(bytes.len())?;
        if grown > MAX_BLOB || unit.is_empty() {
            return None;
        }
        bytes.reserve(grown - bytes.len());
        (0..times).for_each(|_| bytes.extend_from_slice(&unit));
    }
    Some(bytes)
}

fn plain(bytes: &[u8], parts: &mut Vec<Part>) {
    if !bytes.is_empty() {
        parts.push(match unit(bytes) {
            Unit::Text(text) => Part::Text(text),
            Unit::Base64(text) => Part::Base64(text),
        });
    }
}

fn unit(bytes: &[u8]) -> Unit {
    match std::str::from_utf8(bytes) {
        Ok(text) => Unit::Text(text.to_owned()),
        Err(_) => Unit::Base64(STANDARD.encode(bytes)),
    }
}

/// A repetition: where it begins, the length of its unit, how often that comes.
struct Run {
    start: usize,
    unit: usize,
    times: usize,
}

/// The long repetitions, in order, without overlaps.
///
/// One of [`LONG`] bytes holds a whole window of half that size, wherever it begins. So only windows are looked at,
/// each for its shortest unit, and what repeats in one is followed to both sides.
fn runs(bytes: &[u8]) -> Vec<Run> {
    const WINDOW: usize = LONG / 2;
    let text = std::str::from_utf8(bytes).ok();
    let mut runs = Vec::new();
    let (mut from, mut window) = (0, 0);
    while let Some(inner) = bytes.get(window..window + WINDOW) {
        let unit = (1..=UNIT).find(|unit| inner[..WINDOW - unit] == inner[*unit..]);
        if let Some(run) = unit.and_then(|unit| follow(bytes, text, from, window, unit)) {
            from = run.start + run.unit * run.times;
            window = from.next_multiple_of(WINDOW);
            runs.push(run);
        } else {
            window += WINDOW;
        }
    }
    runs
}

/// The repetition around a place where one is known, if it is long; it begins at `from` or later.
fn follow(bytes: &[u8], text: Option<&str>, from: usize, known: usize, unit: usize) -> Option<Run> {
    let before = (from..known).rev().take_while(|at| bytes[*at] == bytes[at + unit]).count();
    let after = (known + unit..bytes.len()).take_while(|at| bytes[*at] == bytes[at - unit]).count();
    let end = known + unit + after;
    // A unit of text begins with a character, so that what stands before and after stays text.
    let start = (known - before..end).find(|at| text.is_none_or(|text| text.is_char_boundary(*at)))?;
    (end - start >= LONG).then(|| Run { start, unit, times: (end - start) / unit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_repetition_is_a_generator_between_its_neighbours() {
        let bytes = format!("data: 雪{}\n\n", "雪é".repeat(900));
        let expected = [
            Part::Text("data: 雪".into()),
            Part::Repeat { unit: Unit::Text("雪é".into()), times: 900 },
            Part::Text("\n\n".into()),
        ];
        assert_eq!(split(bytes.as_bytes()), expected);
        assert_eq!(split(&[0xff; 5000]), [Part::Repeat { unit: Unit::Base64("/w==".into()), times: 5000 }]);
        assert_eq!(split(b""), []);
        assert_eq!(split(b"\xff"), [Part::Base64("/w==".into())]);
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_built() {
        let bomb = |times| [Part::Repeat { unit: Unit::Text("xx".into()), times }];
        assert!(join(&bomb(u64::MAX)).is_none());
        assert!(join(&bomb(MAX_BLOB as u64)).is_none());
        assert!(join(&[Part::Repeat { unit: Unit::Text(String::new()), times: u64::MAX }]).is_none());
        assert!(join(&[Part::Base64("/w=".into())]).is_none());
    }

    proptest! {
        #[test]
        fn join_undoes_split(pieces in prop::collection::vec((prop_oneof![
            prop::collection::vec(any::<u8>(), 0..70),
            "[ab雪é]{1,4}".prop_map(String::into_bytes),
        ], prop_oneof![Just(1_usize), 300_usize..900]), 0..5)) {
            let bytes: Vec<u8> = pieces.iter().flat_map(|(piece, times)| piece.repeat(*times)).collect();
            prop_assert_eq!(join(&split(&bytes)), Some(bytes));
        }
    }
}
