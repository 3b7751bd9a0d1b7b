//! Every bound of the client, in one place.

use std::time::Duration;

use crate::error::{ConfigurationFault, Error, OptionFault};

/// The longest timeout that can be set: 2³² − 1 milliseconds, about 49 days.
///
/// ```
/// use mcp_assay_client::limits::MAX_TIMEOUT;
///
/// assert_eq!(MAX_TIMEOUT.as_millis(), (1 << 32) - 1);
/// ```
pub const MAX_TIMEOUT: Duration = Duration::from_millis(u32::MAX as u64);

/// The bounds of a client. All are inclusive; sizes are encoded bytes, never characters.
///
/// ```
/// use mcp_assay_client::limits::Limits;
/// use std::time::Duration;
///
/// let limits = Limits::default().timeout(Duration::from_secs(2)).max_response_bytes(65_536);
/// assert_eq!(limits.max_line_bytes, 65_536);
/// ```
///
/// A size or a count is a `usize` and a timeout a `Duration`: what is negative or no integer does not compile. Rows
/// EX-CFG-08, EX-CFG-14.
///
/// ```compile_fail
/// mcp_assay_client::Limits::default().max_controls(-1);
/// ```
///
/// ```compile_fail
/// mcp_assay_client::Limits::default().max_response_bytes(1.5);
/// ```
///
/// ```compile_fail
/// mcp_assay_client::Limits::default().timeout(5_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// A whole request, and the whole handshake. 5 s. Error: `timeout`.
    pub timeout: Duration,
    /// Initialized, control replies, cancellations and DELETE, each. 1 s. Error: `timeout`.
    pub control_timeout: Duration,
    /// Pending requests, checked before encoding and IO. 128. Error: `busy`.
    pub max_pending: usize,
    /// Connections open at once. 8. A request without one waits until its own deadline.
    pub max_connections: usize,
    /// An encoded request body. 1 048 576. Error: `request_byte_limit`.
    pub max_request_bytes: usize,
    /// A response body, stream metadata included, through the terminal event's delimiter. 1 048 576. Error:
    /// `response_byte_limit`.
    pub max_response_bytes: usize,
    /// A stream line without its end. 65 536. Error: `sse_line_limit`.
    pub max_line_bytes: usize,
    /// An event's data lines, joined with the newlines between them. 262 144. Error: `sse_event_limit`.
    pub max_event_bytes: usize,
    /// Names and values of the configured headers, of which there are at most 256 whatever this says; and those of a
    /// response with its trailers. 16 384. Errors: `invalid_http_configuration`, `header_byte_limit`, `invalid_trailers`.
    pub max_header_bytes: usize,
    /// A session id. 256. Error: `invalid_session_id`.
    pub max_session_bytes: usize,
    /// Tools of a catalogue. 256. Error: `discovery_limit`.
    pub max_tools: usize,
    /// Control messages (server requests and notifications) of one response. 16. Error: `control_count_limit`.
    pub max_controls: usize,
    /// The data of one response's control messages, summed; and an outgoing control body. 65 536. Errors:
    /// `control_byte_limit`, `request_byte_limit`.
    pub max_control_bytes: usize,
    /// Cancellations on their way at once. 4. Further ones are not sent.
    pub max_control_workers: usize,
    /// Nesting of arrays and objects in a message. 128. Error: `json_depth_limit`.
    pub max_json_depth: usize,
    /// Values in a message: objects, arrays, strings, numbers, literals; keys do not count. 262 144. Error:
    /// `json_node_limit`.
    pub max_json_nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            control_timeout: Duration::from_secs(1),
            max_pending: 128,
            max_connections: 8,
            max_request_bytes: 1_048_576,
            max_response_bytes: 1_048_576,
            max_line_bytes: 65_536,
            max_event_bytes: 262_144,
            max_header_bytes: 16_384,
            max_session_bytes: 256,
            max_tools: 256,
            max_controls: 16,
            max_control_bytes: 65_536,
            max_control_workers: 4,
            max_json_depth: 128,
            max_json_nodes: 262_144,
        }
    }
}

