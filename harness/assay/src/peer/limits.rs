//! Limits that a case leaves alone: the documented defaults, so that a bound can lie on them.

use std::collections::BTreeMap;

/// The defaults of the options that bounds name, in bytes. They are those of every policy so far.
const DEFAULTS: [(&str, u64); 7] = [
    ("max_request_bytes", 1_048_576),
    ("max_response_bytes", 1_048_576),
    ("max_line_bytes", 65_536),
    ("max_event_bytes", 262_144),
    ("max_header_bytes", 16_384),
    ("max_session_bytes", 256),
    ("max_control_bytes", 65_536),
];

/// The limits of the client as far as the peer can know them: those it was given, before the defaults.
pub(super) fn with_defaults(given: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut limits: BTreeMap<String, u64> =
        DEFAULTS.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    limits.extend(given.iter().map(|(name, value)| (name.clone(), *value)));
    limits
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_assay_client::Limits;

    #[test]
    fn the_defaults_are_those_of_the_built_in_client() {
        let own = Limits::default();
        let theirs = [
            ("max_request_bytes", own.max_request_bytes),
            ("max_response_bytes", own.max_response_bytes),
            ("max_line_bytes", own.max_line_bytes),
            ("max_event_bytes", own.max_event_bytes),
            ("max_header_bytes", own.max_header_bytes),
            ("max_session_bytes", own.max_session_bytes),
            ("max_control_bytes", own.max_control_bytes),
        ];
        assert_eq!(DEFAULTS.map(|(name, value)| (name, usize::try_from(value).unwrap())), theirs);
    }

    #[test]
    fn a_limit_that_is_given_stands_before_its_default() {
        let given = BTreeMap::from([("max_line_bytes".to_owned(), 9)]);
        let limits = with_defaults(&given);
        assert_eq!((limits["max_line_bytes"], limits["max_session_bytes"]), (9, 256));
        assert_eq!(limits.len(), DEFAULTS.len());
    }
}
