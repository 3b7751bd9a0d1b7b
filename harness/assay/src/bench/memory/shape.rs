//! What a peer offers without end.

use bytes::Bytes;
use mcp_assay_client::Limits;

/// A shape of what comes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    /// A stream of one line.
    OneLine,
    /// A stream of comments.
    Comments,
    /// A stream of notifications.
    Notifications,
    /// A head without end.
    HeadLines,
    /// Interim replies without end.
    InterimReplies,
    /// A body where the answer to a control reply must have none.
    BodyOn202,
    /// A body with a failure.
    BodyOn500,
    /// A JSON body at the limit.
    Json(Filling),
    /// A stream at the limit: comments, then the answer, an event at its limit in lines at theirs.
    Sse(Filling),
}

/// What a message at the limit is made of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Filling {
    /// `{"a":0},`
    Objects,
    /// `[0],`
    Arrays,
    /// `0,`
    Numbers,
    /// `[[[…]]]`, again and again as deep as may be.
    Deep,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 15] = [
        Self::OneLine,
        Self::Comments,
        Self::Notifications,
        Self::HeadLines,
        Self::InterimReplies,
        Self::BodyOn202,
        Self::BodyOn500,
        Self::Json(Filling::Objects),
        Self::Json(Filling::Arrays),
        Self::Json(Filling::Numbers),
        Self::Json(Filling::Deep),
        Self::Sse(Filling::Objects),
        Self::Sse(Filling::Arrays),
        Self::Sse(Filling::Numbers),
        Self::Sse(Filling::Deep),
    ];

    /// Its name: the tool that a client calls to get it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OneLine => "one-line",
            Self::Comments => "comments",
            Self::Notifications => "notifications",
            Self::HeadLines => "head-lines",
            Self::InterimReplies => "interim-replies",
            Self::BodyOn202 => "body-on-202",
            Self::BodyOn500 => "body-on-500",
            Self::Json(Filling::Objects) => "json-objects",
            Self::Json(Filling::Arrays) => "json-arrays",
            Self::Json(Filling::Numbers) => "json-numbers",
            Self::Json(Filling::Deep) => "json-deep",
            Self::Sse(Filling::Objects) => "sse-objects",
            Self::Sse(Filling::Arrays) => "sse-arrays",
            Self::Sse(Filling::Numbers) => "sse-numbers",
            Self::Sse(Filling::Deep) => "sse-deep",
        }
    }

    /// What starts the reply to the call of this id, and what follows again and again.
    pub(super) fn offer(self, id: &str, limits: &Limits) -> (Bytes, Bytes) {
        let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        match self {
            Self::OneLine => (bytes(&format!("{stream}data: ")), vec![b'x'; 65_536].into()),
            Self::Comments => (bytes(stream), bytes(": a comment of no use\n").repeat(4_096).into()),
            Self::Notifications => {
                let event =
                    r#"data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":[0,0]}}"#;
                (bytes(stream), format!("{event}\n\n").repeat(1_024).into())
            }
            Self::HeadLines => (bytes("HTTP/1.1 200 OK\r\n"), "x-line: value\r\n".repeat(4_096).into()),
            Self::InterimReplies => (Bytes::new(), "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(2_048).into()),
            // The stream asks; the answer to the reply pours.
            Self::BodyOn202 => {
                let ping = r#"data: {"jsonrpc":"2.0","id":1,"method":"ping"}"#;
                (format!("{stream}{ping}\n\n").into(), Bytes::new())
            }
            Self::BodyOn500 => {
                (bytes("HTTP/1.1 500 Internal Server Error\r\n\r\n"), vec![b'x'; 65_536].into())
            }
            Self::Json(filling) => {
                let body = message(id, filling, limits, limits.max_response_bytes);
                (whole("application/json", body), Bytes::new())
            }
            Self::Sse(filling) => {
                let body = stream_at_limit(&event(id, filling, limits), limits.max_response_bytes);
                (whole("text/event-stream", body), Bytes::new())
            }
        }
    }

    /// Whether the reply ends, so that its connection may be used again.
    pub(super) fn ends(self) -> bool {
        matches!(self, Self::Json(_) | Self::Sse(_))
    }
}

/// A reply whose length is told.
fn whole(content_type: &str, body: Vec<u8>) -> Bytes {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n");
    [head.into_bytes(), body].concat().into()
}

