//! When a connection is used again, and what happens when it cannot be.

use std::time::Duration;

use mcp_assay_client::error::TransportFault;
use mcp_assay_client::{Arguments, CallOptions, Client, Effect, Error, Limits, ToolOutput};
use tokio::time::Instant;

use crate::peer::{Peer, Socket, chunk, kind, settle, text_result};

async fn echo(client: &Client) -> Result<ToolOutput, Error> {
    client.call_tool("echo", Arguments::empty(), CallOptions::new()).await
}

/// A client whose connection the peer would keep, and that connection.
async fn kept(limits: Limits) -> (Peer, Client, Socket) {
    let (mut peer, builder) = Peer::builder(limits);
    let server = async {
        let (mut socket, request) = peer.request("initialize").await;
        socket.answer_and_keep(&crate::peer::initialize_result(request.id())).await;
        assert_eq!(socket.request().await.method(), "notifications/initialized");
        socket.send("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await;
        socket
    };
    let (client, socket) = tokio::join!(builder.connect(), server);
    (peer, client.expect("the handshake is sound"), socket)
}

#[tokio::test(start_paused = true)]
async fn a_connection_read_to_its_end_is_used_again() {
    let (mut peer, client, mut socket) = kept(Limits::default()).await;
    let server = async {
        let request = socket.request().await;
        socket.answer_and_keep(&text_result(request.id(), "one")).await;
        let request = socket.request().await;
        socket.open_stream().await;
        // The end of the body comes with the terminal event, so it has been read by then.
        let event = format!("data: {}\n\n", text_result(request.id(), "two"));
        socket.send(format!("{}0\r\n\r\n", chunk(&event))).await;
        let request = socket.request().await;
        socket.answer_and_keep(&text_result(request.id(), "three")).await;
    };
    let user = async {
        for text in ["one", "two", "three"] {
            assert_eq!(echo(&client).await.expect("the result is sound").text, text);
        }
    };
    tokio::join!(server, user);
    peer.assert_quiet();
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_its_end_is_closed() {
    let (mut peer, client, mut socket) = kept(Limits::default()).await;
    let server = async {
        let request = socket.request().await;
        socket.open_stream().await;
        socket.event(&text_result(request.id(), "one")).await;
        socket.closed().await;
        let (socket, request) = peer.request("tools/call").await;
        socket.answer_text(&request, "two").await;
    };
    let user = async {
        assert_eq!(echo(&client).await.expect("the result is sound").text, "one");
        assert_eq!(echo(&client).await.expect("the result is sound").text, "two");
    };
    tokio::join!(server, user);
}

#[tokio::test(start_paused = true)]
async fn bytes_behind_a_body_change_no_outcome_and_retire_the_connection() {
    for late in [false, true] {
        let (mut peer, client, mut socket) = kept(Limits::default()).await;
        let server = async {
            let request = socket.request().await;
            let result = text_result(request.id(), "one");
            let body = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{result}",
                result.len()
            );
            if late {
                socket.send(body).await;
                settle().await;
                socket.send("HTTP/1.1 200 OK\r\n").await;
            } else {
                socket.send(body + "HTTP/1.1 200 OK\r\n").await;
            }
            socket.closed().await;
            let (socket, request) = peer.request("tools/call").await;
            socket.answer_text(&request, "two").await;
        };
        let user = async {
            assert_eq!(echo(&client).await.expect("the result is sound").text, "one");
            settle().await;
            assert_eq!(echo(&client).await.expect("the result is sound").text, "two");
        };
        tokio::join!(server, user);
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_the_peer_closed_is_not_used() {
    let (mut peer, client, socket) = kept(Limits::default()).await;
    drop(socket);
    let server = async {
        let (socket, request) = peer.request("tools/call").await;
        socket.answer_text(&request, "fresh").await;
    };
    let (_, output) = tokio::join!(server, echo(&client));
    assert_eq!(output.expect("the result is sound").text, "fresh");
}

/// Row EX-ST-10.
#[tokio::test(start_paused = true)]
async fn a_request_is_written_once_even_if_a_kept_connection_breaks() {
    let (mut peer, client, mut socket) = kept(Limits::default()).await;
    let server = async {
        socket.request().await;
        drop(socket);
    };
    let ((), outcome) = tokio::join!(server, echo(&client));
    let expected = Error::HttpTransport { fault: TransportFault::Disconnected, effect: Effect::Uncertain };
    assert_eq!(outcome.unwrap_err(), expected);
    tokio::time::sleep(Duration::from_secs(60)).await;
    peer.assert_quiet();
}

#[tokio::test(start_paused = true)]
async fn no_connection_means_not_sent() {
    let (peer, client) = Peer::ready(Limits::default(), None).await;
    drop(peer);
    let expected = Error::HttpTransport { fault: TransportFault::Connect, effect: Effect::NotSent };
    assert_eq!(echo(&client).await.unwrap_err(), expected);
}

/// Row EX-CTL-12.
#[tokio::test(start_paused = true)]
async fn a_control_reply_without_a_connection_ends_by_its_own_time() {
    let (mut peer, client) = Peer::ready(Limits::default().max_connections(1), None).await;
    let started = Instant::now();
    let server = async {
        let (mut socket, _) = peer.request("tools/call").await;
        socket.open_stream().await;
        socket.event(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
        socket.closed().await;
    };
    let ((), outcome) = tokio::join!(server, echo(&client));
    assert_eq!(kind(&outcome), "timeout");
    assert_eq!(started.elapsed().as_millis(), 1_000);
    peer.assert_quiet();
}

#[tokio::test(start_paused = true)]
async fn all_connections_close_with_the_client() {
    let (_peer, client, mut socket) = kept(Limits::default()).await;
    settle().await;
    assert!(!socket.is_closed().await);
    drop(client);
    socket.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_of_http_1_0_gets_one_request_a_connection() {
    let (mut peer, client, mut socket) = kept(Limits::default()).await;
    let server = async {
        let request = socket.request().await;
        let body = text_result(request.id(), "one");
        let head = "HTTP/1.0 200 OK\r\ncontent-type: application/json\r\nconnection: keep-alive\r\n";
        socket.send(format!("{head}content-length: {}\r\n\r\n{body}", body.len())).await;
        socket.closed().await;
        let (socket, request) = peer.request("tools/call").await;
        assert!(request.head.contains(" HTTP/1.1\r\n"));
        socket.answer_text(&request, "two").await;
    };
    let user = async {
        assert_eq!(echo(&client).await.expect("the result is sound").text, "one");
        assert_eq!(echo(&client).await.expect("the result is sound").text, "two");
    };
    tokio::join!(server, user);
}
