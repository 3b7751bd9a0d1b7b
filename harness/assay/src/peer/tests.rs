//! The peer against a raw client on the memory wire, under a paused clock.

mod client;
mod endings;
mod flood;
mod requests;

use super::{Peer, Script};
use crate::case::Case;
use crate::revision::Revision;
use crate::timeline::{Close, EventKind, Recorder, Reply, Request, Side};
use crate::wire::memory::{Client, MemoryWire};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const POLITE: &str = r#"
    title = "polite"
    revisions = ["2025-06-18"]
    [[peer]]
    on = "tools/call"
    body = [{ result = "{{arg.text}}" }]
    [[peer]]
    on = "notifications/initialized"
"#;

/// A peer, its timeline, and a wire to it.
pub(super) struct Stage {
    peer: Peer,
    recorder: Recorder,
    wire: MemoryWire,
}

impl Stage {
    /// A peer that plays these rules before the polite ones.
    pub(super) fn new(rules: &str) -> Self {
        Self::speaking(Revision::V20250618, rules)
    }

    /// The same in another revision.
    fn speaking(revision: Revision, rules: &str) -> Self {
        Self::recorded(Recorder::start(), revision, rules)
    }

    /// The same with room for so many bytes and events.
    fn within(bytes: u64, events: usize, rules: &str) -> Self {
        Self::recorded(Recorder::with_room(bytes, events), Revision::V20250618, rules)
    }

    fn recorded(recorder: Recorder, revision: Revision, rules: &str) -> Self {
        let polite: Case = toml::from_str(POLITE).expect("the polite rules parse");
        let case = format!("title = \"case\"\nrevisions = [\"2025-06-18\"]\n{rules}");
        let case: Case = toml::from_str(&case).expect("the rules parse");
        let limits = BTreeMap::from([("max_line_bytes".to_owned(), 256)]);
        let script = Script { case: &case, polite: &polite, revision, seed: 0, limits: &limits };
        let peer = Peer::new(&script, recorder.clone()).expect("the plans parse");
        let wire = MemoryWire::new(peer.clone());
        Self { peer, recorder, wire }
    }

    fn open(&self) -> Client {
        self.wire.open().expect("the peer is not finished")
    }

    /// Connects and sends one call.
    async fn call(&self) -> Client {
        let mut client = self.open();
        client.write_all(&post(CALL)).await.expect("the peer reads");
        client
    }

    fn kinds(&self) -> Vec<EventKind> {
        self.recorder.snapshot().into_iter().map(|event| event.kind).collect()
    }

    fn requests(&self) -> Vec<Request> {
        let request = |kind| {
            if let EventKind::Request(request) = kind { Some(Arc::unwrap_or_clone(request)) } else { None }
        };
        self.kinds().into_iter().filter_map(request).collect()
    }

    fn replies(&self) -> Vec<Reply> {
        let reply = |kind| {
            if let EventKind::Replied(reply) = kind { Some(Arc::unwrap_or_clone(reply)) } else { None }
        };
        self.kinds().into_iter().filter_map(reply).collect()
    }

    fn closed(&self) -> Vec<(u32, Side, Close)> {
        let closed =
            |kind| if let EventKind::Closed { conn, by, how } = kind { Some((conn, by, how)) } else { None };
        self.kinds().into_iter().filter_map(closed).collect()
    }

    /// Waits for the first closing of a connection and says who did it.
    async fn until_closed(&self) -> (Side, Close) {
        self.recorder.wait_for(|kind| matches!(kind, EventKind::Closed { .. })).await;
        self.closed().first().map(|(_, by, how)| (*by, *how)).expect("one was waited for")
    }

    async fn until_replied(&self) {
        self.recorder.wait_for(|kind| matches!(kind, EventKind::Replied(_))).await;
    }
}

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"snow"}}}"#;

fn post(body: &str) -> Vec<u8> {
    format!("POST /mcp HTTP/1.1\r\nhost: peer\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Reads one reply with a content length; its head and its body.
async fn reply(client: &mut Client) -> (String, String) {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let len = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= len.expect("a content length").parse().expect("a number") {
                return (head.to_owned(), body.to_owned());
            }
        }
        assert!(client.read_buf(&mut bytes).await.expect("no reset") > 0, "the reply breaks off: {text:?}");
    }
}

async fn to_end(client: &mut Client) -> (String, std::io::Result<()>) {
    let mut bytes = Vec::new();
    let ended = client.read_to_end(&mut bytes).await.map(drop);
    (String::from_utf8_lossy(&bytes).into_owned(), ended)
}