/// An event behind so many comments that the stream has this size.
fn stream_at_limit(event: &[u8], size: usize) -> Vec<u8> {
    const COMMENT: &[u8] = b": a comment of no use\n";
    let room = size.saturating_sub(event.len());
    let mut stream = COMMENT.repeat(room / COMMENT.len());
    // An empty line between events means nothing.
    stream.resize(room, b'\n');
    stream.extend_from_slice(event);
    stream
}

/// A result of this size, whose content is the filling.
fn message(id: &str, filling: Filling, limits: &Limits, size: usize) -> Vec<u8> {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":["#);
    let tail = "0]}}";
    let mut message = head.into_bytes();
    let unit = unit(filling, limits);
    while message.len() + unit.len() + tail.len() <= size {
        message.extend_from_slice(unit.as_bytes());
    }
    message.resize(size.saturating_sub(tail.len()).max(message.len()), b' ');
    message.extend_from_slice(tail.as_bytes());
    message
}

/// The answer as an event: data at the event's limit, in lines at theirs.
fn event(id: &str, filling: Filling, limits: &Limits) -> Vec<u8> {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":["#);
    let unit = unit(filling, limits);
    let tail = "0]}}";
    let (mut event, mut line) = (Vec::new(), head);
    let mut data = 0;
    let end_line = |event: &mut Vec<u8>, line: &mut String| {
        event.extend_from_slice(format!("data: {line}\n").as_bytes());
        line.clear();
    };
    while data + line.len() + unit.len() + tail.len() < limits.max_event_bytes {
        if line.len() + unit.len() + tail.len() + "data: ".len() > limits.max_line_bytes {
            data += line.len() + 1;
            end_line(&mut event, &mut line);
        }
        line.push_str(&unit);
    }
    line.push_str(tail);
    end_line(&mut event, &mut line);
    event.push(b'\n');
    event
}

fn unit(filling: Filling, limits: &Limits) -> String {
    match filling {
        Filling::Objects => r#"{"a":0},"#.to_owned(),
        Filling::Arrays => "[0],".to_owned(),
        Filling::Numbers => "0,".to_owned(),
        Filling::Deep => {
            let depth = limits.max_json_depth.saturating_sub(4);
            format!("{}{},", "[".repeat(depth), "]".repeat(depth))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_assay_client::sse::{Decoder, SseLimits};

    #[test]
    fn a_message_at_the_limit_is_json_of_that_size() {
        let limits = Limits::default().max_response_bytes(5_000);
        for filling in [Filling::Objects, Filling::Arrays, Filling::Numbers, Filling::Deep] {
            let text = message("7", filling, &limits, 5_000);
            assert_eq!(text.len(), 5_000, "{filling:?}");
            let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
            assert!(value["result"]["content"].as_array().is_some_and(|list| list.len() > 10), "{filling:?}");
        }
    }

    #[test]
    fn an_event_is_just_below_its_limits() {
        let limits = Limits::default();
        for filling in [Filling::Objects, Filling::Arrays, Filling::Numbers, Filling::Deep] {
            let text = event("7", filling, &limits);
            let mut decoder = Decoder::new(SseLimits::from(&limits));
            let data = decoder.next(&mut &text[..]).unwrap().unwrap().data.to_owned();
            let least = limits.max_event_bytes - 2 * limits.max_json_depth;
            assert!((least..=limits.max_event_bytes).contains(&data.len()), "{filling:?}: {}", data.len());
            assert!(serde_json::from_str::<serde_json::Value>(&data).is_ok(), "{filling:?}");
        }
    }

    #[test]
    fn a_stream_at_the_limit_has_that_size_and_one_event() {
        let limits = Limits::default();
        let text = event("7", Filling::Numbers, &limits);
        let stream = stream_at_limit(&text, limits.max_response_bytes);
        assert_eq!(stream.len(), limits.max_response_bytes);
        let mut decoder = Decoder::new(SseLimits::from(&limits));
        let mut rest = &stream[..];
        let data = decoder.next(&mut rest).unwrap().unwrap().data.to_owned();
        assert!(data.starts_with(r#"{"jsonrpc":"2.0","id":7,"#));
        assert!(rest.is_empty());
    }

    #[test]
    fn names_tell_shapes_apart() {
        let mut names: Vec<_> = Shape::ALL.iter().map(|shape| shape.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Shape::ALL.len());
    }
}
