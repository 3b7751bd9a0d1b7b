//! The headers that the caller adds to every request.
//!
//! They are checked once, before anything is sent: there are at most [`MAX_HEADERS`], a name is a token that the client
//! does not set itself, a value is printable ASCII, and all together stay under `max_header_bytes`. Every byte of a name is looked at,
//! so a trailing line feed cannot slip through. No error quotes a name or a value.

use std::fmt;

use crate::error::{ConfigurationFault, Error};
use crate::policy::{HeaderValues, Policy};
use crate::rule::{Rule, rule};

/// Most headers that can be configured: far more than anyone needs, and far fewer than the tens of thousands
/// at which `http`'s `HeaderMap` is full and panics, however high `max_header_bytes` is.
pub(crate) const MAX_HEADERS: usize = 256;

/// The headers every request carries, in the order in which they were given. `Debug` shows their number only.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ConfiguredHeaders(Vec<(String, String)>);

impl ConfiguredHeaders {
    /// Checks the headers.
    ///
    /// # Errors
    ///
    /// `invalid_http_configuration` for their number, then for the first header that breaks a rule, then for their sum.
    pub(crate) fn new(headers: Vec<(String, String)>, policy: &Policy, limit: usize) -> Result<Self, Error> {
        let headers = if rule(Rule::HeaderBreaksRefused) && rule(Rule::HeaderNamesAreTokens) {
            headers
        } else {
            mended(headers)
        };
        check(&headers, policy, limit).map_err(Error::InvalidHttpConfiguration)?;
        Ok(Self(headers))
    }

    /// Names as they were given, and values. Not for errors and logs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for ConfiguredHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfiguredHeaders({} withheld)", self.0.len())
    }
}

fn check(headers: &[(String, String)], policy: &Policy, limit: usize) -> Result<(), ConfigurationFault> {
    if headers.len() > MAX_HEADERS {
        return Err(ConfigurationFault::HeaderCount { limit: MAX_HEADERS, actual: headers.len() });
    }
    let mut actual = 0_usize;
    for (index, (name, value)) in headers.iter().enumerate() {
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            return Err(ConfigurationFault::HeaderName { index });
        }
        let owned = policy.owned_headers.names().iter().find(|owned| name.eq_ignore_ascii_case(owned));
        if let Some(name) = owned.filter(|_| rule(Rule::ReservedHeaders)) {
            return Err(ConfigurationFault::ReservedHeader { index, name });
        }
        if let Some(offset) = value.bytes().position(|byte| !is_value_byte(byte, policy.header_values)) {
            return Err(ConfigurationFault::HeaderValue { index, offset });
        }
        actual = actual.saturating_add(name.len()).saturating_add(value.len());
    }
    if actual > limit && rule(Rule::ConfiguredAreBounded) {
        return Err(ConfigurationFault::HeaderBytes { limit, actual });
    }
    Ok(())
}

/// Headers without the bytes that they must not have, which takes a broken rule.
fn mended(headers: Vec<(String, String)>) -> Vec<(String, String)> {
    let mend = |(mut name, mut value): (String, String)| {
        if !rule(Rule::HeaderNamesAreTokens) {
            name.retain(|c| u8::try_from(c).is_ok_and(is_token_byte));
            name.insert(0, 'x');
        }
        if !rule(Rule::HeaderBreaksRefused) {
            value.retain(|c| !c.is_ascii_control());
        }
        (name, value)
    };
    headers.into_iter().map(mend).collect()
}

