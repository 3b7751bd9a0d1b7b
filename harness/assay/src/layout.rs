//! Where things lie in a server's answer: head, chunks, content. Read on as bytes come, never changed.

use crate::case::reply::Framing;
use std::ops::Range;

/// The most header lines of an answer.
const LINES_MAX: usize = 256;

/// The most bytes of a head, a chunk size line or trailers.
const LINE_MAX: usize = 64 << 10;

/// An answer as far as its bytes have been looked at.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The status of the final reply; 0 before its head is whole.
    pub(crate) status: u16,
    /// Names in lower case and values of the final head.
    pub(crate) headers: Vec<(String, String)>,
    /// The final head, after the interim replies.
    pub(crate) head: Range<usize>,
    /// How the body's end is told.
    pub(crate) framing: Framing,
    /// The body, coding removed.
    pub(crate) content: Vec<u8>,
    /// The chunk size lines: start, digits, end.
    pub(crate) size_lines: Vec<(usize, usize, usize)>,
    /// Where the last chunk begins, the one of size 0.
    pub(crate) last_chunk: Option<usize>,
    /// Where pieces of the content lie: offset in the content, offset on the wire, length.
    pieces: Vec<(usize, usize, usize)>,
    /// How far the bytes have been looked at.
    at: usize,
    stage: Stage,
    /// The request was HEAD, so that no body follows.
    bodiless: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Head,
    Length(usize),
    Size,
    Data(usize),
    DataEnd,
    Trailers,
    /// Up to the connection's end: as framed, or because what came is no HTTP.
    Rest,
    Whole,
}

impl Layout {
    /// Nothing yet, of the answer to a request with this HTTP method.
    pub(crate) fn new(method: &str) -> Self {
        Self {
            status: 0,
            headers: Vec::new(),
            head: 0..0,
            framing: Framing::None,
            content: Vec::new(),
            size_lines: Vec::new(),
            last_chunk: None,
            pieces: Vec::new(),
            at: 0,
            stage: Stage::Head,
            bodiless: method == "HEAD",
        }
    }

    /// The layout of these bytes, as far as they go.
    pub(crate) fn of(raw: &[u8], method: &str) -> Self {
        let mut layout = Self::new(method);
        layout.read(raw);
        layout
    }

    /// Reads on in an answer that has grown to `raw`. Once it is whole, where it ends.
    pub(crate) fn read(&mut self, raw: &[u8]) -> Option<usize> {
        while self.stage != Stage::Whole {
            let rest = raw.get(self.at..).unwrap_or_default();
            let went_on = match self.stage {
                Stage::Head => self.head(rest),
                Stage::Length(left) => self.take(rest, left, Stage::Whole, Stage::Length),
                Stage::Size => self.size(rest),
                Stage::Data(left) => self.take(rest, left, Stage::DataEnd, Stage::Data),
                Stage::DataEnd => match rest {
                    [b'\r', b'\n', ..] => {
                        self.at += 2;
                        self.stage = Stage::Size;
                        true
                    }
                    [] | [b'\r'] => false,
                    _ => self.give_up(),
                },
                Stage::Trailers => self.trailers(rest),
                Stage::Rest => self.take(rest, usize::MAX, Stage::Rest, |_| Stage::Rest),
                Stage::Whole => false,
            };
            if !went_on {
                return None;
            }
        }
        Some(self.at)
    }

    /// Whether the head is there.
    pub(crate) fn has_head(&self) -> bool {
        self.status != 0
    }

    /// The values of one header of the final head.
    pub(crate) fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Whether the content is an event stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type").any(|value| value.trim_start().starts_with("text/event-stream"))
    }

    /// Where a cut before this byte of the content lies on the wire; the content's end comes before what follows it.
    pub(crate) fn on_wire(&self, at: usize) -> usize {
        match self.pieces.iter().rfind(|(start, _, len)| *start < at && at <= start + len) {
            Some((start, wire, _)) => wire + (at - start),
            None => self.pieces.first().map_or(self.head.end, |(_, wire, _)| *wire),
        }
    }

    fn head(&mut self, rest: &[u8]) -> bool {
        let mut lines = [httparse::EMPTY_HEADER; LINES_MAX];
        let mut reply = httparse::Response::new(&mut lines);
        let len = match reply.parse(rest) {
            Ok(httparse::Status::Complete(len)) => len,
            Ok(httparse::Status::Partial) if rest.len() < LINE_MAX => return false,
            Ok(httparse::Status::Partial) | Err(_) => return self.give_up(),
        };
        let status = reply.code.unwrap_or_default();
        let start = self.at;
        self.at += len;
        if (100..200).contains(&status) && status != 101 {
            return true;
        }
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        self.headers = reply.headers.iter().map(|h| (h.name.to_ascii_lowercase(), text(h.value))).collect();
        self.status = status;
        self.head = start..self.at;
        let chunked = self.header("transfer-encoding").any(|coding| coding.eq_ignore_ascii_case("chunked"));
        let length: Option<usize> = self.header("content-length").next().and_then(|v| v.trim().parse().ok());
        (self.framing, self.stage) = match (self.bodiless || matches!(status, 204 | 304), chunked, length) {
            (true, ..) => (Framing::None, Stage::Whole),
            (_, true, _) => (Framing::Chunked, Stage::Size),
            (_, _, Some(0)) => (Framing::Length, Stage::Whole),
            (_, _, Some(length)) => (Framing::Length, Stage::Length(length)),
            (_, _, None) => (Framing::Close, Stage::Rest),
        };
        true
    }

    fn size(&mut self, rest: &[u8]) -> bool {
        let (used, size) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete(found)) => found,
            Ok(httparse::Status::Partial) if rest.len() < LINE_MAX => return false,
            Ok(httparse::Status::Partial) | Err(_) => return self.give_up(),
        };
        let digits = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        self.size_lines.push((self.at, digits, self.at + used));
        if size == 0 {
            self.last_chunk = Some(self.at);
        }
        self.at += used;
        self.stage = match usize::try_from(size) {
            Ok(0) => Stage::Trailers,
            Ok(size) => Stage::Data(size),
            Err(_) => Stage::Rest,
        };
        true
    }

    fn trailers(&mut self, rest: &[u8]) -> bool {
        let end = if rest.starts_with(b"\r\n") {
            Some(2)
        } else {
            memchr::memmem::find(rest, b"\r\n\r\n").map(|end| end + 4)
        };
        match end {
            Some(end) => {
                self.at += end;
                self.stage = Stage::Whole;
                true
            }
            None if rest.len() < LINE_MAX => false,
            None => self.give_up(),
        }
    }

    /// Takes content, at most `left` bytes of it.
    fn take(&mut self, rest: &[u8], left: usize, then: Stage, more: fn(usize) -> Stage) -> bool {
        let taken = &rest[..left.min(rest.len())];
        if taken.is_empty() {
            return false;
        }
        self.pieces.push((self.content.len(), self.at, taken.len()));
        self.content.extend_from_slice(taken);
        self.at += taken.len();
        self.stage = if taken.len() == left { then } else { more(left - taken.len()) };
        true
    }

    /// What comes is no HTTP/1.1: all of it passes.
    fn give_up(&mut self) -> bool {
        self.framing = Framing::Close;
        self.stage = Stage::Rest;
        true
    }
}
