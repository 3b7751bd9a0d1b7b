//! Reading requests strictly: what a client sends is kept raw, and anything else than HTTP/1.x is told apart.

use bytes::{Buf as _, Bytes, BytesMut};

/// The most bytes a request head may have.
pub const HEAD_MAX: usize = 64 << 10;

/// The most bytes a request body may have, transfer coding removed.
pub const BODY_MAX: usize = 16 << 20;

/// The most header lines.
const LINES_MAX: usize = 256;

/// One whole request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) method: String,
    pub(crate) target: String,
    /// Names in lower case; bytes above 0x7F in values are U+FFFD.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) head: Bytes,
    pub(crate) body: Bytes,
    /// Everything as it came: the head, and the body in its coding.
    pub(crate) raw: Bytes,
    /// Whether the client wants the connection closed after the reply.
    pub(crate) close: bool,
}

/// What the bytes so far are.
#[derive(Debug, PartialEq)]
pub(crate) enum Progress {
    /// The beginning of a request.
    Partial,
    /// A whole head whose client waits for leave to send the body (`expect: 100-continue`); told once.
    Continue,
    /// A whole request, taken out of the buffer.
    Whole(Box<Parsed>),
    /// No request: what was expected and what was seen.
    Bad(String),
}

/// Reads the requests of one connection out of its buffer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    head: Option<Head>,
}

#[derive(Debug)]
struct Head {
    parsed: Parsed,
    len: usize,
    body: Body,
    expects: bool,
}

#[derive(Debug)]
enum Body {
    Length(usize),
    /// The body so far, and how far the coding has been read.
    Chunked {
        body: BytesMut,
        at: usize,
        stage: Stage,
    },
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Size,
    Data(usize),
    DataEnd,
    Trailers,
}

impl Reader {
    /// Looks at the bytes so far; a whole request is taken out of the buffer.
    pub(crate) fn read(&mut self, buffer: &mut BytesMut) -> Progress {
        match self.try_read(buffer) {
            Ok(progress) => progress,
            Err(problem) => Progress::Bad(problem),
        }
    }

    fn try_read(&mut self, buffer: &mut BytesMut) -> Result<Progress, String> {
        let mut head = match self.head.take() {
            Some(head) => head,
            None => match parse_head(buffer)? {
                Some(head) => head,
                None if buffer.len() >= HEAD_MAX => {
                    return Err(format!(
                        "expected a request head of at most {HEAD_MAX} bytes, it goes on after that"
                    ));
                }
                None => return Ok(Progress::Partial),
            },
        };
        let end = match &mut head.body {
            Body::Length(len) => Some(head.len + *len).filter(|end| buffer.len() >= *end),
            Body::Chunked { body, at, stage } => unchunk(buffer, body, at, stage)?,
        };
        let Some(end) = end else {
            let waits = std::mem::take(&mut head.expects) && buffer.len() == head.len;
            self.head = Some(head);
            return Ok(if waits { Progress::Continue } else { Progress::Partial });
        };
        let whole = buffer.split_to(end).freeze();
        let body = match head.body {
            Body::Length(_) => whole.slice(head.len..),
            Body::Chunked { body, .. } => body.freeze(),
        };
        Ok(Progress::Whole(Box::new(Parsed {
            head: whole.slice(..head.len),
            body,
            raw: whole,
            ..head.parsed
        })))
    }
}

fn parse_head(buffer: &[u8]) -> Result<Option<Head>, String> {
    let mut lines = [httparse::EMPTY_HEADER; LINES_MAX];
    let mut request = httparse::Request::new(&mut lines);
    // Only as much as a head may have is looked at, so that a long one costs no more than that.
    let looked_at = &buffer[..buffer.len().min(HEAD_MAX)];
    let len = match request.parse(looked_at) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(problem) => return Err(format!("expected an HTTP/1.x request head, saw: {problem}")),
    };
    let headers: Vec<(String, String)> =
        request.headers.iter().map(|line| (line.name.to_ascii_lowercase(), lossy(line.value))).collect();
    let values = |name: &str| -> Vec<&str> {
        headers.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str()).collect()
    };
    let body = body_of(&values("transfer-encoding"), &values("content-length"), len)?;
    let says = |name: &str, word: &str| {
        values(name)
            .iter()
            .flat_map(|value| value.split(','))
            .any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    let close =
        says("connection", "close") || (request.version == Some(0) && !says("connection", "keep-alive"));
    let expects = says("expect", "100-continue");
    let parsed = Parsed {
        method: request.method.unwrap_or_default().to_owned(),
        target: request.path.unwrap_or_default().to_owned(),
        headers,
        head: Bytes::new(),
        body: Bytes::new(),
        raw: Bytes::new(),
        close,
    };
    Ok(Some(Head { parsed, len, body, expects }))
}

