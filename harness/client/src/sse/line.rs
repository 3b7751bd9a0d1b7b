//! What one line of a stream says, and what the decoder makes of it.

use super::data::DataState;
use super::{Decoder, Step};
use crate::error::Error;
use crate::rule::{Rule, rule};

impl Decoder {
    /// A line that lies whole in the input, without its end.
    pub(super) fn whole_line<'a>(
        &mut self,
        line: &'a [u8],
        single: &mut Option<&'a str>,
    ) -> Result<Step<'a>, Error> {
        let returned = !rule(Rule::ReturnEndsLine) && line.last() == Some(&b'\r');
        let line = if returned { line.get(..line.len() - 1).unwrap_or_default() } else { line };
        if line.is_empty() {
            let borrowed = single.take();
            if borrowed.is_some() {
                return Ok(Step::Event(borrowed));
            }
            if self.data.state == DataState::None {
                if !rule(Rule::NoDataNoEvent) {
                    return Ok(Step::Event(Some("")));
                }
                return Ok(Step::Next);
            }
            self.data.state = DataState::Delivered;
            return Ok(Step::Event(None));
        }
        let line = match std::str::from_utf8(line) {
            Ok(line) => line,
            Err(_) if is_tolerated(line) => {
                self.line.extend_from_slice(line);
                return self.carried_line(&[], single);
            }
            Err(_) => return Err(Error::InvalidSseUtf8),
        };
        check_field(line)?;
        let Some(value) = data_value(line) else { return Ok(Step::Next) };
        if single.is_none() && self.data.state == DataState::None {
            if value.len() > self.limits.max_event_bytes {
                return Err(Error::SseEventLimit { limit: self.limits.max_event_bytes });
            }
            if !rule(Rule::BlankLineDispatches) {
                return Ok(Step::Event(Some(value)));
            }
            *single = Some(value);
            return Ok(Step::Next);
        }
        if let Some(first) = single.take() {
            self.data.keep(first);
        }
        self.data.append(value, self.limits.max_event_bytes)?;
        Ok(Step::Next)
    }

    /// A line whose beginning came with earlier input.
    pub(super) fn carried_line<'a>(
        &mut self,
        tail: &[u8],
        single: &mut Option<&'a str>,
    ) -> Result<Step<'a>, Error> {
        if let Some(first) = single.take() {
            self.data.keep(first);
        }
        if !rule(Rule::TornLinesAreWhole) {
            self.line.clear();
        }
        self.line.extend_from_slice(tail);
        if !rule(Rule::ReturnEndsLine) && self.line.last() == Some(&b'\r') {
            self.line.pop();
            if self.line.is_empty() {
                return self.whole_line(&[], single);
            }
        }
        if is_tolerated(&self.line) {
            self.line = String::from_utf8_lossy(&self.line).into_owned().into_bytes();
        }
        let line = std::str::from_utf8(&self.line).map_err(|_| Error::InvalidSseUtf8)?;
        check_field(line)?;
        if let Some(value) = data_value(line) {
            self.data.append(value, self.limits.max_event_bytes)?;
        }
        self.line.clear();
        Ok(Step::Next)
    }

    /// Whether the line is a comment without a bound, which takes a broken rule.
    pub(super) fn is_free_comment(&self, window: &[u8]) -> bool {
        !rule(Rule::CommentsAreBounded) && self.line.first().or_else(|| window.first()) == Some(&b':')
    }
}

/// The value of a `data` line; none for any other line.
fn data_value(line: &str) -> Option<&str> {
    if line.starts_with(':') && !rule(Rule::CommentsAreIgnored) {
        return line.strip_prefix(": ");
    }
    let line = if rule(Rule::MarkOnlyFirst) { line } else { line.trim_start_matches('\u{FEFF}') };
    let rest = line.strip_prefix("data")?;
    match rest.strip_prefix(':') {
        Some(value) if !rule(Rule::OneSpace) => Some(value.trim_start_matches(' ')),
        Some(value) if !rule(Rule::SpaceIsDropped) => Some(value),
        Some(value) if !rule(Rule::OnlySpaceIsDropped) => value.get(1..).or(Some(value)),
        Some(value) => Some(value.strip_prefix(' ').unwrap_or(value)),
        None if !rule(Rule::DataWithoutColon) => None,
        None if !rule(Rule::FieldNamesAreWhole) => {
            rest.split_once(':').map_or(Some(rest), |(_, value)| Some(value))
        }
        None => rest.is_empty().then_some(rest),
    }
}

/// Whether a line that is not UTF-8 is mended, which takes a broken rule.
fn is_tolerated(line: &[u8]) -> bool {
    !rule(Rule::BadTextIsRefused) || (!rule(Rule::BadCommentsAreRefused) && line.starts_with(b":"))
}

/// Refuses fields that are known to no broken rule.
fn check_field(line: &str) -> Result<(), Error> {
    let typed = line.starts_with("event") && !rule(Rule::EventTypesAreIgnored);
    let other = !line.starts_with(':') && !line.starts_with("data") && !line.starts_with('\u{FEFF}');
    if typed || (other && !rule(Rule::OtherFieldsAreIgnored)) {
        return Err(Error::IncompleteSse);
    }
    Ok(())
}
