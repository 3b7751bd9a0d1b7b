//! The peer that only pours: it says what a call's tool names, until the client closes or all was offered.

use super::OFFERED;
use super::shape::Shape;
use crate::bench::bare::request_len;
use bytes::{Bytes, BytesMut};
use mcp_assay_client::Limits;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// A peer on a thread of its own. Dropped, it ends.
pub(super) struct Pour {
    address: SocketAddr,
    poured: Arc<AtomicUsize>,
    _ends: oneshot::Sender<()>,
}

impl Pour {
    /// A peer for clients with these limits.
    pub(super) fn start(limits: &Limits) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_io().build().map_err(|e| e.to_string())?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = listener.map_err(|e| format!("no port: {e}"))?;
        let address = listener.local_addr().map_err(|e| e.to_string())?;
        let (ends, ended) = oneshot::channel::<()>();
        let limits = Arc::new(limits.clone());
        let poured: Arc<AtomicUsize> = Arc::default();
        let counted = poured.clone();
        std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, limits, counted) => {}
                    _ = ended => {}
                }
            });
        });
        Ok(Self { address, poured, _ends: ends })
    }

    /// How often it has begun to pour.
    pub(super) fn poured(&self) -> usize {
        self.poured.load(Ordering::Relaxed)
    }

    /// Where it is.
    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

async fn accept(listener: TcpListener, limits: Arc<Limits>, poured: Arc<AtomicUsize>) {
    while let Ok((stream, _)) = listener.accept().await {
        // The client closes when it has had enough: that is what is measured.
        let (limits, poured) = (limits.clone(), poured.clone());
        tokio::spawn(async move { drop(serve(stream, &limits, &poured).await) });
    }
}

async fn serve(mut stream: TcpStream, limits: &Limits, poured: &AtomicUsize) -> std::io::Result<()> {
    let mut buffer = BytesMut::with_capacity(4_096);
    loop {
        let (head, whole) = loop {
            match request_len(&buffer) {
                Some((head, whole)) if buffer.len() >= whole => break (head, whole),
                _ if stream.read_buf(&mut buffer).await? == 0 => return Ok(()),
                _ => {}
            }
        };
        let request = buffer.split_to(whole);
        match reply(request.get(head..).unwrap_or_default(), limits) {
            Said::Whole(bytes) => stream.write_all(&bytes).await?,
            Said::AtLimit(bytes) => {
                poured.fetch_add(1, Ordering::Relaxed);
                stream.write_all(&bytes).await?;
            }
            Said::Endless(first, again) => {
                // A stream that only asks is no pour yet: what follows the answer is.
                poured.fetch_add(usize::from(!again.is_empty()), Ordering::Relaxed);
                stream.write_all(&first).await?;
                let mut offered = first.len();
                while offered < OFFERED && !again.is_empty() {
                    stream.write_all(&again).await?;
                    offered += again.len();
                }
                // Whoever did not close by now is waited for.
                while stream.read_buf(&mut buffer).await? != 0 {
                    buffer.clear();
                }
                return Ok(());
            }
        }
    }
}

/// What the peer says to a request.
enum Said {
    /// A reply, after which the next request may come.
    Whole(Bytes),
    /// The same, of a shape, as large as may be.
    AtLimit(Bytes),
    /// Bytes, and then others again and again.
    Endless(Bytes, Bytes),
}

fn reply(body: &[u8], limits: &Limits) -> Said {
    let message: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let id = message["id"].to_string();
    let result = |result: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let length = text.len();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        Said::Whole(format!("{head}content-length: {length}\r\n\r\n{text}").into())
    };
    match message["method"].as_str() {
        Some("initialize") => result(
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"pour","version":"1"}}"#,
        ),
        Some("tools/call") => {
            let tool = message["params"]["name"].as_str();
            match Shape::ALL.into_iter().find(|shape| Some(shape.name()) == tool) {
                Some(shape) => {
                    let (first, again) = shape.offer(&id, limits);
                    if shape.ends() { Said::AtLimit(first) } else { Said::Endless(first, again) }
                }
                None => result(r#"{"content":[{"type":"text","text":"polite"}]}"#),
            }
        }
        // A control reply.
        None if message.get("result").is_some() => {
            Said::Endless(Bytes::from_static(b"HTTP/1.1 202 Accepted\r\n\r\n"), vec![b'x'; 65_536].into())
        }
        _ => Said::Whole(Bytes::from_static(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")),
    }
}
