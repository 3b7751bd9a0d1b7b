//! The built-in client against the peer, over the memory wire.

use super::Stage;
use crate::wire::memory::MemoryWire;
use mcp_assay_client::{Arguments, CallOptions, Client};

#[tokio::test(start_paused = true)]
async fn the_built_in_client_calls_a_tool_cut_at_every_byte() {
    let stage = Stage::new(
        r#"
        [[peer]]
        on = "initialize"
        session = "s1"
        body = [{ result_json = { protocolVersion = "2025-06-18", capabilities = { tools = {} }, serverInfo = { name = "p", version = "1" } } }]
        [[peer]]
        on = "tools/call"
        stream = [{ text = ": hello\n\n" }, { result = "{{arg.text}}" }]
        eol = "crlf"
        slice = "every-byte"
        "#,
    );
    let client =
        Client::builder(MemoryWire::URL).connector(stage.wire.clone()).connect().await.expect("ready");
    let arguments = Arguments::from_json(r#"{"text":"snow 雪"}"#).expect("an object");
    let output = client.call_tool("echo", arguments, CallOptions::new()).await.expect("a result");
    assert_eq!(output.text, "snow 雪");
    client.close().await.expect("closed");
    let methods: Vec<String> = stage.requests().iter().map(|request| request.on().to_owned()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/call", "DELETE"]);
    stage.peer.finish().await;
}
