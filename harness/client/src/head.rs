//! A strict reading of response heads, byte by byte and free of IO.
//!
//! hyper parses the heads; this reader stands before it and decides the things hyper does not: it refuses a bare
//! line feed, white space where none belongs and a head that outgrows its bound, at the byte where it happens. So the
//! outcome depends on the bytes alone, never on how the network cut them.

use crate::rule::{Rule, rule};

/// Most interim (1xx) heads before the final one.
const MAX_INTERIM: u32 = 16;
/// Most header lines of one head.
pub(crate) const MAX_HEADER_LINES: u32 = 256;
/// Raw bytes a line may have beside its name and value: `: ` and the line's end.
pub(crate) const LINE_ALLOWANCE: usize = 4;
/// Raw bytes the status lines may have together, with whatever white space pads the values.
pub(crate) const STATUS_ALLOWANCE: usize = 512;

/// Why a head was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadFault {
    /// A byte that no head may hold at this place.
    Malformed,
    /// More raw bytes, header lines or interim heads than the bounds allow.
    TooLarge,
}

/// Where the next byte belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In `HTTP/1.`, so many bytes of it read.
    Version(usize),
    /// The minor version.
    Minor,
    /// The space after the version.
    Space,
    /// In the status, so many digits read.
    Status(u8),
    /// After the status: a space or the line's end.
    StatusEnd,
    Reason,
    StatusLf,
    LineStart,
    Name,
    Value,
    ValueLf,
    HeadLf,
    /// The final head is over; what follows is body.
    Body,
}

/// Reads the heads of one response: up to 16 interim ones and the final one.
#[derive(Debug)]
pub(crate) struct HeadReader {
    limit: usize,
    place: Place,
    status: u16,
    raw: usize,
    lines: usize,
    header_lines: u32,
    interim: u32,
}

impl HeadReader {
    /// A reader at the start of a response whose heads hold about `max_header_bytes` of names and values.
    pub(crate) fn new(max_header_bytes: usize) -> Self {
        Self {
            limit: max_header_bytes,
            place: Place::Version(0),
            status: 0,
            raw: 0,
            lines: 1,
            header_lines: 0,
            interim: 0,
        }
    }

    /// Makes ready for the next response on the same connection.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.limit);
    }

    /// Looks at the next bytes of the connection; those after the final head's end are not looked at.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), HeadFault> {
        for &byte in bytes {
            if self.place == Place::Body {
                break;
            }
            self.raw += 1;
            self.place = self.step(byte)?;
            let bound = self
                .limit
                .saturating_add(LINE_ALLOWANCE.saturating_mul(self.lines))
                .saturating_add(STATUS_ALLOWANCE);
            if self.raw > bound {
                return Err(HeadFault::TooLarge);
            }
        }
        Ok(())
    }

    fn step(&mut self, byte: u8) -> Result<Place, HeadFault> {
        const VERSION: &[u8] = b"HTTP/1.";
        match (self.place, byte) {
            (Place::Version(n), _) if VERSION.get(n) == Some(&byte) => {
                Ok(if n + 1 == VERSION.len() { Place::Minor } else { Place::Version(n + 1) })
            }
            (Place::Minor, b'0' | b'1') => Ok(Place::Space),
            (Place::Space, b' ') => {
                self.status = 0;
                Ok(Place::Status(0))
            }
            (Place::Status(0), b'1'..=b'9') | (Place::Status(1..), b'0'..=b'9') => {
                let Place::Status(digits) = self.place else { return Err(HeadFault::Malformed) };
                self.status = self.status * 10 + u16::from(byte - b'0');
                Ok(if digits == 2 { Place::StatusEnd } else { Place::Status(digits + 1) })
            }
            (Place::StatusEnd, b' ') => Ok(Place::Reason),
            (Place::StatusEnd | Place::Reason, b'\r') => Ok(Place::StatusLf),
            (Place::Reason, _) if is_text(byte) => Ok(Place::Reason),
            (Place::Reason | Place::Value, b'\n') if !rule(Rule::LineFeedsNeedReturns) => {
                Ok(Place::LineStart)
            }
            (Place::LineStart, b'\n') if !rule(Rule::LineFeedsNeedReturns) => self.end_head(),
            (Place::StatusLf | Place::ValueLf, b'\n') => {
                self.lines += 1;
                Ok(Place::LineStart)
            }
            (Place::LineStart, b'\r') => Ok(Place::HeadLf),
            (Place::LineStart | Place::Name, b'A'..=b'Z') if !rule(Rule::HeaderNamesAnyCase) => {
                Err(HeadFault::Malformed)
            }
            (Place::LineStart, _) if is_token(byte) => {
                self.header_lines += 1;
                if self.header_lines > MAX_HEADER_LINES && rule(Rule::HeaderLinesAreBounded) {
                    return Err(HeadFault::TooLarge);
                }
                Ok(Place::Name)
            }
            (Place::Name, b':') => Ok(Place::Value),
            (Place::Name, _) if is_token(byte) => Ok(Place::Name),
            (Place::Value, b'\r') => Ok(Place::ValueLf),
            (Place::Value, _) if is_text(byte) => Ok(Place::Value),
            (Place::HeadLf, b'\n') => self.end_head(),
            _ => Err(HeadFault::Malformed),
        }
    }

    /// An interim head is followed by another head; 101 is final, since what follows it is no HTTP.
    fn end_head(&mut self) -> Result<Place, HeadFault> {
        if !(100..200).contains(&self.status) || self.status == 101 {
            return Ok(Place::Body);
        }
        if !rule(Rule::InterimPasses) {
            return Err(HeadFault::Malformed);
        }
        self.interim += 1;
        if self.interim > MAX_INTERIM && rule(Rule::InterimIsBounded) {
            return Err(HeadFault::TooLarge);
        }
        self.lines += 1;
        self.header_lines = 0;
        Ok(Place::Version(0))
    }
}

