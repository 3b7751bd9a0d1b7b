//! The baseline of everything over HTTP: a bare hyper client, and a bare tokio loop that answers.
//!
//! Neither knows MCP, limits, deadlines or cancellation. What they cost is what the wire costs.

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::rt::TokioIo;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// A connection of the bare client.
pub(super) struct BareClient {
    sender: SendRequest<Full<Bytes>>,
}

impl BareClient {
    /// Connects, without delay for small writes, as the client under test does.
    pub(super) async fn connect(address: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(address).await.map_err(|e| format!("cannot connect: {e}"))?;
        stream.set_nodelay(true).map_err(|e| format!("cannot set TCP_NODELAY: {e}"))?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|e| e.to_string())?;
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    /// Sends a POST and reads the head of its response.
    pub(super) async fn send(
        &mut self,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, String> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = hyper::Uri::from_static("/mcp");
        *request.headers_mut() = headers;
        self.sender.ready().await.map_err(|e| e.to_string())?;
        self.sender.send_request(request).await.map_err(|e| e.to_string())
    }

    /// Sends a POST and reads the response to its end. The bytes of its body are counted and dropped.
    pub(super) async fn call(&mut self, headers: HeaderMap, body: Bytes) -> Result<usize, String> {
        let response = self.send(headers, body).await?;
        read_body(response.into_body(), usize::MAX).await
    }
}

/// Reads a body to its end, or until `enough` bytes of it have come.
pub(super) async fn read_body(mut body: Incoming, enough: usize) -> Result<usize, String> {
    let mut read = 0;
    while read < enough
        && let Some(frame) = body.frame().await
    {
        read += frame.map_err(|e| e.to_string())?.data_ref().map_or(0, Bytes::len);
    }
    Ok(read)
}

/// How many connections a bare server has accepted.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted(Arc<AtomicU64>);

impl Accepted {
    /// The number since the last time it was asked for.
    pub(super) fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// A server on a thread of its own. Dropped, it ends.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) accepted: Accepted,
    _ends: oneshot::Sender<()>,
}

impl Server {
    /// A server that answers every request with what `answer` makes of its body.
    pub(super) fn start(answer: impl Fn(&[u8]) -> Bytes + Clone + Send + 'static) -> Result<Self, String> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| e.to_string())?;
        listener.set_nonblocking(true).map_err(|e| e.to_string())?;
        let address = listener.local_addr().map_err(|e| e.to_string())?;
        let runtime = Builder::new_current_thread().enable_io().build().map_err(|e| e.to_string())?;
        let accepted = Accepted::default();
        let (ends, ended) = oneshot::channel::<()>();
        let counted = accepted.clone();
        std::thread::spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = serve(listener, counted, answer) => {}
                    _ = ended => {}
                }
            });
        });
        Ok(Self { address, accepted, _ends: ends })
    }
}

async fn serve(
    listener: TcpListener,
    accepted: Accepted,
    answer: impl Fn(&[u8]) -> Bytes + Clone + Send + 'static,
) {
    while let Ok((stream, _)) = listener.accept().await {
        accepted.0.fetch_add(1, Ordering::Relaxed);
        let answer = answer.clone();
        tokio::spawn(async move {
            // A client that closes its connection ends it; how is of no interest.
            let _ = connection(stream, answer).await;
        });
    }
}

async fn connection(mut stream: TcpStream, answer: impl Fn(&[u8]) -> Bytes) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = BytesMut::with_capacity(8_192);
    loop {
        if let Some((head, whole)) = request_len(&buffer)
            && buffer.len() >= whole
        {
            let request = buffer.split_to(whole);
            let reply = answer(request.get(head..).unwrap_or_default());
            stream.write_all(&reply).await?;
        } else if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

/// The lengths of a request's head and of the whole request, once its head is there.
pub(super) fn request_len(buffer: &[u8]) -> Option<(usize, usize)> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut headers);
    let head = request.parse(buffer).ok().and_then(|status| match status {
        httparse::Status::Complete(head) => Some(head),
        httparse::Status::Partial => None,
    })?;
    let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse::<usize>().ok());
    Some((head, head.saturating_add(length.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_as_long_as_its_head_says() {
        assert_eq!(request_len(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n"), None);
        let head = b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(request_len(head), Some((head.len(), head.len() + 5)));
        assert_eq!(request_len(b"GET / HTTP/1.1\r\n\r\n"), Some((18, 18)));
    }

    #[tokio::test]
    async fn client_and_server_understand_each_other() {
        let server = Server::start(|body| {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            [head.as_bytes(), body].concat().into()
        })
        .unwrap();
        let (address, accepted) = (server.address, server.accepted.clone());
        let mut client = BareClient::connect(address).await.unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("host", address.to_string().parse().unwrap());
        for length in [0, 1, 100_000] {
            assert_eq!(client.call(headers.clone(), vec![b'x'; length].into()).await, Ok(length));
        }
        assert_eq!((accepted.take(), accepted.take()), (1, 0));
    }
}