/// Writes a setter for each limit, the list of names, and access by name.
macro_rules! by_name {
    (times: $($time:ident)*; sizes: $($size:ident)*) => {
        impl Limits {
            /// The names of all limits, as [`Limits::set`] takes them.
            ///
            /// ```
            /// use mcp_assay_client::Limits;
            ///
            /// assert!(Limits::NAMES.contains(&"max_response_bytes"));
            /// ```
            pub const NAMES: &[&str] = &[$(stringify!($time),)* $(stringify!($size),)*];

            $(
                #[doc = concat!("Sets [`Limits::", stringify!($time), "`](#structfield.", stringify!($time), ").")]
                #[doc = ""]
                #[doc = "```"]
                #[doc = "let time = std::time::Duration::from_secs(2);"]
                #[doc = concat!("let limits = mcp_assay_client::Limits::default().", stringify!($time), "(time);")]
                #[doc = concat!("assert_eq!(limits.", stringify!($time), ", time);")]
                #[doc = "```"]
                #[must_use]
                pub fn $time(mut self, value: Duration) -> Self {
                    self.$time = value;
                    self
                }
            )*
            $(
                #[doc = concat!("Sets [`Limits::", stringify!($size), "`](#structfield.", stringify!($size), ").")]
                #[doc = ""]
                #[doc = "```"]
                #[doc = concat!("let limits = mcp_assay_client::Limits::default().", stringify!($size), "(7);")]
                #[doc = concat!("assert_eq!(limits.", stringify!($size), ", 7);")]
                #[doc = "```"]
                #[must_use]
                pub fn $size(mut self, value: usize) -> Self {
                    self.$size = value;
                    self
                }
            )*

            /// Sets a limit by its name; times are milliseconds.
            ///
            /// Zero is taken here and refused when the client connects.
            ///
            /// # Errors
            ///
            /// `invalid_option` for a name that no limit has, or a value this machine cannot count to.
            ///
            /// ```
            /// use mcp_assay_client::Limits;
            /// use std::time::Duration;
            ///
            /// let mut limits = Limits::default();
            /// limits.set("timeout", 250)?;
            /// limits.set("max_tools", 10)?;
            /// assert_eq!((limits.timeout, limits.max_tools), (Duration::from_millis(250), 10));
            /// # Ok::<(), mcp_assay_client::Error>(())
            /// ```
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), Error> {
                match name {
                    $(stringify!($time) => self.$time = Duration::from_millis(value),)*
                    $(stringify!($size) => {
                        self.$size = usize::try_from(value).map_err(|_| {
                            Error::InvalidOption(OptionFault::TooLarge { option: stringify!($size) })
                        })?;
                    })*
                    _ => return Err(Error::InvalidOption(OptionFault::Unknown)),
                }
                Ok(())
            }

            /// Moves a limit by one.
            #[cfg(feature = "mutants")]
            pub(crate) fn moved(mut self, name: &str, side: crate::switch::Side) -> Self {
                match name {
                    $(stringify!($time) => self.$time = side.time(self.$time),)*
                    $(stringify!($size) => self.$size = side.size(self.$size),)*
                    _ => {}
                }
                self
            }

            /// Refuses zeros, and timeouts beyond [`MAX_TIMEOUT`].
            ///
            /// # Errors
            ///
            /// `invalid_option` for `timeout` and `max_pending`, `invalid_http_configuration` for the others.
            pub(crate) fn validate(&self) -> Result<(), Error> {
                $(
                    if self.$time.is_zero() {
                        return Err(zero(stringify!($time)));
                    }
                    if self.$time > MAX_TIMEOUT {
                        return Err(too_large(stringify!($time)));
                    }
                )*
                $(if self.$size == 0 {
                    return Err(zero(stringify!($size)));
                })*
                Ok(())
            }
        }
    };
}

by_name! {
    times: timeout control_timeout;
    sizes: max_pending max_connections max_request_bytes max_response_bytes max_line_bytes max_event_bytes
        max_header_bytes max_session_bytes max_tools max_controls max_control_bytes max_control_workers
        max_json_depth max_json_nodes
}

/// The two options that ExAgent's client checks itself, before its HTTP transport checks the rest.
fn is_client_option(option: &str) -> bool {
    matches!(option, "timeout" | "max_pending")
}

fn zero(option: &'static str) -> Error {
    if is_client_option(option) {
        Error::InvalidOption(OptionFault::Zero { option })
    } else {
        Error::InvalidHttpConfiguration(ConfigurationFault::ZeroLimit { option })
    }
}

fn too_large(option: &'static str) -> Error {
    if is_client_option(option) {
        Error::InvalidOption(OptionFault::TooLarge { option })
    } else {
        Error::InvalidHttpConfiguration(ConfigurationFault::LimitTooLarge { option })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row EX-CFG-01.
    #[test]
    fn defaults_are_accepted() {
        assert_eq!(Limits::default().validate(), Ok(()));
    }

    /// Row EX-CFG-01.
    #[test]
    fn defaults_are_the_documented_ones() {
        let documented = Limits {
            timeout: Duration::from_millis(5_000),
            control_timeout: Duration::from_millis(1_000),
            max_pending: 128,
            max_connections: 8,
            max_request_bytes: 1_048_576,
            max_response_bytes: 1_048_576,
            max_line_bytes: 65_536,
            max_event_bytes: 262_144,
            max_header_bytes: 16_384,
            max_session_bytes: 256,
            max_tools: 256,
            max_controls: 16,
            max_control_bytes: 65_536,
            max_control_workers: 4,
            max_json_depth: 128,
            max_json_nodes: 262_144,
        };
        assert_eq!(Limits::default(), documented);
        assert_eq!(crate::endpoint::MAX_URL_BYTES, 8_192);
    }

    /// Rows EX-CFG-08, EX-CFG-14.
    #[test]
    fn zero_is_refused_for_every_limit() {
        for name in Limits::NAMES {
            let mut limits = Limits::default();
            limits.set(name, 0).unwrap();
            let expected = match *name {
                "timeout" | "max_pending" => "invalid_option",
                _ => "invalid_http_configuration",
            };
            assert_eq!(limits.validate().unwrap_err().kind(), expected, "{name}");
            limits.set(name, 1).unwrap();
            assert_eq!(limits.validate(), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_timeout_no_timer_can_hold_is_refused() {
        let limits = Limits::default().timeout(Duration::MAX);
        assert_eq!(limits.validate().unwrap_err().kind(), "invalid_option");
        assert_eq!(Limits::default().control_timeout(MAX_TIMEOUT).validate(), Ok(()));
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        assert_eq!(Limits::default().set("max_luck", 1), Err(Error::InvalidOption(OptionFault::Unknown)));
    }
}
