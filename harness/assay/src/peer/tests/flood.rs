//! A client that sends without end: the recording stays within its room, and the timeline says so.

use super::{CALL, Stage, post, reply};
use crate::timeline::EventKind;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn full(kind: &EventKind) -> bool {
    matches!(kind, EventKind::HarnessError { problem } if problem.contains("saw more"))
}

#[tokio::test(start_paused = true)]
async fn too_many_events_close_every_connection_and_refuse_new_ones() {
    let stage = Stage::within(1 << 20, 20, "");
    let (mut flooding, mut idle) = (stage.open(), stage.open());
    flooding.write_all(&post(CALL).repeat(50)).await.expect("the peer reads");
    // Both end: nothing has to be sent, read or finished for it.
    let mut rest = Vec::new();
    let _how = flooding.read_to_end(&mut rest).await;
    let _how = idle.read_to_end(&mut rest).await;
    let kinds = stage.kinds();
    assert_eq!(kinds.len(), 21, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| full(kind)).count(), 1);
    assert!(full(&kinds[20]));
    assert!(stage.peer.is_finished() && stage.wire.open().is_err());
    stage.recorder.push(EventKind::Teardown);
    assert_eq!(stage.kinds().last(), Some(&EventKind::Teardown));
    stage.peer.finish().await;
}

#[tokio::test(start_paused = true)]
async fn bytes_count_before_they_are_a_request() {
    let stage = Stage::within(100_000, 1_000, "");
    let mut client = stage.open();
    let head = "POST /mcp HTTP/1.1\r\nhost: peer\r\ncontent-length: 16000000\r\n\r\n";
    client.write_all(head.as_bytes()).await.expect("the peer reads");
    let mut sent = 0;
    while sent < 10_000_000 && client.write_all(&[b' '; 10_000]).await.is_ok() {
        sent += 10_000;
        tokio::task::yield_now().await;
    }
    assert!(sent < 1_000_000, "{sent}");
    assert!(stage.kinds().iter().any(full));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_much_json_is_recorded_and_not_parsed() {
    let stage = Stage::new("");
    let mut client = stage.open();
    let body = format!("[{}0]", "0,".repeat(1_500_000));
    client.write_all(&post(&body)).await.expect("the peer reads");
    let (head, _) = reply(&mut client).await;
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    let (kinds, requests) = (stage.kinds(), stage.requests());
    assert!(requests[0].json.is_none() && requests[0].body.len() == body.len());
    assert!(
        matches!(&kinds[1], EventKind::HarnessError { problem } if problem.contains("as JSON")),
        "{:?}",
        kinds[1]
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_text_is_still_read() {
    let stage = Stage::new("");
    let mut client = stage.open();
    let long = "snow,".repeat(400_000);
    client.write_all(&post(&CALL.replace("snow", &long))).await.expect("the peer reads");
    let (_, body) = reply(&mut client).await;
    assert!(body.contains(&long));
    assert_eq!(stage.requests()[0].on(), "tools/call");
}