/// RFC 9110 section 5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value_byte(byte: u8, allowed: HeaderValues) -> bool {
    match allowed {
        HeaderValues::Printable if !rule(Rule::HeaderValuesPrintable) => {
            matches!(byte, b'\t' | 0x20..=0x7E | 0x80..)
        }
        HeaderValues::Printable => matches!(byte, 0x20..=0x7E),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configure(name: &str, value: &str) -> Result<ConfiguredHeaders, ConfigurationFault> {
        sized(&[(name, value)], 16_384)
    }

    fn sized(headers: &[(&str, &str)], limit: usize) -> Result<ConfiguredHeaders, ConfigurationFault> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        ConfiguredHeaders::new(headers, &Policy::exagent(), limit).map_err(|error| match error {
            Error::InvalidHttpConfiguration(fault) => fault,
            other => panic!("{other:?}"),
        })
    }

    /// Row EX-CFG-04.
    #[test]
    fn reserved_names_are_refused_in_any_case() {
        for &name in Policy::exagent().owned_headers.names() {
            let fault = Err(ConfigurationFault::ReservedHeader { index: 0, name });
            assert_eq!(configure(name, "x"), fault);
            assert_eq!(configure(&name.to_ascii_uppercase(), "x"), fault);
        }
        assert!(matches!(configure("MCP-Session-ID", "x"), Err(ConfigurationFault::ReservedHeader { .. })));
        assert!(matches!(configure("Content-Type", "x"), Err(ConfigurationFault::ReservedHeader { .. })));
    }

    /// Row EX-CFG-05.
    #[test]
    fn a_line_break_in_a_value_is_refused_without_being_quoted() {
        let fault = configure("Authorization", "Bearer hunter2\r\nx: y").unwrap_err();
        assert_eq!(fault, ConfigurationFault::HeaderValue { index: 0, offset: 14 });
        assert!(!format!("{fault} {fault:?}").contains("hunter2"));
    }

    /// Row EX-CFG-06.
    #[test]
    fn values_are_printable_ascii() {
        for value in ["a\tb", "\0", "\u{1f}", "\u{7f}", "é", "雪"] {
            assert!(
                matches!(configure("x", value), Err(ConfigurationFault::HeaderValue { .. })),
                "{value:?}"
            );
        }
        let printable: String = (' '..='~').collect();
        assert!(configure("x", &printable).is_ok());
        assert!(configure("x", "").is_ok());
    }

    /// Row EX-CFG-07.
    #[test]
    fn names_are_tokens_to_the_last_byte() {
        for name in ["", "x y", "x:", "x\n", "x\r\n", "\nx", "é", "x\0", "(x)"] {
            assert_eq!(configure(name, "v"), Err(ConfigurationFault::HeaderName { index: 0 }), "{name:?}");
        }
        assert!(configure("!#$%&'*+-.^_`|~09azAZ", "v").is_ok());
    }

    /// Row EX-CFG-09.
    #[test]
    fn the_sum_of_names_and_values_is_bounded_inclusively() {
        let headers = [("abc", "12"), ("d", "3456")];
        assert!(sized(&headers, 10).is_ok());
        assert_eq!(sized(&headers, 9), Err(ConfigurationFault::HeaderBytes { limit: 9, actual: 10 }));
        assert!(matches!(sized(&[("x", "y")], 1), Err(ConfigurationFault::HeaderBytes { .. })));
    }

    /// Whatever `max_header_bytes` allows.
    #[test]
    fn the_number_of_headers_is_bounded_inclusively() {
        let headers = |number: usize| sized(&vec![("x", "y"); number], usize::MAX);
        assert_eq!(headers(256).unwrap().iter().count(), 256);
        let fault = headers(257).unwrap_err();
        assert_eq!(fault, ConfigurationFault::HeaderCount { limit: 256, actual: 257 });
        assert_eq!(fault.to_string(), "there are 257 configured headers, 256 are allowed");
        assert!(matches!(headers(40_000), Err(ConfigurationFault::HeaderCount { actual: 40_000, .. })));
    }

    /// Row EX-CFG-17.
    #[test]
    fn authorization_belongs_to_the_caller() {
        let headers = configure("Authorization", "Bearer hunter2").unwrap();
        assert_eq!(headers.iter().collect::<Vec<_>>(), [("Authorization", "Bearer hunter2")]);
        assert_eq!(format!("{headers:?}"), "ConfiguredHeaders(1 withheld)");
    }
}
