//! Calls of a tool: the client against a bare hyper client, both against the same bare server.
//!
//! Requests have the same headers and bodies of the same size, responses the same bytes. Both sides keep their
//! connections where the response lets them, and the server counts what they open. The server has a thread of its own,
//! as a server is another process.

use super::bare::{BareClient, Server};
use super::ratio::{Contestant, Rates, Work, alternate};
use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use mcp_assay_client::{Arguments, CallOptions, Client, Limits};
use std::future::Future;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

/// Bytes of a request's and of a response's message.
const BODY: usize = 200;

/// How the server answers a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// A JSON body with its length.
    Json,
    /// A chunked stream of one event that ends with it.
    Stream,
}

/// A server, and both clients ready to call.
pub(super) struct Calls {
    runtime: Runtime,
    server: Server,
    client: Client,
    in_flight: usize,
}

impl Calls {
    /// Starts the server and connects, for so many calls in flight.
    pub(super) fn new(kind: Kind, in_flight: usize) -> Result<Self, String> {
        let server = Server::start(move |body| answer(kind, body))?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
        let limits = Limits::default().max_connections(in_flight);
        let client = Client::builder(format!("http://{}/mcp", server.address)).limits(limits);
        let client = runtime.block_on(client.connect());
        let client = client.map_err(|e| format!("the client cannot connect: {e}"))?;
        Ok(Self { runtime, server, client, in_flight })
    }

    /// Rates of both, the client's first, in calls per second.
    pub(super) fn rates(&self, rounds: usize, calls: usize) -> Result<Vec<Rates>, String> {
        let each = calls / self.in_flight;
        let ours = Contestant::new("mcp-assay-client call_tool", || {
            let arguments = Arguments::from_json(&arguments()).map_err(|e| e.to_string())?;
            self.measure(each, || {
                let (client, arguments) = (self.client.clone(), arguments.clone());
                async move {
                    for _ in 0..each {
                        let options = CallOptions::new();
                        client
                            .call_tool("echo", arguments.clone(), options)
                            .await
                            .map_err(|e| e.to_string())?;
                    }
                    Ok(())
                }
            })
        });
        let bare = Contestant::new("bare hyper http1 client", || {
            let headers = self.headers()?;
            self.measure(each, || {
                let (address, headers) = (self.server.address, headers.clone());
                async move {
                    let mut client = BareClient::connect(address).await?;
                    for id in 0..each {
                        let body = request(id);
                        client.call(headers.clone(), body.into()).await?;
                    }
                    Ok(())
                }
            })
        });
        alternate(rounds, vec![ours, bare])
    }

    /// Connections that were opened since this was last asked.
    pub(super) fn connections(&self) -> u64 {
        self.server.accepted.take()
    }

    /// Runs one such caller for each call in flight.
    fn measure<F>(&self, each: usize, caller: impl Fn() -> F) -> Result<Work, String>
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.runtime.block_on(async {
            let began = Instant::now();
            let callers: Vec<_> = (0..self.in_flight).map(|_| tokio::spawn(caller())).collect();
            for caller in callers {
                caller.await.map_err(|e| e.to_string())??;
            }
            Ok(Work { units: (each * self.in_flight) as f64, seconds: began.elapsed().as_secs_f64() })
        })
    }

    /// What the client's own requests carry.
    fn headers(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        let host = HeaderValue::from_str(&self.server.address.to_string()).map_err(|e| e.to_string())?;
        headers.insert(HOST, host);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let named = |name, value| (HeaderName::from_static(name), HeaderValue::from_static(value));
        headers.extend([named("mcp-protocol-version", "2025-06-18"), named("mcp-session-id", SESSION)]);
        Ok(headers)
    }
}

const SESSION: &str = "session-of-the-bench";

fn arguments() -> String {
    format!(r#"{{"text":"{}"}}"#, "x".repeat(BODY - request_frame(0).len()))
}

fn request_frame(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":""}}}}}}"#
    )
}

/// The message that the client writes for its call.
fn request(id: usize) -> String {
    let arguments = arguments();
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
    )
}

/// The server's answer to a message.
fn answer(kind: Kind, body: &[u8]) -> Bytes {
    let Some(id) = id(body) else {
        return Bytes::from_static(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
    };
    if memchr::memmem::find(body, b"\"initialize\"").is_some() {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-06-18","capabilities":{{}},"serverInfo":{{"name":"bench","version":"1"}}}}}}"#
        );
        let head = format!("mcp-session-id: {SESSION}\r\n");
        return json(&head, &message);
    }
    let before = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#);
    let after = r#""}]}}"#;
    let text = "x".repeat(BODY.saturating_sub(before.len() + after.len()));
    let message = format!("{before}{text}{after}");
    match kind {
        Kind::Json => json("", &message),
        Kind::Stream => {
            let length = message.len() + "data: \n\n".len();
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            format!("{head}{length:x}\r\ndata: {message}\n\n\r\n0\r\n\r\n").into()
        }
    }
}

fn json(head: &str, message: &str) -> Bytes {
    let length = message.len();
    let status = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    format!("{status}{head}content-length: {length}\r\n\r\n{message}").into()
}

/// The digits of a message's id.
fn id(body: &[u8]) -> Option<&str> {
    let at = memchr::memmem::find(body, b"\"id\":")? + 5;
    let rest = body.get(at..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(rest.get(..digits)?).ok().filter(|digits| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_size_that_is_promised() {
        assert_eq!(request(7).len(), BODY);
        let reply = answer(Kind::Json, request(7).as_bytes());
        assert!(reply.windows(19).any(|window| window == b"content-length: 200"), "{reply:?}");
    }

    #[test]
    fn both_clients_open_as_many_connections() {
        for kind in [Kind::Json, Kind::Stream] {
            let calls = Calls::new(kind, 2).unwrap();
            let _handshake = calls.connections();
            let rates = calls.rates(1, 20).unwrap();
            assert!(rates.iter().all(|rates| rates.per_second.len() == 1));
            // The client keeps what it has; the bare one opens two each time.
            assert!(calls.connections() <= 4 + 2, "{kind:?}");
        }
    }
}
