//! HTTP/1.1 framing that leaves room for two readings is refused, however it is cut.

use std::time::Duration;

use mcp_assay_client::{Arguments, CallOptions, Client, Error, Limits, ToolOutput};

use crate::peer::{Peer, chunk, kind, settle, text_result};

async fn echo(client: &Client) -> Result<ToolOutput, Error> {
    client.call_tool("echo", Arguments::empty(), CallOptions::new()).await
}

/// What a call makes of a response: `make` builds it from the sound body; it is sent whole, then byte by byte.
async fn outcome(limits: Limits, make: impl Fn(&str) -> String) -> Result<String, &'static str> {
    let mut outcomes = Vec::new();
    let limits = limits.timeout(Duration::from_secs(3_600));
    for step in [usize::MAX, 1] {
        let (mut peer, client) = Peer::ready(limits.clone(), None).await;
        let server = async {
            let (mut socket, request) = peer.request("tools/call").await;
            let response = make(&text_result(request.id(), "ok"));
            for piece in response.as_bytes().chunks(step.min(response.len())) {
                if socket.try_send(piece).await.is_err() {
                    break;
                }
                settle().await;
            }
            // The other end stays open: only the bytes decide.
            settle().await;
            socket
        };
        let (_socket, result) = tokio::join!(server, echo(&client));
        outcomes.push(result.map(|output| output.text).map_err(|error| error.kind()));
    }
    assert_eq!(outcomes[0], outcomes[1], "the cut decided");
    outcomes.swap_remove(0)
}

fn head(lines: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{lines}\r\n")
}

#[tokio::test(start_paused = true)]
async fn the_three_framings_are_read() {
    let limits = Limits::default;
    let length = |body: &str| head(&format!("content-length: {}\r\n", body.len())) + body;
    assert_eq!(outcome(limits(), length).await, Ok("ok".to_owned()));
    let chunked = |body: &str| head("transfer-encoding: chunked\r\n") + &chunk(body) + "0\r\n\r\n";
    assert_eq!(outcome(limits(), chunked).await, Ok("ok".to_owned()));
    let interim = |body: &str| "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(16) + &length(body);
    assert_eq!(outcome(limits(), interim).await, Ok("ok".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn ambiguous_framing_is_refused() {
    for lines in [
        "content-length: 5\r\ntransfer-encoding: chunked\r\n",
        "content-length: 5\r\ncontent-length: 5\r\n",
        "content-length: 5, 5\r\n",
        "content-length: +5\r\n",
        "content-length: -5\r\n",
        "content-length: 5 5\r\n",
        "content-length: \r\n",
        "content-length: 99999999999999999999999\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: gzip\r\n",
        "x: y\n",
        " x: y\r\n",
        "x : y\r\n",
        "x: \u{1}\r\n",
        "x: \u{7f}\r\n",
    ] {
        let outcome = outcome(Limits::default(), |body| head(lines) + body).await;
        assert_eq!(outcome, Err("http_transport_error"), "{lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn broken_chunks_are_refused() {
    for body in ["x\r\n", "5;a\n", "\r\n", "5\r\nhelloX", "ffffffffffffffffff\r\n"] {
        let outcome = outcome(Limits::default(), |_| head("transfer-encoding: chunked\r\n") + body).await;
        assert_eq!(outcome, Err("http_transport_error"), "{body:?}");
    }
}

/// Rows EX-HB-01, EX-HB-02.
#[tokio::test(start_paused = true)]
async fn head_bytes_are_bounded_exactly_when_parsed_and_coarsely_before() {
    // The padding leaves room for the heads of the handshake.
    let padding = "p".repeat(60);
    let response =
        |body: &str| head(&format!("x: {padding}\r\ncontent-length: {:03}\r\n", body.len())) + body;
    let sum = "content-typeapplication/jsonxcontent-length000".len() + padding.len();
    let limits = |bytes| Limits::default().max_header_bytes(bytes);
    assert_eq!(outcome(limits(sum), response).await, Ok("ok".to_owned()));
    assert_eq!(outcome(limits(sum - 1), response).await, Err("header_byte_limit"));
    let endless = |_: &str| format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(20_000));
    assert_eq!(outcome(limits(16_384), endless).await, Err("header_byte_limit"));
    let lines = |_: &str| "HTTP/1.1 200 OK\r\n".to_owned() + &"x: y\r\n".repeat(257);
    assert_eq!(outcome(limits(16_384), lines).await, Err("header_byte_limit"));
    let interim = |_: &str| "HTTP/1.1 100 Continue\r\n\r\n".repeat(17);
    assert_eq!(outcome(limits(16_384), interim).await, Err("header_byte_limit"));
}

/// Row EX-HB-03.
#[tokio::test(start_paused = true)]
async fn trailers_are_bounded_and_set_nothing() {
    let with = |trailers: String| {
        move |body: &str| head("transfer-encoding: chunked\r\n") + &chunk(body) + "0\r\n" + &trailers + "\r\n"
    };
    let sum = "content-typeapplication/jsontransfer-encodingchunkedx".len() + 60;
    let limits = |bytes| Limits::default().max_header_bytes(bytes);
    let small = || with("x: {}\r\n".replace("{}", &"y".repeat(60)));
    assert_eq!(outcome(limits(sum), small()).await, Ok("ok".to_owned()));
    assert_eq!(outcome(limits(sum - 1), small()).await, Err("invalid_trailers"));
    for name in ["mcp-session-id", "Content-Type"] {
        let outcome = outcome(limits(16_384), with(format!("{name}: x\r\n"))).await;
        assert_eq!(outcome, Err("invalid_trailers"));
    }
    let many = with("x: y\r\n".repeat(300));
    assert_eq!(outcome(limits(16_384), many).await, Err("invalid_trailers"));
    let long = with(format!("x: {}\r\n", "y".repeat(20_000)));
    assert_eq!(outcome(limits(16_384), long).await, Err("invalid_trailers"));
}

/// A response without any framing ends with its connection.
#[tokio::test(start_paused = true)]
async fn a_body_may_end_with_the_connection() {
    let (mut peer, client) = Peer::ready(Limits::default(), None).await;
    let server = async {
        let (mut socket, request) = peer.request("tools/call").await;
        socket.send(head("") + &text_result(request.id(), "ok")).await;
    };
    let ((), result) = tokio::join!(server, echo(&client));
    assert_eq!(result.expect("the result is sound").text, "ok");
}

/// Rows EX-JS-18, EX-SSE-19.
#[tokio::test(start_paused = true)]
async fn a_body_cut_short_is_a_transport_error() {
    for lines in ["content-length: 1000\r\n", "transfer-encoding: chunked\r\n"] {
        let (mut peer, client) = Peer::ready(Limits::default(), None).await;
        let server = async {
            let (mut socket, _) = peer.request("tools/call").await;
            socket.send(head(lines) + "5\r\n{}").await;
        };
        let ((), result) = tokio::join!(server, echo(&client));
        assert_eq!(kind(&result), "http_transport_error");
    }
}
