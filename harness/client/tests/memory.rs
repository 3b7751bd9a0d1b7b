//! The memory of a client under a peer that sends all it may. A process of its own, so that its peak is the client's.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use mcp_assay_client::{Arguments, CallOptions, Client, Limits};

/// The peak of this process's resident memory, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux has it");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

/// Answers one request; a call gets a body of exactly `size` bytes that would be a hundred times its size as a tree.
fn serve(mut socket: TcpStream, size: usize) {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    let request = loop {
        let n = socket.read(&mut buffer).expect("the client is alive");
        read.extend_from_slice(&buffer[..n]);
        if n == 0 || read.ends_with(b"}") {
            break String::from_utf8_lossy(&read).into_owned();
        }
    };
    let Some(id) = request.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next()) else {
        let accepted = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        return socket.write_all(accepted.as_bytes()).expect("the client reads");
    };
    let body = if request.contains("\"initialize\"") {
        let info = r#""serverInfo":{"name":"s","version":"1"}"#;
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-06-18","capabilities":{{}},{info}}}}}"#
        )
    } else {
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"x":["#);
        let filling = r#"{"a":0},"#.repeat((size - head.len() - 20) / 8);
        let body = format!("{head}{filling}0]}}}}");
        let padding = " ".repeat(size - body.len());
        body + &padding
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let response = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    socket.write_all(response.as_bytes()).expect("the client reads");
}

/// Row EX-MEM-01.
#[test]
fn the_peak_stays_within_the_formula() {
    const CALLS: usize = 12;
    // Two connections: the bound is then less than the tree of one body would take.
    let limits = Limits::default().max_pending(CALLS).max_connections(2).max_request_bytes(65_536);
    let size = limits.max_response_bytes;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let socket = socket.expect("a connection");
            std::thread::spawn(move || serve(socket, size));
        }
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let before = peak();
    let bound = limits.memory_bound();
    assert!(bound < 80 << 20);
    runtime.block_on(async move {
        let limits = limits.timeout(std::time::Duration::from_secs(300));
        let client = Client::builder(url).limits(limits).connect().await.expect("the handshake is sound");
        let filling = format!(r#"{{"x":"{}"}}"#, "y".repeat(65_000));
        let calls: Vec<_> = (0..CALLS)
            .map(|_| {
                let (client, arguments) =
                    (client.clone(), Arguments::from_json(&filling).expect("an object"));
                tokio::spawn(async move { client.call_tool("echo", arguments, CallOptions::new()).await })
            })
            .collect();
        for call in calls {
            call.await.expect("no task panics").expect("a body at its limits is accepted");
        }
    });
    let grown = peak() - before;
    assert!(grown <= bound, "{grown} bytes, {bound} are stated");
}
