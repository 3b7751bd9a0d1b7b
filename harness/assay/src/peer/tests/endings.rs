//! What follows the bytes of a reply, and what the client does meanwhile.

use super::{Stage, post, reply, to_end};
use crate::timeline::{Close, EventKind, Side};
use std::io::ErrorKind;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Duration, Instant};

fn rule(more: &str) -> String {
    format!("[[peer]]\non = \"tools/call\"\nstream = [{{ text = \"abc\" }}, {{ text = \"def\" }}]\n{more}")
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const OPEN: &str = "3\r\nabc\r\n3\r\ndef\r\n";

#[tokio::test(start_paused = true)]
async fn continue_keeps_the_connection_for_the_next_request() {
    let stage = Stage::new("");
    let mut client = stage.call().await;
    let (head, body) = reply(&mut client).await;
    assert_eq!(head, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 77");
    assert_eq!(body, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"snow"}]}}"#);
    client.write_all(&post(super::CALL)).await.expect("open");
    reply(&mut client).await;
    let requests = stage.requests();
    assert_eq!(
        requests.iter().map(|r| (r.conn, r.number, r.reused)).collect::<Vec<_>>(),
        [(1, 1, false), (1, 2, true)]
    );
    assert!(stage.replies().iter().all(|reply| reply.complete && reply.written == reply.bytes.len()));
    drop(client);
    assert_eq!(stage.until_closed().await, (Side::Client, Close::Fin));
}

#[tokio::test(start_paused = true)]
async fn fin_ends_the_body_and_the_stream() {
    let stage = Stage::new(&rule("then = \"fin\""));
    let (bytes, ended) = to_end(&mut stage.call().await).await;
    assert_eq!(bytes, format!("{HEAD}{OPEN}0\r\n\r\n"));
    ended.expect("no reset");
    assert_eq!(stage.until_closed().await, (Side::Peer, Close::Fin));
}

#[tokio::test(start_paused = true)]
async fn truncate_ends_the_stream_inside_the_body() {
    let stage = Stage::new(&rule("then = \"truncate\""));
    let (bytes, ended) = to_end(&mut stage.call().await).await;
    assert_eq!(bytes, format!("{HEAD}{OPEN}"));
    ended.expect("no reset");
    assert_eq!(stage.until_closed().await, (Side::Peer, Close::Fin));
}