/// A byte of a field value or a reason phrase (RFC 9110 section 5.5): visible, space, tab or above ASCII.
fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

/// A byte of a field name (RFC 9110 section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole_and_bytewise(limit: usize, bytes: &[u8]) -> Result<bool, HeadFault> {
        let mut whole = HeadReader::new(limit);
        let a = whole.read(bytes).map(|()| whole.place == Place::Body);
        let mut bytewise = HeadReader::new(limit);
        let b = bytes
            .iter()
            .try_for_each(|byte| bytewise.read(std::slice::from_ref(byte)))
            .map(|()| bytewise.place == Place::Body);
        assert_eq!(a, b, "the cut decided");
        a
    }

    #[test]
    fn a_plain_head_ends_where_the_body_starts() {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n\n\x00body";
        assert_eq!(whole_and_bytewise(100, head), Ok(true));
        assert_eq!(whole_and_bytewise(100, b"HTTP/1.1 200\r\n\r\n"), Ok(true));
        assert_eq!(whole_and_bytewise(100, b"HTTP/1.1 200 OK\r\nx: y\r\n"), Ok(false));
    }

    #[test]
    fn a_malformed_byte_is_refused_at_once() {
        for head in [
            &b"HTTP/1.1 200 OK\n"[..],
            b"HTTP/1.1 200 OK\r\nx: y\n",
            b"HTTP/1.1 200 OK\r\nx : y",
            b"HTTP/1.1 200 OK\r\n folded",
            b"HTTP/1.1 200 OK\r\n: y",
            b"HTTP/1.1 200 OK\r\nx: \x7f",
            b"HTTP/1.1 200 OK\r\nx: \x01",
            b"HTTP/1.1 099",
            b"HTTP/1.1 20x",
            b"HTTP/2",
            b"\r\n",
            b"SSH",
        ] {
            assert_eq!(whole_and_bytewise(100, head), Err(HeadFault::Malformed), "{}", head.escape_ascii());
        }
    }

    #[test]
    fn sixteen_interim_heads_pass_and_one_more_does_not() {
        let mut head = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(16);
        let with_final = [&head[..], b"HTTP/1.1 200 OK\r\n\r\n"].concat();
        assert_eq!(whole_and_bytewise(1, &with_final), Ok(true));
        head.extend_from_slice(b"HTTP/1.1 103 Early Hints\r\n\r\n");
        assert_eq!(whole_and_bytewise(1_000, &head), Err(HeadFault::TooLarge));
    }

    #[test]
    fn the_raw_bound_is_coarse_but_certain() {
        let endless = [&b"HTTP/1.1 200 OK\r\nx: "[..], &vec![b'y'; 2_000]].concat();
        assert_eq!(whole_and_bytewise(1_000, &endless), Err(HeadFault::TooLarge));
        let lines = [&b"HTTP/1.1 200 OK\r\n"[..], &b"x: y\r\n".repeat(257)].concat();
        assert_eq!(whole_and_bytewise(100_000, &lines), Err(HeadFault::TooLarge));
        let lines = [&b"HTTP/1.1 200 OK\r\n"[..], &b"x: y\r\n".repeat(256), b"\r\n"].concat();
        assert_eq!(whole_and_bytewise(512, &lines), Ok(true));
    }
}