fn body_of(codings: &[&str], lengths: &[&str], head: usize) -> Result<Body, String> {
    match (codings, lengths) {
        ([], []) => Ok(Body::Length(0)),
        ([], [length]) if !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit()) => {
            match length.parse() {
                Ok(len) if len <= BODY_MAX => Ok(Body::Length(len)),
                _ => Err(format!(
                    "expected a request body of at most {BODY_MAX} bytes, content-length says {length}"
                )),
            }
        }
        ([coding], []) if coding.eq_ignore_ascii_case("chunked") => {
            Ok(Body::Chunked { body: BytesMut::new(), at: head, stage: Stage::Size })
        }
        _ => Err(format!(
            "expected one content-length of digits or transfer-encoding: chunked, saw content-length {lengths:?} and \
             transfer-encoding {codings:?}"
        )),
    }
}

/// Reads on in a chunked body; the offset behind it once all is there.
fn unchunk(
    buffer: &[u8],
    body: &mut BytesMut,
    at: &mut usize,
    stage: &mut Stage,
) -> Result<Option<usize>, String> {
    loop {
        let rest = buffer.get(*at..).unwrap_or_default();
        match *stage {
            Stage::Size => {
                let (used, size) = match httparse::parse_chunk_size(rest) {
                    Ok(httparse::Status::Complete(found)) => found,
                    Ok(httparse::Status::Partial) if rest.len() > HEAD_MAX => {
                        return Err(format!(
                            "expected a chunk size line of at most {HEAD_MAX} bytes, it goes on"
                        ));
                    }
                    Ok(httparse::Status::Partial) => return Ok(None),
                    Err(_) => return Err(format!("expected a chunk size line, saw {}", seen(rest))),
                };
                let size = usize::try_from(size).ok().filter(|size| *size <= BODY_MAX - body.len());
                let size = size.ok_or_else(|| {
                    format!("expected a request body of at most {BODY_MAX} bytes, chunks hold more")
                })?;
                *at += used;
                *stage = if size == 0 { Stage::Trailers } else { Stage::Data(size) };
            }
            Stage::Data(left) => {
                let taken = left.min(rest.len());
                body.extend_from_slice(&rest[..taken]);
                *at += taken;
                *stage = if taken == left { Stage::DataEnd } else { Stage::Data(left - taken) };
                if taken < left {
                    return Ok(None);
                }
            }
            Stage::DataEnd => match rest {
                [b'\r', b'\n', ..] => {
                    *at += 2;
                    *stage = Stage::Size;
                }
                [] | [b'\r'] => return Ok(None),
                _ => return Err(format!("expected CR LF after the data of a chunk, saw {}", seen(rest))),
            },
            Stage::Trailers => {
                if rest.starts_with(b"\r\n") {
                    return Ok(Some(*at + 2));
                }
                let Some(end) = memchr::memmem::find(rest, b"\r\n\r\n") else {
                    if rest.len() > HEAD_MAX {
                        return Err(format!(
                            "expected trailers of at most {HEAD_MAX} bytes, they go on after that"
                        ));
                    }
                    return Ok(None);
                };
                return Ok(Some(*at + end + 4));
            }
        }
    }
}

/// The first bytes of something, readable.
fn seen(bytes: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(16)]))
}

fn lossy(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// How many bytes a connection may hold unread: a head and a body with room for its coding.
pub(crate) const BUFFER_MAX: usize = HEAD_MAX + 2 * BODY_MAX;

/// Takes what is left of an unreadable connection, for the record: at most [`HEAD_MAX`] bytes.
pub(crate) fn take_raw(buffer: &mut BytesMut) -> Bytes {
    let raw = buffer.split_to(buffer.len().min(HEAD_MAX)).freeze();
    buffer.advance(buffer.len());
    raw
}
