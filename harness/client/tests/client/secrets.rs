//! No secret and no word of the server in any error, `Debug` or log, with every dependency at TRACE.

use std::fmt::{Debug, Write as _};
use std::sync::{Mutex, Once, PoisonError};

use mcp_assay_client::{Arguments, CallOptions, Client, Error, Limits, NetConnector};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::peer::{Peer, SESSION, URL, initialize_result};

/// What must not be seen. All tests of this binary use these, so their logs are looked at too.
const SECRETS: &[&str] =
    &["private", "secret-path", "query-secret", "token-secret", SESSION, "server-secret"];

/// Everything logged by this process since the collector was installed.
static LOG: Mutex<String> = Mutex::new(String::new());

fn note(line: std::fmt::Arguments<'_>) {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(log, "{line}").expect("a string can be written");
}

struct Collector;

impl log::Log for Collector {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        note(format_args!("{} {}", record.target(), record.args()));
    }
    fn flush(&self) {}
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").expect("a string can be written");
    }
}

impl Subscriber for Collector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(String::new());
        span.record(&mut fields);
        note(format_args!("{} {}{}", span.metadata().target(), span.metadata().name(), fields.0));
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut fields = Fields(String::new());
        values.record(&mut fields);
        note(format_args!("{}", fields.0));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        note(format_args!("{}{}", event.metadata().target(), fields.0));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

pub(crate) fn collect() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        log::set_logger(&Collector).expect("no other logger");
        log::set_max_level(log::LevelFilter::Trace);
        tracing::subscriber::set_global_default(Collector).expect("no other subscriber");
    });
}

/// Nothing logged so far tells a secret.
#[track_caller]
pub(crate) fn assert_log_clean() {
    assert_clean(&LOG.lock().unwrap_or_else(PoisonError::into_inner));
}

#[track_caller]
fn assert_clean(what: &str) {
    for secret in SECRETS {
        assert!(!what.contains(secret), "{secret:?} in {what}");
    }
}

/// All that an error says about itself.
#[track_caller]
fn assert_says_nothing(error: &Error) {
    assert_clean(&format!("{error} {error:?} {error:#?}"));
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        assert_clean(&format!("{error} {error:?}"));
        source = error.source();
    }
}

/// Responses to a call that end in an error, each with something in it that must not be told.
const RESPONSES: &[&str] = &[
    "HTTP/1.1 301 X\r\nlocation: http://server-secret/\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 401 server-secret\r\nwww-authenticate: server-secret\r\ncontent-length: 13\r\n\r\nserver-secret",
    "HTTP/1.1 500 X\r\ncontent-length: 13\r\n\r\nserver-secret",
    "HTTP/1.1 200 X\r\nmcp-session-id: server-secret\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 200 X\r\ncontent-type: server-secret\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 200 X\r\nserver-secret\r\n\r\n",
    "HTTP/1.1 200 X\r\ncontent-length: server-secret\r\n\r\n",
    "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n{server-secret",
    "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 33\r\n\r\n{\"server-secret\":1,\"server-secret\"",
    "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nserver-secret",
    "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\ndata: server-secret\n\n",
    "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\nserver-secret: \u{1}",
    "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"server-secret\",\"method\":\"server-secret\"}\n\n",
    "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":1,\"message\":\"server-secret\"}}\n\n",
    "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"server-secret\"}]}}\n\n",
    "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"server-secret\"}]}}\n\n",
    "HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n",
    "",
];

/// Rows EX-RED-01, EX-REQ-09.
#[tokio::test(start_paused = true)]
async fn nothing_is_told_that_is_not_the_callers_to_tell() {
    collect();
    for response in RESPONSES {
        let (mut peer, builder) = Peer::builder(Limits::default());
        let builder = builder.header("authorization", "Bearer token-secret");
        assert_clean(&format!("{builder:?} {builder:#?}"));
        let (client, ()) = tokio::join!(builder.connect(), peer.handshake(Some(SESSION)));
        let client = client.expect("the handshake is sound");
        let arguments = Arguments::from_json(r#"{"password":"token-secret"}"#).expect("an object");
        assert_clean(&format!("{arguments:?}"));
        let server = async {
            let (mut socket, request) = peer.request("tools/call").await;
            assert_eq!(request.id(), 2);
            socket.send(response).await;
            drop(socket);
            // A reply to the server, if one comes, is refused in words that must not be told either.
            if response.contains("\"method\"") {
                let (socket, _) = peer.request("POST").await;
                socket.reply(500, "x: server-secret\r\n", "server-secret").await;
            }
        };
        let call = client.call_tool("echo", arguments, CallOptions::new());
        let ((), outcome) = tokio::join!(server, call);
        assert_says_nothing(&outcome.expect_err("the response is an error"));
        assert_clean(&format!("{client:?} {client:#?} {:?}", client.status()));
        let delete = async {
            if client.status().has_session {
                let (socket, _) = peer.request("DELETE").await;
                socket.reply(500, "", "server-secret").await;
            }
        };
        let ((), closed) = tokio::join!(delete, client.close());
        if let Err(error) = closed {
            assert_says_nothing(&error);
        }
    }
    assert_log_clean();
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(log.contains("call over"), "the log was collected");
}

/// Rows EX-RED-01, EX-CFG-02, EX-CFG-05.
#[tokio::test]
async fn configuration_and_connection_errors_tell_nothing() {
    collect();
    let refused = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = refused.local_addr().expect("it is bound").port();
    drop(refused);
    let plain = |url: String| Client::builder(url).connector(NetConnector::new());
    for builder in [
        plain("https://user:token-secret@h/private/secret-path".to_owned()),
        plain("http://h/private/secret-path#query-secret".to_owned()),
        plain("ftp://h/private/secret-path".to_owned()),
        plain(format!("{URL} ")),
        plain(URL.to_owned()).header("authorization", "Bearer token-secret\r\nx: y"),
        plain(format!("http://127.0.0.1:{port}/private/secret-path?query-secret")),
        plain(format!("https://127.0.0.1:{port}/private/secret-path?query-secret")),
    ] {
        assert_clean(&format!("{builder:?}"));
        assert_says_nothing(&builder.connect().await.expect_err("it cannot work"));
    }
    let (mut peer, builder) = Peer::builder(Limits::default());
    let server = async {
        let (socket, request) = peer.request("initialize").await;
        let result = initialize_result(request.id()).replace("2025-06-18", "server-secret");
        socket.reply_json(&result).await;
    };
    let ((), outcome) = tokio::join!(server, builder.connect());
    assert_says_nothing(&outcome.expect_err("the version is wrong"));
    assert_log_clean();
}
