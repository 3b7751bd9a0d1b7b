//! What one line of a stream says.

use crate::error::Error;
use crate::rule::{Rule, rule};

/// The value of a `data` line; none for any other line.
pub(super) fn data_value(line: &str) -> Option<&str> {
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
pub(super) fn is_tolerated(line: &[u8]) -> bool {
    !rule(Rule::BadTextIsRefused) || (!rule(Rule::BadCommentsAreRefused) && line.starts_with(b":"))
}

/// Refuses fields that are known to no broken rule.
pub(super) fn check_field(line: &str) -> Result<(), Error> {
    let typed = line.starts_with("event") && !rule(Rule::EventTypesAreIgnored);
    let other = !line.starts_with(':') && !line.starts_with("data") && !line.starts_with('\u{FEFF}');
    if typed || (other && !rule(Rule::OtherFieldsAreIgnored)) {
        return Err(Error::IncompleteSse);
    }
    Ok(())
}
