//! Real sockets: cuts, resets, closings, strays.

use super::{SockDiag, Taken, TcpSlot};
use crate::case::Case;
use crate::peer::{Peer, Script};
use crate::revision::Revision;
use crate::timeline::{Close, EventKind, Recorder, Side};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, SocketAddrV4};
use std::time::Instant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

fn peer(rule: &str) -> (Peer, Recorder) {
    let case = |rules: &str| -> Case {
        toml::from_str(&format!("title = \"t\"\nrevisions = [\"2025-06-18\"]\n{rules}")).expect("it parses")
    };
    let (case, polite) = (case(&format!("[[peer]]\non = \"GET\"\n{rule}")), case(""));
    let limits = BTreeMap::new();
    let revision = Revision::V20250618;
    let recorder = Recorder::start();
    let script = Script { case: &case, polite: &polite, revision, seed: 0, limits: &limits };
    (Peer::new(&script, recorder.clone()).expect("the plans parse"), recorder)
}

async fn get(url: &str) -> TcpStream {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut client = TcpStream::connect(address).await.expect("the slot listens");
    client.write_all(b"GET /mcp HTTP/1.1\r\n\r\n").await.expect("open");
    client
}

async fn until_closed(recorder: &Recorder) -> (Side, Close) {
    recorder.wait_for(|kind| matches!(kind, EventKind::Closed { .. })).await;
    let closed = recorder.snapshot().into_iter().find_map(|event| match event.kind {
        EventKind::Closed { by, how, .. } => Some((by, how)),
        _ => None,
    });
    closed.expect("one was waited for")
}

fn v4(address: std::io::Result<SocketAddr>) -> SocketAddrV4 {
    match address.expect("an address") {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(address) => panic!("{address} is not an IPv4 address"),
    }
}

#[tokio::test]
async fn cuts_are_proven_and_reads_end_at_them() {
    let mut slot = TcpSlot::bind().expect("a port");
    let (peer, recorder) =
        peer("body = [{ repeat = \"x\", times = 300 }]\nslice = \"every-byte\"\nthen = \"fin\"");
    let loan = slot.lend(peer).expect("a socket");
    let mut client = get(loan.url()).await;
    let start = Instant::now();
    let mut reads = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        match client.read(&mut bytes).await.expect("no reset") {
            0 => break,
            len => reads.push(len),
        }
    }
    let took = start.elapsed();
    drop(client);
    loan.end().await;
    let reply = recorder.snapshot().into_iter().find_map(|event| match event.kind {
        EventKind::Replied(reply) => Some(reply),
        _ => None,
    });
    let reply = reply.expect("the peer replied");
    assert!(reply.complete);
    assert_eq!(reply.cuts.len(), reply.bytes.len() - 1);
    assert_eq!(reads.iter().sum::<usize>(), reply.bytes.len());
    println!("{} of {} cuts proven in {took:?}", reply.proven, reply.cuts.len());
    if reply.proven as usize == reply.cuts.len() {
        assert!(reads.iter().all(|len| *len == 1), "{reads:?}");
    } else {
        assert!(cfg!(not(target_os = "linux")) || SockDiag::open().is_none(), "{} proven", reply.proven);
    }
}

#[tokio::test]
async fn a_reset_comes_after_what_was_written() {
    let mut slot = TcpSlot::bind().expect("a port");
    let (peer, recorder) = peer("stream = [{ text = \"abc\" }]\nthen = \"truncate-rst\"");
    let loan = slot.lend(peer).expect("a socket");
    let mut client = get(loan.url()).await;
    let mut bytes = Vec::new();
    let ended = client.read_to_end(&mut bytes).await.expect_err("a reset");
    assert_eq!(ended.kind(), ErrorKind::ConnectionReset);
    assert!(bytes.ends_with(b"3\r\nabc\r\n"));
    assert_eq!(until_closed(&recorder).await, (Side::Peer, Close::Rst));
    loan.end().await;
}

#[tokio::test]
async fn the_client_s_closing_is_seen_while_the_peer_holds() {
    let mut slot = TcpSlot::bind().expect("a port");
    for reset in [false, true] {
        let (peer, recorder) = peer("stream = [{ text = \"abc\" }]\nthen = \"hold\"");
        let loan = slot.lend(peer).expect("a socket");
        let mut client = get(loan.url()).await;
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"abc\r\n") {
            assert!(client.read_buf(&mut bytes).await.expect("no reset") > 0, "the reply breaks off");
        }
        if reset {
            client.set_zero_linger().expect("open");
        }
        drop(client);
        let how = if reset { Close::Rst } else { Close::Fin };
        assert_eq!(until_closed(&recorder).await, (Side::Client, how));
        loan.end().await;
    }
    assert_eq!(slot.take_strays(), 0);
}

#[tokio::test]
async fn strays_are_closed_unread_and_counted() {
    let mut slot = TcpSlot::bind().expect("a port");
    let (first, recorder) = peer("");
    let loan = slot.lend(first).expect("a socket");
    let url = loan.url().to_owned();
    loan.end().await;
    let mut stray = get(&url).await;
    assert_eq!(slot.take_strays(), 1);
    let mut bytes = Vec::new();
    // The end, or a reset for the request nobody read.
    drop(stray.read_to_end(&mut bytes).await);
    assert!(bytes.is_empty());
    assert_eq!(slot.take_strays(), 0);
    assert!(recorder.snapshot().is_empty());

    let _late = get(&url).await;
    let (second, recorder) = peer("");
    let loan = slot.lend(second).expect("a socket");
    loan.end().await;
    assert!(recorder.snapshot().is_empty());
    assert_eq!(slot.take_strays(), 1);
}

#[test]
fn the_kernel_tells_what_is_unread() {
    let Some(diag) = SockDiag::open() else { return };
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let peer = v4(listener.local_addr());
    let mut client = std::net::TcpStream::connect(peer).expect("it listens");
    let (mut server, _) = listener.accept().expect("a connection");
    let address = v4(client.local_addr());
    if diag.taken(address, peer, 0) == Taken::Unknown {
        println!("this kernel does not tell");
        return;
    }
    assert_eq!(diag.taken(address, peer, 0), Taken::All);
    assert_eq!(diag.taken(address, peer, 1), Taken::NotYet, "nothing has arrived");
    server.write_all(b"ab").expect("open");
    assert_eq!(diag.taken(address, peer, 2), Taken::NotYet, "nothing has been read");
    let mut bytes = [0; 2];
    client.read_exact(&mut bytes[..1]).expect("open");
    assert_eq!(diag.taken(address, peer, 2), Taken::NotYet, "not all has been read");
    client.read_exact(&mut bytes[1..]).expect("open");
    assert_eq!(diag.taken(address, peer, 2), Taken::All);
    let start = Instant::now();
    let asked = 1000;
    for _ in 0..asked {
        assert_eq!(diag.taken(address, peer, 2), Taken::All);
    }
    println!("one question takes {:?}", start.elapsed() / asked);
    let nobody = SocketAddrV4::new(*address.ip(), 1);
    assert_eq!(diag.taken(nobody, peer, 0), Taken::Unknown);
}