#[tokio::test(start_paused = true)]
async fn rst_and_truncate_rst_reset_after_all_bytes() {
    for (then, rest) in [("rst", "0\r\n\r\n"), ("truncate-rst", "")] {
        let stage = Stage::new(&rule(&format!("then = \"{then}\"")));
        let (bytes, ended) = to_end(&mut stage.call().await).await;
        assert_eq!(bytes, format!("{HEAD}{OPEN}{rest}"));
        assert_eq!(ended.expect_err("a reset").kind(), ErrorKind::ConnectionReset);
        assert_eq!(stage.until_closed().await, (Side::Peer, Close::Rst));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_told_by_the_end_ends_with_the_connection() {
    let stage = Stage::new(&rule("framing = \"close\""));
    let (bytes, ended) = to_end(&mut stage.call().await).await;
    assert!(bytes.ends_with("connection: close\r\n\r\nabcdef"), "{bytes}");
    ended.expect("no reset");
}

#[tokio::test(start_paused = true)]
async fn hold_waits_for_the_client_and_keeps_what_it_sends() {
    let stage = Stage::new(&rule("then = \"hold\""));
    let mut client = stage.call().await;
    let mut bytes = vec![0; HEAD.len() + OPEN.len()];
    client.read_exact(&mut bytes).await.expect("the reply");
    stage.until_replied().await;
    assert!(stage.replies()[0].complete);
    client.write_all(&post(super::CALL)).await.expect("open");
    let nothing = tokio::time::timeout(Duration::from_secs(3600), client.read_u8()).await;
    assert!(nothing.is_err(), "the peer sent {nothing:?}");
    assert!(stage.closed().is_empty());
    drop(client);
    assert_eq!(stage.until_closed().await, (Side::Client, Close::Fin));
    assert_eq!(stage.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_bytes_unread_resets() {
    let stage = Stage::new(&rule("then = \"hold\""));
    let client = stage.call().await;
    stage.until_replied().await;
    drop(client);
    assert_eq!(stage.until_closed().await, (Side::Client, Close::Rst));
}

#[tokio::test(start_paused = true)]
async fn drip_goes_on_until_the_client_closes() {
    let stage = Stage::new(&rule("then = \"drip\"\ndrip = { item = { text = \": x\\n\" }, every_ms = 50 }"));
    let mut client = stage.call().await;
    let mut bytes = vec![0; HEAD.len() + OPEN.len()];
    client.read_exact(&mut bytes).await.expect("the reply");
    let start = Instant::now();
    for _ in 0..3 {
        let mut drip = [0; 9];
        client.read_exact(&mut drip).await.expect("a drip");
        assert_eq!(&drip, b"4\r\n: x\n\r\n");
    }
    assert_eq!(start.elapsed().as_millis(), 150);
    drop(client);
    assert_eq!(stage.until_closed().await, (Side::Client, Close::Fin));
}

#[tokio::test(start_paused = true)]
async fn cuts_and_stops_are_where_reads_end() {
    let stage = Stage::new(
        "[[peer]]\non = \"tools/call\"\nthen = \"fin\"\nslice_over = \"body\"\nslice = \"at:2\"\nframing = \"close\"\n\
         body = [{ text = \"abcd\" }, { pause_ms = 500 }, { text = \"ef\" }, { hold = \"h\" }, { text = \"g\" }]",
    );
    let mut client = stage.call().await;
    let start = Instant::now();
    let mut reads = Vec::new();
    let mut read = async |client: &mut super::Client| {
        let mut bytes = vec![0; 4096];
        let len = client.read(&mut bytes).await.expect("no reset");
        reads.push(String::from_utf8_lossy(&bytes[..len]).into_owned());
    };
    read(&mut client).await;
    read(&mut client).await;
    assert_eq!(start.elapsed().as_millis(), 0);
    read(&mut client).await;
    assert_eq!(start.elapsed().as_millis(), 500);
    stage.recorder.wait_for(|kind| matches!(kind, EventKind::Held { name, request: 1 } if name == "h")).await;
    assert!(stage.replies().is_empty());
    stage.peer.release("h");
    read(&mut client).await;
    read(&mut client).await;
    let head = reads[0].len() - 2;
    assert_eq!((&reads[0][head..], &reads[1..]), ("ab", ["cd", "ef", "g", ""].map(str::to_owned).as_slice()));
    let reply = &stage.replies()[0];
    assert_eq!(reply.cuts, [head + 2, head + 4, head + 6]);
    assert_eq!((reply.proven, reply.complete), (3, true));
}

#[tokio::test(start_paused = true)]
async fn a_client_gone_inside_a_reply_leaves_it_incomplete() {
    let stage = Stage::new(&rule("then = \"fin\"").replace("}, {", "}, { hold = \"never\" }, {"));
    let client = stage.call().await;
    stage.recorder.wait_for(|kind| matches!(kind, EventKind::Held { .. })).await;
    drop(client);
    assert_eq!(stage.until_closed().await, (Side::Client, Close::Rst));
    let reply = &stage.replies()[0];
    assert!(!reply.complete);
    assert_eq!(reply.written, HEAD.len() + "3\r\nabc\r\n".len());
}

#[tokio::test(start_paused = true)]
async fn finish_ends_every_connection_whatever_it_waits_for() {
    let stage = Stage::new(&format!(
        "{}\n[[peer]]\non = \"ping\"\nhold = \"never\"\n[[peer]]\non = \"slow\"\ndelay_ms = 1000000",
        rule("then = \"hold\"")
    ));
    let idle = stage.open();
    let holding = stage.call().await;
    let mut others = Vec::new();
    for method in ["ping", "slow"] {
        let mut client = stage.open();
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\"}}");
        client.write_all(&post(&body)).await.expect("open");
        others.push(client);
    }
    stage.until_replied().await;
    stage.peer.finish().await;
    assert_eq!(stage.closed().len(), 4);
    assert!(stage.closed().iter().all(|(_, by, _)| *by == Side::Peer));
    assert_eq!(stage.wire.open().expect_err("closed").kind(), ErrorKind::ConnectionRefused);
    drop((idle, holding, others));
    assert_eq!(stage.closed().len(), 4, "the first closer is recorded, once");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_not_written_to_without_end() {
    let stage = Stage::new(
        "[[peer]]\non = \"tools/call\"\nslice = \"every-1024\"\nbody = [{ repeat = \"x\", times = 1000000 }]",
    );
    let client = stage.call().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(client);
    assert_eq!(stage.until_closed().await, (Side::Client, Close::Rst));
    assert_eq!(stage.replies()[0].written, 64 << 10);
}
