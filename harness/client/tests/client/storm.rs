//! Many calls at once over real sockets and threads, against a server that drops connections as it pleases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_assay_client::{Arguments, CallOptions, Client, Effect, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::peer::{initialize_result, text_result};

/// How often each call's id reached the server.
type Seen = Arc<Mutex<BTreeMap<u64, usize>>>;

/// Answers requests on one connection, and drops it after each seventh call: before the answer, or behind it.
async fn serve(mut socket: TcpStream, seen: Seen) {
    let mut read = Vec::new();
    loop {
        let Ok(1..) = socket.read_buf(&mut read).await else { return };
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.split("content-length: ").nth(1).map_or("0", |rest| rest.lines().next().unwrap_or("0"));
        if body.len() < length.parse().expect("a length") {
            continue;
        }
        read.clear();
        let message: serde_json::Value = serde_json::from_str(body).expect("JSON");
        let id = message["id"].as_u64();
        let (status, body) = match (message["method"].as_str(), id) {
            (Some("initialize"), Some(id)) => (200, initialize_result(id)),
            (Some("tools/call"), Some(id)) => {
                *seen.lock().expect("no panic").entry(id).or_default() += 1;
                if id.is_multiple_of(7) && id.is_multiple_of(2) {
                    return;
                }
                (200, text_result(id, &id.to_string()))
            }
            _ => (202, String::new()),
        };
        let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n");
        let response = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        // A deadline in the client may have closed the socket.
        if socket.write_all(response.as_bytes()).await.is_err() || id.is_some_and(|id| id.is_multiple_of(7)) {
            return;
        }
    }
}

/// Rows EX-REQ-05, EX-REQ-07, EX-ST-10.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_call_ends_and_none_is_sent_twice() {
    const CALLS: usize = 700;
    let seen = Seen::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    tokio::spawn({
        let seen = seen.clone();
        async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, seen.clone()));
            }
        }
    });
    let limits = Limits::default().max_pending(CALLS).timeout(Duration::from_secs(60));
    let client = Client::builder(url).limits(limits).connect().await.expect("the handshake is sound");
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(
                async move { client.call_tool("echo", Arguments::empty(), CallOptions::new()).await },
            )
        })
        .collect();
    let (mut answered, mut unsent) = (Vec::new(), 0);
    for call in calls {
        match call.await.expect("no task panics") {
            Ok(output) => answered.push(output.text.parse::<u64>().expect("an id")),
            Err(error) => {
                assert_eq!(error.kind(), "http_transport_error");
                unsent += usize::from(error.effect() == Effect::NotSent);
            }
        }
    }
    let seen = seen.lock().expect("no panic");
    assert!(seen.values().all(|&times| times == 1), "a request was sent twice");
    assert!(seen.len() <= CALLS - unsent, "a request that was not sent arrived");
    answered.sort_unstable();
    answered.dedup();
    assert!(answered.iter().all(|id| seen.contains_key(id)));
    assert!(answered.len() >= CALLS / 2, "most calls are answered: {}", answered.len());
    assert_eq!(client.status().pending, 0);
}
