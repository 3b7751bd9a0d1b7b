//! Padding: how much of it brings a unit of a reply exactly to its limit, or over it.

use super::content::Shape;
use super::frame::Parts;
use super::tokens::Tokens;
use super::{CompileError, content, sse};
use crate::case::reply::{Bound, Fill, Rule, Unit};
use crate::timeline::Request;
use std::collections::BTreeMap;

/// Stands for the padding while the unit is looked for: a private-use character that JSON leaves as it is.
const SENTINEL: &str = "\u{F6BD0}";

/// The padding for `bound`.
///
/// The reply is put together once with a sentinel in place of the padding, which tells where the padding stands,
/// how often, and how large the unit is without it.
pub(super) fn padding(
    rule: &Rule,
    bound: &Bound,
    request: &Request,
    tokens: &Tokens,
    limits: &BTreeMap<String, u64>,
) -> Result<String, CompileError> {
    let limit = *limits.get(&bound.limit).ok_or_else(|| CompileError::UnknownLimit(bound.limit.clone()))?;
    let wanted = limit.saturating_add(bound.over);
    let unit = |pad: &str, place: Option<usize>| -> Result<(Vec<u8>, usize), CompileError> {
        let tokens = tokens.padded(pad);
        let parts = match &rule.wire {
            Some(items) => Parts::bare(content::encode(items, Shape::Plain, &tokens)?),
            None => Parts::of(rule, request, &tokens)?,
        };
        measure(bound.unit, &parts, place).ok_or(CompileError::NoPadding(bound.unit))
    };

    let (sample, place) = unit(SENTINEL, None)?;
    let step = memchr::memmem::find_iter(&sample, SENTINEL).count();
    if step == 0 {
        return Err(CompileError::NoPadding(bound.unit));
    }
    let (step, have) = (step as u64, (sample.len() - step * SENTINEL.len()) as u64);
    let unreachable = CompileError::Unreachable { unit: bound.unit, wanted, have, step };
    let Some(missing) = wanted.checked_sub(have).filter(|missing| missing % step == 0) else {
        return Err(unreachable);
    };
    let len = usize::try_from(missing / step).map_err(|_| CompileError::TooLarge)?;
    if len > super::REPLY_MAX {
        return Err(CompileError::TooLarge);
    }
    let pad = match bound.fill {
        Fill::Ascii => "x".repeat(len),
        Fill::Wide => format!("{}{}", "x".repeat(len % 3), "雪".repeat(len / 3)),
    };
    // The content length is part of a head and grows with the body: what was reckoned is measured too.
    let (unit, _) = unit(&pad, Some(place))?;
    if unit.len() as u64 == wanted { Ok(pad) } else { Err(unreachable) }
}

/// The bytes of a unit, and the number of the line or event that is meant: the one at `place`, else the first one
/// that holds the sentinel.
fn measure(unit: Unit, parts: &Parts, place: Option<usize>) -> Option<(Vec<u8>, usize)> {
    let body = &parts.content.bytes;
    let holds = |bytes: &[u8]| memchr::memmem::find(bytes, SENTINEL.as_bytes()).is_some();
    match unit {
        Unit::Head => {
            let lines = parts.headers.iter().chain(&parts.trailers);
            let bytes =
                lines.flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()].concat()).collect();
            Some((bytes, 0))
        }
        Unit::Session => {
            let (_, value) =
                parts.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"))?;
            Some((value.clone().into_bytes(), 0))
        }
        Unit::Body => {
            let end = match parts.content.terminal {
                Some(end) if parts.sse => end.saturating_sub(parts.content.terminal_free),
                _ => body.len(),
            };
            Some((body.get(..end)?.to_vec(), 0))
        }
        Unit::Line => {
            let mut lines = sse::lines(body).map(|line| &body[line]).enumerate();
            let (number, line) =
                lines.find(|(number, line)| place.map_or_else(|| holds(line), |at| *number == at))?;
            Some((line.to_vec(), number))
        }
        Unit::Event => {
            let mut events = sse::events(body).into_iter().map(|event| event.joined).enumerate();
            let (number, data) =
                events.find(|(number, data)| place.map_or_else(|| holds(data), |at| *number == at))?;
            Some((data, number))
        }
        Unit::Control => {
            let end = parts.content.terminal.unwrap_or(body.len());
            let events = sse::events(body).into_iter();
            let control = events.filter(|event| event.end < end && sse::is_control(&event.joined));
            Some((control.flat_map(|event| event.joined).collect(), 0))
        }
    }
}
