//! What bounds a stream.

use crate::limits::Limits;

/// The bounds of a stream, all inclusive and in bytes.
///
/// ```
/// use mcp_assay_client::sse::{Decoder, SseLimits};
///
/// let limits = SseLimits { max_line_bytes: 8, ..SseLimits::default() };
/// let mut line: &[u8] = b"data: too long";
/// assert_eq!(Decoder::new(limits).next(&mut line).unwrap_err().kind(), "sse_line_limit");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseLimits {
    /// A line without its end.
    pub max_line_bytes: usize,
    /// An event's data lines, joined.
    pub max_event_bytes: usize,
    /// All bytes consumed.
    pub max_response_bytes: usize,
}

impl Default for SseLimits {
    /// The defaults of [`Limits`].
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

impl From<&Limits> for SseLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            max_line_bytes: limits.max_line_bytes,
            max_event_bytes: limits.max_event_bytes,
            max_response_bytes: limits.max_response_bytes,
        }
    }
}
