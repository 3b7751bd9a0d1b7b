//! Whatever a peer sends: the call ends, nothing panics, and the cuts do not decide.

use mcp_assay_client::{Arguments, CallOptions, Client, Limits};
use proptest::prelude::*;
use tokio::runtime::Builder;

use crate::peer::{Peer, text_result};

/// Pieces of responses, sound and broken; the call's id is 2.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let terminal = text_result(2, "雪");
    let event = format!("data: {terminal}\n\n");
    let chunked = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let pieces = [
        "HTTP/1.1 200 OK\r\n".to_owned(),
        "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
        "HTTP/1.1 202 Accepted\r\n".to_owned(),
        "content-type: application/json\r\n".to_owned(),
        "content-type: text/event-stream\r\n".to_owned(),
        "transfer-encoding: chunked\r\n".to_owned(),
        format!("content-length: {}\r\n", terminal.len()),
        format!("content-length: {}\r\n", event.len()),
        "connection: close\r\n".to_owned(),
        "\r\n".to_owned(),
        "\n".to_owned(),
        "0\r\n\r\n".to_owned(),
        "0\r\nx: y\r\n\r\n".to_owned(),
        "0\r\nmcp-session-id: y\r\n\r\n".to_owned(),
        "3\r\n:x\n\r\n".to_owned(),
        "5;ext\r\n".to_owned(),
        ": comment\r\n\r\n".to_owned(),
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n".to_owned(),
        chunked("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\n"),
        chunked(&event),
        chunked(&terminal),
        event,
        terminal,
    ];
    prop_oneof![
        9 => proptest::sample::select(pieces.map(String::into_bytes).to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1..4),
    ]
}

/// A response that is often sound up to its body, and the places where it is cut.
fn response() -> impl Strategy<Value = (Vec<u8>, Vec<proptest::sample::Index>)> {
    let heads = proptest::sample::select(vec![
        &b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"",
    ]);
    let bytes = (heads, proptest::collection::vec(piece(), 0..6))
        .prop_map(|(head, pieces)| [head.to_vec(), pieces.concat()].concat());
    (bytes, proptest::collection::vec(any::<proptest::sample::Index>(), 0..8))
}

/// What a call makes of a response that comes in these pieces and then ends with the connection.
fn outcome(pieces: &[&[u8]]) -> Result<String, &'static str> {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let limits = Limits::default().max_line_bytes(200).max_event_bytes(150).max_response_bytes(400);
        let (mut peer, client): (Peer, Client) = Peer::ready(limits, None).await;
        let server = async {
            let (mut socket, request) = peer.request("tools/call").await;
            assert_eq!(request.id(), 2);
            for piece in pieces {
                if socket.try_send(piece).await.is_err() {
                    break;
                }
                // The client reads each piece before the next is sent.
                tokio::task::yield_now().await;
                tokio::task::yield_now().await;
            }
        };
        let call = client.call_tool("echo", Arguments::empty(), CallOptions::new());
        let ((), result) = tokio::join!(server, call);
        assert_eq!(client.status().pending, 0);
        result.map(|output| output.text).map_err(|error| error.kind())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_outcome_is_the_bytes_alone((bytes, cuts) in response()) {
        let whole = outcome(&[&bytes]);
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        places.sort_unstable();
        let mut pieces = Vec::new();
        let mut rest = &bytes[..];
        for place in places {
            let (piece, after) = rest.split_at(place - (bytes.len() - rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        prop_assert_eq!(&whole, &outcome(&pieces), "cut");
        let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&whole, &outcome(&bytewise), "bytewise");
    }
}
