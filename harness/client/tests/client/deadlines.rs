//! Deadlines, cancellation and the death of those who ask.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use crate::peer::{Peer, SESSION, kind, settle, text_result};
use mcp_assay_client::{Arguments, CallOptions, Client, Effect, Error, Limits, ToolOutput};
use tokio::time::{Instant, advance, sleep, timeout};

const MS_100: Duration = Duration::from_millis(100);

fn limits() -> Limits {
    Limits::default().timeout(MS_100)
}

async fn echo(client: &Client) -> Result<ToolOutput, Error> {
    client.call_tool("echo", Arguments::empty(), CallOptions::new()).await
}

/// Runs a call in a task of its own; aborting the task drops the call's future.
fn spawn_echo(client: &Client) -> tokio::task::JoinHandle<Result<ToolOutput, Error>> {
    let client = client.clone();
    tokio::spawn(async move { echo(&client).await })
}

/// Rows EX-TO-01, EX-TO-10.
#[tokio::test(start_paused = true)]
async fn a_deadline_closes_the_socket_and_cancels_once() {
    let (mut peer, client) = Peer::ready(limits(), Some(SESSION)).await;
    let started = Instant::now();
    let call = spawn_echo(&client);
    let (mut held, request) = peer.request("tools/call").await;
    held.closed().await;
    assert_eq!(started.elapsed().as_millis(), 100);
    let outcome = call.await.unwrap();
    assert_eq!(outcome.unwrap_err(), Error::Timeout { effect: Effect::Uncertain });
    let (socket, cancelled) = peer.request("notifications/cancelled").await;
    assert_eq!(cancelled.json()["params"], serde_json::json!({ "requestId": request.id() }));
    assert_eq!(cancelled.header("mcp-session-id"), Some(SESSION));
    socket.reply(500, "", "").await;
    sleep(Duration::from_secs(60)).await;
    peer.assert_quiet();
    assert_eq!(client.status().pending, 0);
}

/// Row EX-TO-02.
#[tokio::test(start_paused = true)]
async fn progress_renews_nothing() {
    let (mut peer, client) = Peer::ready(limits(), None).await;
    let started = Instant::now();
    let call = spawn_echo(&client);
    let (mut held, _) = peer.request("tools/call").await;
    held.open_stream().await;
    for _ in 0..3 {
        sleep(Duration::from_millis(30)).await;
        held.event(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#).await;
    }
    held.closed().await;
    assert_eq!(started.elapsed().as_millis(), 100);
    assert_eq!(kind(&call.await.unwrap()), "timeout");
    let (socket, cancelled) = peer.request("notifications/cancelled").await;
    assert_eq!(cancelled.header("mcp-session-id"), None);
    socket.reply(202, "", "").await;
    client.close().await.expect("a client without a session closes without a request");
    peer.assert_quiet();
}

/// Row EX-TO-03.
#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_given_up_and_cancelled() {
    let (mut peer, client) = Peer::ready(limits(), Some(SESSION)).await;
    let call = spawn_echo(&client);
    let (mut held, request) = peer.request("tools/call").await;
    call.abort();
    held.closed().await;
    let (socket, cancelled) = peer.request("notifications/cancelled").await;
    assert_eq!(cancelled.json()["params"]["requestId"], request.id());
    socket.reply(202, "", "").await;
    settle().await;
    assert_eq!(client.status().pending, 0);
    peer.assert_quiet();
}

/// Row EX-TO-04.
#[tokio::test(start_paused = true)]
async fn the_last_handle_takes_everything_with_it() {
    let (mut peer, client) = Peer::ready(limits(), Some(SESSION)).await;
    let call = spawn_echo(&client);
    let (mut held, _) = peer.request("tools/call").await;
    drop(client);
    settle().await;
    assert!(!held.is_closed().await, "the call's future still holds a handle");
    call.abort();
    held.closed().await;
    sleep(Duration::from_secs(60)).await;
    peer.assert_quiet();
}

/// Row EX-TO-05.
#[tokio::test(start_paused = true)]
async fn a_deadline_holds_when_nobody_polls() {
    let (mut peer, client) = Peer::ready(limits(), Some(SESSION)).await;
    let started = Instant::now();
    let mut call = pin!(echo(&client));
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let (mut held, _) = peer.request("tools/call").await;
    held.closed().await;
    assert_eq!(started.elapsed().as_millis(), 100, "the socket is closed on time");
    let (socket, _) = peer.request("notifications/cancelled").await;
    socket.reply(202, "", "").await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(kind(&call.await), "timeout");
}

/// Row EX-TO-06.
#[tokio::test(start_paused = true)]
async fn a_success_that_waits_behind_the_deadline_is_late() {
    for stream in [false, true] {
        let (mut peer, client) = Peer::ready(limits(), None).await;
        let call = spawn_echo(&client);
        let (mut held, request) = peer.request("tools/call").await;
        settle().await;
        // The answer is in the pipe, and the clock passes the deadline before any task runs.
        if stream {
            held.open_stream().await;
            held.event(&text_result(request.id(), "late")).await;
        } else {
            held.answer_text(&request, "late").await;
        }
        advance(Duration::from_millis(250)).await;
        assert_eq!(kind(&call.await.unwrap()), "timeout");
        assert_eq!(client.status().pending, 0);
    }
}

