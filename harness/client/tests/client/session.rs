//! A session's end by 404, what ends with it, and a new one; the end by close.

use std::time::Duration;

use crate::peer::{Peer, SESSION, kind, settle, text_result};
use mcp_assay_client::{Arguments, CallOptions, Client, Effect, Error, Limits, State, ToolOutput};
use tokio::time::sleep;

async fn echo(client: &Client) -> Result<ToolOutput, Error> {
    client.call_tool("echo", Arguments::empty(), CallOptions::new()).await
}

fn spawn_echo(client: &Client) -> tokio::task::JoinHandle<Result<ToolOutput, Error>> {
    let client = client.clone();
    tokio::spawn(async move { echo(&client).await })
}

/// Rows EX-SES-01, EX-SES-02, EX-SES-03, EX-SES-04, EX-SES-10, EX-TO-10.
#[tokio::test(start_paused = true)]
async fn a_404_ends_everything_of_its_generation_and_nothing_of_the_next() {
    let (mut peer, client) = Peer::ready(Limits::default(), Some(SESSION)).await;
    let calls = [spawn_echo(&client), spawn_echo(&client)];
    let (first, _) = peer.request("tools/call").await;
    let (mut second, old) = peer.request("tools/call").await;
    assert_eq!(client.status().pending, 2);
    first.reply(404, "", "").await;
    let mut effects = Vec::new();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), "session_expired");
        effects.push(error.effect());
    }
    assert_eq!(effects, [Effect::Answered, Effect::Uncertain]);
    let status = client.status();
    assert_eq!((status.state, status.pending, status.has_session), (State::Expired, 0, false));
    assert_eq!(kind(&client.list_tools().await), "not_ready");

    let (again, ()) = tokio::join!(client.reconnect(), peer.handshake(Some("another")));
    again.expect("the handshake is sound");
    assert_eq!(client.status().generation, 2);
    let call = spawn_echo(&client);
    let (socket, request) = peer.request("tools/call").await;
    assert_eq!(request.header("mcp-session-id"), Some("another"));
    assert!(request.id() > old.id());
    // The late completion of the old generation: its socket is gone, its id is no longer asked for.
    assert!(second.is_closed().await);
    socket.answer_text(&request, "new").await;
    assert_eq!(call.await.unwrap().unwrap().text, "new");
    peer.assert_quiet();
}

/// Row EX-SES-10.
#[tokio::test(start_paused = true)]
async fn a_close_after_a_404_sends_nothing() {
    let (mut peer, client) = Peer::ready(Limits::default(), Some(SESSION)).await;
    let call = spawn_echo(&client);
    let (socket, _) = peer.request("tools/call").await;
    socket.reply(404, "", "").await;
    assert_eq!(kind(&call.await.unwrap()), "session_expired");
    client.close().await.expect("nothing is to be deleted");
    sleep(Duration::from_secs(60)).await;
    peer.assert_quiet();
}

/// Rows EX-SES-05, EX-SES-11.
#[tokio::test(start_paused = true)]
async fn a_404_reaches_the_cancellations_and_comes_from_them() {
    let (mut peer, client) = Peer::ready(Limits::default(), Some(SESSION)).await;
    let dropped = [spawn_echo(&client), spawn_echo(&client)];
    let held = [peer.request("tools/call").await, peer.request("tools/call").await];
    for call in dropped {
        call.abort();
    }
    let (mut in_flight, _) = peer.request("notifications/cancelled").await;
    let (refused, _) = peer.request("notifications/cancelled").await;
    let pending = spawn_echo(&client);
    let (mut other, _) = peer.request("tools/call").await;
    refused.reply(404, "", "").await;
    assert_eq!(kind(&pending.await.unwrap()), "session_expired");
    in_flight.closed().await;
    other.closed().await;
    drop(held);
    assert_eq!(client.status().state, State::Expired);
}

/// Rows EX-SES-09, EX-HS-22.
#[tokio::test(start_paused = true)]
async fn reconnect_and_calls_wait_for_their_time() {
    let (mut peer, client) = Peer::ready(Limits::default(), Some(SESSION)).await;
    assert_eq!(kind(&client.reconnect().await), "not_available");
    let call = spawn_echo(&client);
    let (socket, _) = peer.request("tools/call").await;
    socket.reply(404, "", "").await;
    assert_eq!(kind(&call.await.unwrap()), "session_expired");
    let again = tokio::spawn({
        let client = client.clone();
        async move { client.reconnect().await }
    });
    let (socket, request) = peer.request("initialize").await;
    assert_eq!(kind(&client.reconnect().await), "busy");
    socket.answer_initialize(&request, None).await;
    let (socket, _) = peer.request("notifications/initialized").await;
    assert_eq!(kind(&echo(&client).await), "not_ready");
    socket.reply(202, "", "").await;
    again.await.unwrap().expect("the handshake is sound");
    peer.assert_quiet();
}

