//! Which rule answers, and what becomes of bytes that are no request.

use super::{CALL, Stage, post, reply, to_end};
use crate::revision::Revision;
use crate::timeline::{Close, EventKind, Side};
use proptest::prelude::*;
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;

async fn ask(stage: &Stage, request: &[u8]) -> (String, String) {
    let mut client = stage.open();
    client.write_all(request).await.expect("the peer reads");
    reply(&mut client).await
}

fn rules_used(stage: &Stage) -> Vec<String> {
    stage.requests().into_iter().map(|request| request.rule).collect()
}

#[tokio::test(start_paused = true)]
async fn nth_and_with_pick_the_rule_and_the_polite_peer_stands_behind() {
    let stage = Stage::new(
        "[[peer]]\non = \"tools/call\"\nnth = 2\nstatus = 500\n\
         [[peer]]\non = \"any\"\nwith = { name = \"x-a\", is = \"1\" }\nstatus = 503\n\
         [[peer]]\non = \"tools/call\"\nwith = { name = \"host\", absent = true }\nstatus = 400\n",
    );
    for _ in 0..3 {
        ask(&stage, &post(CALL)).await;
    }
    ask(&stage, b"GET /mcp HTTP/1.1\r\nhost: peer\r\nx-a: 1\r\n\r\n").await;
    let bare = String::from_utf8(post(CALL)).expect("text").replace("host: peer\r\n", "");
    ask(&stage, bare.as_bytes()).await;
    assert_eq!(rules_used(&stage), ["polite:0", "case:0", "polite:0", "case:1", "case:2"]);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_stream_answers_the_call_it_belongs_to() {
    let stage = Stage::new(
        "[[peer]]\non = \"resume\"\nwith = { name = \"last-event-id\", is = \"s-1\" }\n\
         body = [{ result = \"late\", id = \"{{call.a-b}}\" }]\n\
         [[peer]]\non = \"resume\"\nbody = [{ text = \"{{call.never}}\" }]\n",
    );
    let call = |id: u32, text: &str| {
        let params = format!(r#"{{"name":"echo","arguments":{{"text":"{text}"}}}}"#);
        post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#))
    };
    for (id, text) in [(7, "a-b"), (8, "a-b"), (9, "c")] {
        ask(&stage, &call(id, text)).await;
    }
    let get = |id: &str| format!("GET /mcp HTTP/1.1\r\nhost: peer\r\n{id}\r\n").into_bytes();
    assert!(ask(&stage, &get("last-event-id: s-1\r\n")).await.1.contains(r#""id":8,"#));
    assert_eq!(ask(&stage, &get("last-event-id: s-2\r\n")).await.1, "null");
    assert_eq!(&ask(&stage, &get("")).await.0[9..12], "405");
    assert_eq!(rules_used(&stage)[3..], ["case:0", "case:1", "default"]);
}

#[tokio::test(start_paused = true)]
async fn unexpected_requests_get_the_stated_default() {
    let stage = Stage::new("");
    let status = |(head, body): (String, String)| (head[9..12].to_owned(), body);
    let at = async |request: &[u8]| status(ask(&stage, request).await);
    assert_eq!(at(b"GET /mcp HTTP/1.1\r\n\r\n").await.0, "405");
    assert_eq!(at(b"DELETE /mcp HTTP/1.1\r\n\r\n").await.0, "405");
    let unknown = post(r#"{"jsonrpc":"2.0","id":"a","method":"x"}"#);
    let body = r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}"#;
    assert_eq!(at(&unknown).await, ("200".to_owned(), body.to_owned()));
    assert_eq!(
        at(&post(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#)).await,
        ("202".to_owned(), String::new())
    );
    assert_eq!(at(&post(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)).await.0, "202");
    assert_eq!(at(&post("[]")).await.0, "400");
    assert!(rules_used(&stage).iter().all(|rule| rule == "default"));
    assert_eq!(at(&post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)).await.0, "202");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_method_is_404_only_where_that_is_no_word_on_the_session() {
    let unknown = post(r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
    for (revision, status) in [(Revision::V20251125, "200"), (Revision::V20260728, "404")] {
        let (head, body) = ask(&Stage::speaking(revision, ""), &unknown).await;
        assert_eq!(&head[9..12], status, "{revision}");
        assert!(body.contains("-32601"), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn holds_delays_and_releases_by_rule() {
    let stage = Stage::new(
        "[[peer]]\non = \"tools/call\"\nhold = \"h\"\n[[peer]]\non = \"go\"\nrelease = \"h\"\ndelay_ms = 250\n",
    );
    let mut held = stage.call().await;
    stage.recorder.wait_for(|kind| matches!(kind, EventKind::Held { .. })).await;
    let start = Instant::now();
    ask(&stage, &post(r#"{"jsonrpc":"2.0","id":2,"method":"go"}"#)).await;
    assert_eq!(start.elapsed().as_millis(), 250);
    reply(&mut held).await;
    let kinds = stage.kinds();
    let at = |wanted: fn(&EventKind) -> bool| kinds.iter().position(wanted).expect("it happened");
    assert!(at(|k| matches!(k, EventKind::Held { .. })) < at(|k| matches!(k, EventKind::Released { .. })));
    // Released once is released for good.
    reply(&mut stage.call().await).await;
}

#[tokio::test(start_paused = true)]
async fn chunked_and_expecting_requests_are_read() {
    let stage = Stage::new("");
    let (half, rest) = CALL.split_at(20);
    let request = format!(
        "POST /mcp HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{:x};a=b\r\n{half}\r\n{:x}\r\n{rest}\r\n0\r\nx: y\r\n\r\n",
        half.len(),
        rest.len()
    );
    let mut client = stage.open();
    for byte in request.as_bytes() {
        client.write_all(&[*byte]).await.expect("open");
        tokio::task::yield_now().await;
    }
    reply(&mut client).await;
    let seen = stage.requests().remove(0);
    assert_eq!((seen.body.as_ref(), seen.on()), (CALL.as_bytes(), "tools/call"));

    let mut client = stage.open();
    let head = format!("POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n", CALL.len());
    client.write_all(head.as_bytes()).await.expect("open");
    let mut leave = [0; 25];
    tokio::io::AsyncReadExt::read_exact(&mut client, &mut leave).await.expect("leave to go on");
    assert_eq!(&leave, b"HTTP/1.1 100 Continue\r\n\r\n");
    client.write_all(CALL.as_bytes()).await.expect("open");
    reply(&mut client).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_wants_to_close_gets_its_way() {
    let stage = Stage::new("");
    let mut client = stage.open();
    client.write_all(b"GET / HTTP/1.1\r\nconnection: Close\r\n\r\n").await.expect("open");
    let (_, ended) = to_end(&mut client).await;
    ended.expect("no reset");
    assert_eq!(stage.until_closed().await, (Side::Peer, Close::Fin));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_request_is_recorded_and_refused() {
    let long = [b"GET / HTTP/1.1\r\nx: ".as_slice(), &vec![b'y'; 70 << 10]].concat();
    let requests: [&[u8]; 8] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST / HTTP/1.1\r\ncontent-length: +3\r\n\r\nabc",
        b"POST / HTTP/1.1\r\ncontent-length: 3\r\ncontent-length: 3\r\n\r\nabc",
        b"POST / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\nabc",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n",
        &long,
    ];
    for request in requests {
        let stage = Stage::new("");
        let mut client = stage.open();
        client.write_all(request).await.expect("the peer reads");
        let (bytes, ended) = to_end(&mut client).await;
        assert!(bytes.starts_with("HTTP/1.1 400 "), "{bytes:?}");
        ended.expect("no reset");
        assert!(
            stage
                .kinds()
                .iter()
                .any(|kind| matches!(kind, EventKind::BadRequest { raw, .. } if !raw.is_empty()))
        );
        assert_eq!(stage.until_closed().await, (Side::Peer, Close::Fin));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_cut_short_is_recorded() {
    let stage = Stage::new("");
    let mut client = stage.open();
    client.write_all(b"POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nabc").await.expect("open");
    drop(client);
    assert_eq!(stage.until_closed().await, (Side::Client, Close::Fin));
    assert!(
        stage
            .kinds()
            .iter()
            .any(|kind| matches!(kind, EventKind::BadRequest { raw, .. } if raw.ends_with(b"abc")))
    );
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_cannot_be_carried_out_is_our_error() {
    let stage = Stage::new("[[peer]]\non = \"tools/call\"\nbody = [{ text = \"{{what}}\" }]");
    let (bytes, _) = to_end(&mut stage.call().await).await;
    assert_eq!(bytes, "");
    assert!(
        stage
            .kinds()
            .iter()
            .any(|kind| matches!(kind, EventKind::HarnessError { problem } if problem.contains("{{what}}")))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_peer_panic_or_hang(
        start in prop::sample::select(vec!["", "GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", "POST / HTTP/1.1\r\ncontent-length: 7\r\n\r\n"]),
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
        runtime.block_on(async {
            let stage = Stage::new("");
            let mut client = stage.open();
            for piece in [start.as_bytes().to_vec()].into_iter().chain(pieces) {
                // The peer may have closed by now.
                if client.write_all(&piece).await.is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(client);
            stage.peer.finish().await;
            assert_eq!(stage.closed().len(), 1);
        });
    }
}
