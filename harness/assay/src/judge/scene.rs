//! Small timelines for tests, one line an event.

use crate::case::Case;
use crate::clauses::Clauses;
use crate::judge::{JudgeInput, Offers, judge};
use crate::returned::Returned;
use crate::revision::Revision;
use crate::timeline::{Close, Event, EventKind, Mark, Reply, Request, Side};
use crate::variant::{Variant, Wire};
use crate::verdict::CheckResult;
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

/// A timeline under construction. The clock goes on by 1 ms with each event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub(crate) events: Vec<Event>,
    requests: u32,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A client that connected over connection 1.
    pub(crate) fn connected() -> Self {
        Self::new()
            .began("connect", "connect")
            .post(1, "polite:0", &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"}))
            .replied(1)
            .post(1, "polite:1", &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .replied(2)
            .ok("connect", None)
    }

    pub(crate) fn push(mut self, kind: EventKind) -> Self {
        let at_us = self.events.last().map_or(0, |event| event.at_us + 1000);
        self.events.push(Event { at_us, kind });
        self
    }

    /// Lets the clock go on before the next event.
    pub(crate) fn wait_ms(mut self, ms: u64) -> Self {
        if let Some(last) = self.events.last().map(|event| event.at_us) {
            self.events.push(Event { at_us: last + ms * 1000, kind: EventKind::Accepted { conn: 9999 } });
        }
        self
    }

    pub(crate) fn began(self, step: &str, verb: &'static str) -> Self {
        self.push(EventKind::StepBegan { step: step.to_owned(), verb, client: "a".to_owned() })
    }

    pub(crate) fn returned(self, step: &str, returned: Returned) -> Self {
        self.push(EventKind::StepEnded { step: step.to_owned(), returned })
    }

    pub(crate) fn ok(self, step: &str, text: Option<&str>) -> Self {
        self.returned(step, Returned::Ok { text: text.map(str::to_owned), tools: None })
    }

    pub(crate) fn failed(self, step: &str, kind: &str) -> Self {
        self.returned(step, failure(kind))
    }

    pub(crate) fn unsupported(self, step: &str) -> Self {
        self.returned(step, Returned::Unsupported { message: "no".to_owned() })
    }

    pub(crate) fn request(mut self, mut request: Request) -> Self {
        self.requests += 1;
        request.number = self.requests;
        self.push(EventKind::Request(Arc::new(request)))
    }

    pub(crate) fn post(self, conn: u32, rule: &str, body: &Value) -> Self {
        self.request(request(conn, rule, "POST", Some(body)))
    }

    /// A call of the tool echo with the step's default arguments.
    pub(crate) fn call(self, conn: u32, rule: &str, id: u64, step: &str) -> Self {
        self.post(conn, rule, &call(id, step))
    }

    pub(crate) fn replied(self, request: u32) -> Self {
        self.reply(request, true)
    }

    pub(crate) fn reply(self, request: u32, complete: bool) -> Self {
        self.push(EventKind::Replied(Arc::new(reply(request, complete))))
    }

    pub(crate) fn held(self, name: &str, request: u32) -> Self {
        self.push(EventKind::Held { name: name.to_owned(), request })
    }

    pub(crate) fn closed(self, conn: u32, by: Side) -> Self {
        self.push(EventKind::Closed { conn, by, how: Close::Fin })
    }

    pub(crate) fn teardown(self) -> Self {
        self.push(EventKind::Teardown)
    }
}

pub(crate) fn failure(kind: &str) -> Returned {
    Returned::Error {
        kind: kind.to_owned(),
        message: format!("it failed: {kind}"),
        effect: None,
        status: None,
        code: None,
        text: None,
    }
}

pub(crate) fn call(id: u64, step: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": "echo", "arguments": { "text": step } },
    })
}

pub(crate) fn request(conn: u32, rule: &str, method: &str, body: Option<&Value>) -> Request {
    let headers = vec![
        ("host".to_owned(), "127.0.0.1:4711".to_owned()),
        ("accept".to_owned(), "application/json, text/event-stream;q=0.9".to_owned()),
        ("mcp-protocol-version".to_owned(), "2025-06-18".to_owned()),
    ];
    Request {
        conn,
        number: 0,
        reused: false,
        method: method.to_owned(),
        target: "/mcp".to_owned(),
        head: Bytes::from(format!("{method} /mcp HTTP/1.1\r\nhost: 127.0.0.1:4711\r\n\r\n")),
        headers,
        body: body.map(|body| Bytes::from(body.to_string())).unwrap_or_default(),
        json: body.cloned(),
        rule: rule.to_owned(),
    }
}

pub(crate) fn reply(request: u32, complete: bool) -> Reply {
    let bytes = Bytes::from_static(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
    Reply {
        request,
        content_len: 2,
        written: if complete { bytes.len() } else { 17 },
        cuts: vec![17],
        proven: 1,
        marks: vec![Mark { name: "head-end".to_owned(), at: bytes.len() - 2 }],
        complete,
        bytes,
    }
}

/// A case with a title and revisions in front of this text.
pub(crate) fn case(text: &str) -> Case {
    let text = format!("title = \"A case\"\nrevisions = [\"2025-06-18\"]\n{text}");
    toml::from_str(&text).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

pub(crate) fn variant() -> Variant {
    Variant {
        revision: Revision::V20250618,
        server: None,
        keys: vec![("slice".to_owned(), "each-cut@17".to_owned())],
        wire: Wire::Memory,
    }
}

/// The results of a scene under the policy exagent, with everything offered.
pub(crate) fn results(case: &Case, scene: &Scene) -> Vec<CheckResult> {
    judge(&JudgeInput {
        case,
        variant: &variant(),
        policy: Some("exagent"),
        offers: &Offers::default(),
        clauses: &Clauses::default(),
        timeline: &scene.events,
    })
}