/// Rows EX-REQ-04, EX-REQ-05, EX-REQ-11.
#[tokio::test(start_paused = true)]
async fn admission_comes_before_encoding_and_answers_find_their_callers() {
    let (mut peer, client) = Peer::ready(Limits::default().max_pending(2), None).await;
    let calls = [spawn_echo(&client), spawn_echo(&client)];
    let (first, one) = peer.request("tools/call").await;
    let (second, two) = peer.request("tools/call").await;
    let oversized = Arguments::from_json(&format!(r#"{{"x":"{}"}}"#, "y".repeat(1 << 20))).unwrap();
    assert_eq!(kind(&client.call_tool("echo", oversized, CallOptions::new()).await), "busy");
    second.answer_text(&two, "two").await;
    first.answer_text(&one, "one").await;
    let [a, b] = calls;
    assert_eq!(a.await.unwrap().unwrap().text, "one");
    assert_eq!(b.await.unwrap().unwrap().text, "two");
    assert_eq!(client.status().pending, 0);
    peer.assert_quiet();
}

/// Rows EX-CL-01, EX-CL-04, EX-CL-07.
#[tokio::test(start_paused = true)]
async fn close_ends_what_is_pending_and_is_itself_bounded() {
    let limits = Limits::default().control_timeout(Duration::from_millis(100));
    let (mut peer, client) = Peer::ready(limits, Some(SESSION)).await;
    let call = spawn_echo(&client);
    let (mut held, _) = peer.request("tools/call").await;
    let close = tokio::spawn({
        let client = client.clone();
        async move { client.close().await }
    });
    let (mut delete, _) = peer.request("DELETE").await;
    assert_eq!(call.await.unwrap().unwrap_err(), Error::Closed { effect: Effect::Uncertain });
    held.closed().await;
    assert_eq!(kind(&client.close().await), "closed");
    assert_eq!(kind(&echo(&client).await), "not_ready");
    delete.closed().await;
    assert_eq!(kind(&close.await.unwrap()), "timeout");
    assert_eq!(client.status().state, State::Closed);
    settle().await;
    peer.assert_quiet();
}

/// Row EX-CL-01.
#[tokio::test(start_paused = true)]
async fn a_close_with_every_connection_taken_still_deletes() {
    let (mut peer, client) = Peer::ready(Limits::default().max_connections(1), Some(SESSION)).await;
    let call = spawn_echo(&client);
    let (mut held, _) = peer.request("tools/call").await;
    let close = tokio::spawn({
        let client = client.clone();
        async move { client.close().await }
    });
    held.closed().await;
    let (delete, _) = peer.request("DELETE").await;
    delete.reply(204, "", "").await;
    close.await.unwrap().expect("204 is accepted");
    assert_eq!(kind(&call.await.unwrap()), "closed");
}

/// Row EX-REQ-06.
#[tokio::test(start_paused = true)]
async fn an_answer_on_another_socket_is_no_answer() {
    // A completion is a value that only the call's own task can make: it owns the socket, the id and the sender, so
    // there is no door through which bytes of another transport or another worker could come. What is left to show
    // is that an answer on another call's socket is no answer.
    let (mut peer, client) = Peer::ready(Limits::default(), None).await;
    let held = spawn_echo(&client);
    let (socket, request) = peer.request("tools/call").await;
    let other = spawn_echo(&client);
    let (forged, _) = peer.request("tools/call").await;
    forged.reply_json(&text_result(request.id(), "forged")).await;
    assert_eq!(kind(&other.await.unwrap()), "response_id_mismatch");
    assert!(!held.is_finished());
    socket.answer_text(&request, "real").await;
    assert_eq!(held.await.unwrap().unwrap().text, "real");
}

/// A client and its futures can be shared and sent.
#[test]
fn a_client_is_send_and_sync() {
    fn check<T: Send + Sync + 'static>() {}
    fn sent<T: Send>(_: impl FnOnce(&'static Client) -> T) {}
    check::<Client>();
    check::<Error>();
    sent(echo);
    sent(Client::list_tools);
    sent(Client::reconnect);
    sent(Client::close);
}