/// Rows EX-TO-07, EX-CL-01.
#[tokio::test(start_paused = true)]
async fn cancellations_have_a_cap_and_end_with_the_client() {
    let (mut peer, client) = Peer::ready(limits().max_control_workers(1), None).await;
    let calls = [spawn_echo(&client), spawn_echo(&client)];
    let (mut first, _) = peer.request("tools/call").await;
    let (mut second, _) = peer.request("tools/call").await;
    for call in calls {
        assert_eq!(kind(&call.await.unwrap()), "timeout");
    }
    first.closed().await;
    second.closed().await;
    let (mut cancelled, _) = peer.request("notifications/cancelled").await;
    settle().await;
    peer.assert_quiet();
    client.close().await.expect("nothing is to be deleted");
    cancelled.closed().await;
    peer.assert_quiet();
}

/// Rows EX-TO-08, EX-TO-09.
#[tokio::test(start_paused = true)]
async fn four_cancellations_at_once_each_bounded() {
    let (mut peer, client) = Peer::ready(limits(), None).await;
    let calls: Vec<_> = (0..6).map(|_| spawn_echo(&client)).collect();
    let mut held = Vec::new();
    for _ in 0..6 {
        held.push(peer.request("tools/call").await);
    }
    for call in calls {
        assert_eq!(kind(&call.await.unwrap()), "timeout");
    }
    let started = Instant::now();
    let mut cancelled = Vec::new();
    for _ in 0..4 {
        cancelled.push(peer.request("notifications/cancelled").await);
    }
    for (socket, _) in &mut cancelled {
        socket.closed().await;
    }
    assert_eq!(started.elapsed().as_millis(), 1_000, "control_timeout bounds each");
    sleep(Duration::from_secs(60)).await;
    peer.assert_quiet();
}

/// Row EX-REQ-12.
#[tokio::test(start_paused = true)]
async fn a_call_that_found_no_connection_times_out_unsent() {
    let (mut peer, client) = Peer::ready(limits().max_connections(2), None).await;
    let calls: Vec<_> = (0..3).map(|_| spawn_echo(&client)).collect();
    let held = [peer.request("tools/call").await, peer.request("tools/call").await];
    let mut effects = Vec::new();
    for call in calls {
        effects.push(call.await.unwrap().unwrap_err().effect());
    }
    assert_eq!(effects, [Effect::Uncertain, Effect::Uncertain, Effect::NotSent]);
    for _ in &held {
        let (socket, _) = peer.request("notifications/cancelled").await;
        socket.reply(202, "", "").await;
    }
    sleep(Duration::from_secs(60)).await;
    peer.assert_quiet();
}

/// Row EX-REQ-12.
#[tokio::test(start_paused = true)]
async fn a_call_gets_the_connection_another_gives_up() {
    let (mut peer, client) = Peer::ready(limits().max_connections(1), None).await;
    let first = spawn_echo(&client);
    let second = spawn_echo(&client);
    let (socket, request) = peer.request("tools/call").await;
    settle().await;
    peer.assert_quiet();
    socket.answer_text(&request, "one").await;
    let (socket, request) = peer.request("tools/call").await;
    socket.answer_text(&request, "two").await;
    assert_eq!(first.await.unwrap().unwrap().text, "one");
    assert_eq!(second.await.unwrap().unwrap().text, "two");
}

/// Row EX-CTL-10.
#[tokio::test(start_paused = true)]
async fn an_unacknowledged_answer_fails_the_call_at_the_earlier_deadline() {
    for (control, expected) in [(30, 40), (60_000, 100)] {
        let limits = limits().control_timeout(Duration::from_millis(control));
        let (mut peer, client) = Peer::ready(limits, Some(SESSION)).await;
        let started = Instant::now();
        let call = spawn_echo(&client);
        let (mut stream, _) = peer.request("tools/call").await;
        stream.open_stream().await;
        sleep(Duration::from_millis(10)).await;
        stream.event(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#).await;
        let (mut held, answer) = peer.request("POST").await;
        assert_eq!(answer.json()["id"], "p");
        held.closed().await;
        assert_eq!(started.elapsed().as_millis(), expected, "control_timeout {control}");
        stream.closed().await;
        assert_eq!(kind(&call.await.unwrap()), "timeout");
    }
}

/// Rows EX-HS-15, EX-HS-16.
#[tokio::test(start_paused = true)]
async fn a_handshake_held_or_dropped_leaves_nothing() {
    let (mut peer, builder) = Peer::builder(limits());
    let connect = tokio::spawn(builder.connect());
    let (mut held, _) = peer.request("initialize").await;
    held.closed().await;
    assert_eq!(kind(&connect.await.unwrap()), "timeout");
    let (mut dropped_peer, builder) = Peer::builder(limits());
    let connect = tokio::spawn(builder.connect());
    let (mut held, _) = dropped_peer.request("initialize").await;
    connect.abort();
    assert!(timeout(Duration::from_millis(1), held.closed()).await.is_ok(), "closed at once");
    sleep(Duration::from_secs(60)).await;
    peer.assert_quiet();
    dropped_peer.assert_quiet();
}

/// Rows EX-HS-14, EX-HS-23.
#[tokio::test(start_paused = true)]
async fn one_deadline_lies_over_the_whole_handshake() {
    for (control, expected) in [(1_000, 100), (20, 80)] {
        let limits = limits().control_timeout(Duration::from_millis(control));
        let (mut peer, builder) = Peer::builder(limits);
        let started = Instant::now();
        let connect = tokio::spawn(builder.connect());
        let (socket, request) = peer.request("initialize").await;
        sleep(Duration::from_millis(60)).await;
        socket.answer_initialize(&request, Some(SESSION)).await;
        let (mut held, _) = peer.request("notifications/initialized").await;
        held.closed().await;
        assert_eq!(started.elapsed().as_millis(), expected);
        assert_eq!(kind(&connect.await.unwrap()), "timeout");
        settle().await;
        peer.assert_quiet();
    }
}
