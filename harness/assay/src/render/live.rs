//! One event of a timeline as it comes, for a person who watches.

use super::bytes::annotated;
use crate::judge::finding::line;
use crate::timeline::{Close, Event, EventKind, Side};
use std::fmt::Write as _;

/// The most bytes shown of one request or reply; what lies beyond is counted.
const MOST: usize = 2_000;

/// One or more whole lines, escaped; empty for events that only the harness cares about.
#[must_use]
pub fn live(event: &Event) -> String {
    let mut out = String::new();
    let ms = event.at_us / 1_000;
    // Writing into a String cannot fail.
    let _ = match &event.kind {
        EventKind::Accepted { conn } => writeln!(out, "{ms:>7} ms  connection {conn} accepted"),
        EventKind::Request(request) => {
            let (number, conn) = (request.number, request.conn);
            let (on, rule) = (line(request.on()), line(&request.rule));
            let told =
                writeln!(out, "{ms:>7} ms  request {number} on connection {conn}: {on}, answered by {rule}");
            bytes(&without_secrets(&request.head), &mut out);
            bytes(&request.body, &mut out);
            told
        }
        EventKind::BadRequest { conn, raw, problem } => {
            let told = writeln!(out, "{ms:>7} ms  no request on connection {conn}: {}", line(problem));
            bytes(raw, &mut out);
            told
        }
        EventKind::Held { name, request } => {
            writeln!(out, "{ms:>7} ms  reply to request {request} held as {}", line(name))
        }
        EventKind::Released { name } => writeln!(out, "{ms:>7} ms  hold {} let go", line(name)),
        EventKind::Replied(reply) => {
            let (number, written, len) = (reply.request, reply.written, reply.bytes.len());
            let told =
                writeln!(out, "{ms:>7} ms  reply to request {number}: {written} of {len} bytes written");
            let shown = reply.bytes.get(..reply.written.min(MOST)).unwrap_or(&reply.bytes);
            let marks: Vec<_> = reply.marks.iter().filter(|mark| mark.at <= shown.len()).cloned().collect();
            let cuts: Vec<usize> = reply.cuts.iter().copied().filter(|cut| *cut < shown.len()).collect();
            indented(&annotated(shown, &marks, &cuts), &mut out);
            more(reply.written, &mut out);
            told
        }
        EventKind::Closed { conn, by, how } => {
            let by = match by {
                Side::Client => "the client",
                Side::Peer => "the peer",
            };
            let how = match how {
                Close::Fin => "end of stream",
                Close::Rst => "reset",
            };
            writeln!(out, "{ms:>7} ms  connection {conn} closed by {by} ({how})")
        }
        EventKind::HarnessError { problem } => {
            writeln!(out, "{ms:>7} ms  the peer failed: {}", line(problem))
        }
        EventKind::Teardown
        | EventKind::StepBegan { .. }
        | EventKind::StepEnded { .. }
        | EventKind::Memory(_)
        | EventKind::Witness { .. } => Ok(()),
    };
    out
}

/// A head whose credentials are left out.
fn without_secrets(head: &[u8]) -> Vec<u8> {
    const SECRET: [&[u8]; 3] = [b"authorization:", b"proxy-authorization:", b"cookie:"];
    let is_secret = |line: &&[u8]| {
        SECRET.iter().any(|name| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
    };
    let mut shown = Vec::with_capacity(head.len());
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        if is_secret(&line) {
            shown.extend(line.iter().take_while(|byte| **byte != b':'));
            shown.extend(b": (not shown)\r\n");
        } else {
            shown.extend(line);
        }
    }
    shown
}

fn bytes(raw: &[u8], out: &mut String) {
    if !raw.is_empty() {
        indented(&annotated(raw.get(..MOST).unwrap_or(raw), &[], &[]), out);
        more(raw.len(), out);
    }
}

fn more(len: usize, out: &mut String) {
    if let Some(more) = len.checked_sub(MOST).filter(|more| *more > 0) {
        let _ = writeln!(out, "            … and {more} bytes more");
    }
}

fn indented(text: &str, out: &mut String) {
    for line in text.lines() {
        let _ = writeln!(out, "            {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Request;
    use std::sync::Arc;

    fn shown(kind: EventKind) -> String {
        live(&Event { at_us: 1_500, kind })
    }

    #[test]
    fn nothing_of_a_client_reaches_the_terminal_raw() {
        let raw = b"POST /mcp\x1b[2J HTTP/1.1\r\n\xff".as_slice();
        let problem = "bad \u{1b}]0;title\u{7}".to_owned();
        let bad = shown(EventKind::BadRequest { conn: 1, raw: raw.into(), problem });
        let request = Request {
            conn: 1,
            number: 2,
            reused: false,
            method: "\u{1b}[31mGET".to_owned(),
            target: "/mcp".to_owned(),
            headers: Vec::new(),
            head: raw.into(),
            body: vec![b'\x1b'; 3_000].into(),
            json: None,
            rule: "default".to_owned(),
        };
        let request = shown(EventKind::Request(Arc::new(request)));
        for text in [&bad, &request] {
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        }
        assert!(bad.starts_with("      1 ms  no request on connection 1: bad \\x1b]0;title\\x07\n"), "{bad}");
        assert!(request.contains("… and 1000 bytes more"), "{request}");
    }

    #[test]
    fn credentials_are_not_shown() {
        let head = b"GET /mcp HTTP/1.1\r\nAuthorization: Bearer s3cret\r\nhost: a\r\nCOOKIE: s3cret\r\n\r\n";
        let shown = String::from_utf8(without_secrets(head)).unwrap();
        assert_eq!(
            shown,
            "GET /mcp HTTP/1.1\r\nAuthorization: (not shown)\r\nhost: a\r\nCOOKIE: (not shown)\r\n\r\n"
        );
    }

    #[test]
    fn what_the_harness_notes_for_itself_is_not_shown() {
        assert_eq!(shown(EventKind::Teardown), "");
    }
}
