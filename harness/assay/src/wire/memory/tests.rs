//! What a read on the memory wire is.

use super::{Between, pair};
use crate::peer::Io as _;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};

/// Polls one read: `None` when there is nothing.
async fn poll_read(io: &mut (impl AsyncRead + Unpin), len: usize) -> Option<std::io::Result<Vec<u8>>> {
    poll_fn(|cx| {
        let mut bytes = vec![0; len];
        let mut buffer = ReadBuf::new(&mut bytes);
        Poll::Ready(match Pin::new(&mut *io).poll_read(cx, &mut buffer) {
            Poll::Ready(read) => Some(read.map(|()| buffer.filled().to_vec())),
            Poll::Pending => None,
        })
    })
    .await
}

macro_rules! reads {
    ($io:expr, $len:expr) => {
        poll_read($io, $len).await.map(|read| read.expect("no reset"))
    };
}

#[tokio::test(start_paused = true)]
async fn a_read_never_spans_two_writes() {
    for between in [Between::Pending, Between::Ready] {
        let (mut client, mut server) = pair(between);
        server.write_all(b"abc").await.expect("open");
        server.write_all(b"de").await.expect("open");
        server.shutdown().await.expect("open");
        let gap = async |client: &mut super::Client| {
            if between == Between::Pending {
                assert_eq!(reads!(client, 9), None);
            }
        };
        assert_eq!(reads!(&mut client, 2), Some(b"ab".to_vec()));
        assert_eq!(reads!(&mut client, 9), Some(b"c".to_vec()), "no gap inside a segment");
        gap(&mut client).await;
        assert_eq!(reads!(&mut client, 9), Some(b"de".to_vec()));
        gap(&mut client).await;
        assert_eq!(reads!(&mut client, 9), Some(vec![]), "the end");
    }
}

#[tokio::test(start_paused = true)]
async fn a_gap_wakes_its_reader() {
    let (mut client, mut server) = pair(Between::Pending);
    for byte in b"xyz" {
        server.write_all(&[*byte]).await.expect("open");
    }
    drop(server);
    let mut all = Vec::new();
    client.read_to_end(&mut all).await.expect("no reset");
    assert_eq!(all, b"xyz");
}

#[tokio::test(start_paused = true)]
async fn the_client_s_writes_are_one_stream() {
    let (mut client, mut server) = pair(Between::Pending);
    client.write_all(b"ab").await.expect("open");
    client.write_all(b"cd").await.expect("open");
    assert_eq!(reads!(&mut server, 9), Some(b"abcd".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn a_reset_comes_after_what_was_written() {
    let (mut client, mut server) = pair(Between::Ready);
    server.write_all(b"ab").await.expect("open");
    server.reset();
    drop(server);
    assert_eq!(reads!(&mut client, 9), Some(b"ab".to_vec()));
    let reset = poll_read(&mut client, 9).await.expect("ready").expect_err("a reset");
    assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
    assert_eq!(client.write(b"x").await.expect_err("closed").kind(), ErrorKind::BrokenPipe);
}

#[tokio::test(start_paused = true)]
async fn a_writer_waits_while_much_is_unread() {
    let (mut client, mut server) = pair(Between::Ready);
    let writing = tokio::spawn(async move {
        for _ in 0..3 {
            server.write_all(&vec![b'x'; 40 << 10]).await.expect("open");
        }
    });
    tokio::task::yield_now().await;
    assert!(!writing.is_finished());
    let mut all = Vec::new();
    client.read_to_end(&mut all).await.expect("no reset");
    assert_eq!(all.len(), 3 * (40 << 10));
    writing.await.expect("no panic");
}
