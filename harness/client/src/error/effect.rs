//! Whether a failed request may have had its effect.

use std::fmt;

/// What is known about a failed request's effect on the server.
///
/// ```
/// use mcp_assay_client::{Effect, Error};
///
/// fn may_send_again(error: &Error) -> bool {
///     error.effect() == Effect::NotSent
/// }
///
/// assert!(may_send_again(&Error::Busy { limit: 128 }));
/// assert!(!may_send_again(&Error::Timeout { effect: Effect::Uncertain }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The request surely did not leave; sending it again is safe.
    NotSent,
    /// The request left, or may have, and no answer to it was accepted. It may have had its effect.
    Uncertain,
    /// The server answered this request, and the answer is the error.
    Answered,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSent => "the request was not sent",
            Self::Uncertain => "the request may have had its effect",
            Self::Answered => "the server answered the request",
        })
    }
}
