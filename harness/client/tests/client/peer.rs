//! A raw peer for the client's own tests: it hands the client in-memory sockets and holds their other ends.

use std::time::Duration;

use mcp_assay_client::{Builder, Client, Connect, ConnectFuture, Error, Io, Limits, Origin};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;

/// Gives the client a fresh pipe for each connection.
pub(crate) struct Pipes(mpsc::UnboundedSender<Socket>);

impl Connect for Pipes {
    fn connect(&self, _origin: &Origin) -> ConnectFuture {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let sent = self.0.send(Socket { stream: ours, read: Vec::new() });
        Box::pin(async move {
            sent.map_err(std::io::Error::other)?;
            Ok(Box::new(theirs) as Box<dyn Io>)
        })
    }
}

/// The peer's side of all connections, in the order they were made.
pub(crate) struct Peer {
    sockets: mpsc::UnboundedReceiver<Socket>,
}

pub(crate) const URL: &str = "http://peer.test/private/secret-path?key=query-secret";
pub(crate) const SESSION: &str = "session-secret";

impl Peer {
    pub(crate) fn new() -> (Self, Pipes) {
        let (sender, sockets) = mpsc::unbounded_channel();
        (Self { sockets }, Pipes(sender))
    }

    /// A builder whose connections end here.
    pub(crate) fn builder(limits: Limits) -> (Self, Builder) {
        let (peer, pipes) = Self::new();
        (peer, Client::builder(URL).limits(limits).connector(pipes))
    }

    /// A client after a handshake with a session (or without one).
    pub(crate) async fn ready(limits: Limits, session: Option<&str>) -> (Self, Client) {
        let (mut peer, builder) = Self::builder(limits);
        let (client, ()) = tokio::join!(builder.connect(), peer.handshake(session));
        (peer, client.expect("the handshake is sound"))
    }

    pub(crate) async fn handshake(&mut self, session: Option<&str>) {
        let (socket, request) = self.request("initialize").await;
        socket.answer_initialize(&request, session).await;
        let (socket, _) = self.request("notifications/initialized").await;
        socket.reply(202, "", "").await;
    }

    pub(crate) async fn accept(&mut self) -> Socket {
        self.sockets.recv().await.expect("the client is alive")
    }

    /// The next connection and its request, which must have this method.
    pub(crate) async fn request(&mut self, method: &str) -> (Socket, Request) {
        let mut socket = self.accept().await;
        let request = socket.request().await;
        assert_eq!(request.method(), method);
        (socket, request)
    }

    /// No connection has been made that was not accepted.
    pub(crate) fn assert_quiet(&mut self) {
        assert!(self.sockets.try_recv().is_err(), "an unexpected connection");
    }
}

/// One request as it came.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The JSON-RPC method, or the HTTP method of a request without a body.
    pub(crate) fn method(&self) -> String {
        match self.json()["method"].as_str() {
            Some(method) => method.to_owned(),
            None => self.head.split(' ').next().unwrap_or_default().to_owned(),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.json()["id"].as_u64().expect("a request has an integer id")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .find_map(|(given, value)| given.eq_ignore_ascii_case(name).then_some(value))
    }
}

/// The peer's end of one connection.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: DuplexStream,
    read: Vec<u8>,
}

impl Socket {
    /// Reads one request whole.
    pub(crate) async fn request(&mut self) -> Request {
        loop {
            if let Some(end) = self.read.windows(4).position(|w| w == b"\r\n\r\n") {
                let head = String::from_utf8(self.read[..end].to_vec()).expect("a head is text");
                let request = Request { head, body: String::new() };
                let length = request.header("content-length").map_or(0, |n| n.parse().expect("a length"));
                if self.read.len() >= end + 4 + length {
                    let rest = self.read.split_off(end + 4 + length);
                    let body = String::from_utf8(self.read[end + 4..].to_vec()).expect("JSON is text");
                    self.read = rest;
                    return Request { body, ..request };
                }
            }
            let n = self.stream.read_buf(&mut self.read).await.expect("pipes do not fail");
            assert_ne!(n, 0, "the client closed before its request was whole");
        }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.expect("the client reads");
    }

    /// Sends, to a client that may have closed.
    pub(crate) async fn try_send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Answers with JSON and leaves the connection open.
    pub(crate) async fn answer_and_keep(&mut self, body: &str) {
        let length = body.len();
        self.send(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
        .await;
    }

    /// Sends a whole response of a length and closes.
    pub(crate) async fn reply(mut self, status: u16, headers: &str, body: &str) {
        let length = body.len();
        self.send(format!(
            "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ))
        .await;
    }

    pub(crate) async fn reply_json(self, body: &str) {
        self.reply(200, "content-type: application/json\r\n", body).await;
    }

    pub(crate) async fn answer_initialize(self, request: &Request, session: Option<&str>) {
        let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
        let headers = format!("content-type: application/json\r\n{session}");
        self.reply(200, &headers, &initialize_result(request.id())).await;
    }

    /// Answers a tools/call with this text.
    pub(crate) async fn answer_text(self, request: &Request, text: &str) {
        self.reply_json(&text_result(request.id(), text)).await;
    }

    /// Starts an event stream that stays open.
    pub(crate) async fn open_stream(&mut self) {
        self.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            .await;
    }

    /// One chunk with one event.
    pub(crate) async fn event(&mut self, data: &str) {
        self.send(chunk(&format!("data: {data}\n\n"))).await;
    }

    /// Returns once the client has closed this connection.
    pub(crate) async fn closed(&mut self) {
        while self.stream.read_buf(&mut self.read).await.unwrap_or(0) > 0 {}
    }

    /// Whether the client has closed this connection by now.
    pub(crate) async fn is_closed(&mut self) -> bool {
        tokio::time::timeout(Duration::ZERO, self.closed()).await.is_ok()
    }
}

pub(crate) fn chunk(data: &str) -> String {
    format!("{:x}\r\n{data}\r\n", data.len())
}

pub(crate) fn initialize_result(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-06-18","capabilities":{{}},"serverInfo":{{"name":"peer","version":"1"}}}}}}"#
    )
}

pub(crate) fn text_result(id: u64, text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#)
}

/// What a failed operation is called.
pub(crate) fn kind<T: std::fmt::Debug>(result: &Result<T, Error>) -> &'static str {
    result.as_ref().expect_err("an error").kind()
}

/// Lets every task that can run do so; costs no time of the paused clock worth naming.
pub(crate) async fn settle() {
    tokio::time::sleep(Duration::from_nanos(1)).await;
}
