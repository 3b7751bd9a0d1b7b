//! A dialogue from the handshake to the close, over JSON and over event streams.

use crate::peer::{Peer, SESSION, kind, text_result};
use mcp_assay_client::{Arguments, CallOptions, Limits, State};

/// Rows EX-HS-01, EX-HS-02, EX-HS-03, EX-REQ-07, EX-REQ-10.
#[tokio::test(start_paused = true)]
async fn a_client_connects_lists_calls_and_closes() {
    let (mut peer, builder) = Peer::builder(Limits::default());
    let builder = builder.header("authorization", "Bearer token").client_info("assay", "7");
    let server = async {
        let (socket, initialize) = peer.request("initialize").await;
        let expected = "POST /private/secret-path?key=query-secret HTTP/1.1\r\nhost: peer.test\r\n\
            accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
            authorization: Bearer token\r\ncontent-length: ";
        assert_eq!(&initialize.head[..expected.len()], expected);
        assert_eq!(initialize.json()["params"]["clientInfo"]["name"], "assay");
        socket.answer_initialize(&initialize, Some(SESSION)).await;
        let (socket, initialized) = peer.request("notifications/initialized").await;
        socket.reply(202, "", "").await;
        let (socket, list) = peer.request("tools/list").await;
        let tools = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object","required":["text"]}}]}"#;
        socket.reply_json(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{tools}}}"#, list.id())).await;
        let (mut socket, call) = peer.request("tools/call").await;
        socket.open_stream().await;
        socket.event(&text_result(call.id(), "héllo")).await;
        socket.closed().await;
        let (socket, delete) = peer.request("DELETE").await;
        socket.reply(405, "", "").await;
        for later in [&initialized, &list, &call, &delete] {
            let expected = "host: peer.test\r\naccept: application/json, text/event-stream\r\n\
                content-type: application/json\r\nmcp-protocol-version: 2025-06-18\r\n\
                mcp-session-id: session-secret\r\nauthorization: Bearer token";
            assert!(later.head.contains(expected), "{}", later.head);
        }
        assert!(initialize.id() < list.id() && list.id() < call.id());
        peer.assert_quiet();
    };
    let user = async {
        let client = builder.connect().await.expect("the handshake is sound");
        assert_eq!(client.status().state, State::Ready);
        let tools = client.list_tools().await.expect("the catalogue is sound");
        assert_eq!(tools[0].name, "echo");
        assert_eq!(tools[0].input_schema.get(), r#"{"type":"object","required":["text"]}"#);
        let output = client.call_tool("echo", Arguments::empty(), CallOptions::new()).await;
        assert_eq!(output.expect("the result is sound").text, "héllo");
        client.close().await.expect("405 is accepted");
        assert_eq!(kind(&client.list_tools().await), "closed");
        assert_eq!(client.status().state, State::Closed);
    };
    tokio::join!(server, user);
}
