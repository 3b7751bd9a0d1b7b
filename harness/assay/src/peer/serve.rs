//! One connection: request after request, each answered by its rule, until one of the two ends closes.

use super::compile::{Context, compile};
use super::conn::{Conn, Filled, Gone};
use super::request::{Parsed, Progress, Reader, take_raw};
use super::{Cutter, Inner, Io, reply};
use crate::case::reply::{Rule, Then};
use crate::timeline::{Close, EventKind, Request, Side};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// How a connection is to end.
enum End {
    /// The peer ends its stream.
    Fin,
    /// The peer resets.
    Rst,
    /// It is over already.
    Gone(Gone),
}

impl From<Gone> for End {
    fn from(gone: Gone) -> Self {
        Self::Gone(gone)
    }
}

/// Serves a connection to its end.
pub(super) async fn serve<I: Io, C: Cutter>(inner: &Inner, mut conn: Conn<I>, mut cutter: C) {
    let Err(mut end) = requests(inner, &mut conn, &mut cutter).await;
    if matches!(end, End::Fin | End::Rst)
        && let Some(gone @ Gone::Client(_)) = conn.gone_by_now().await
    {
        // The client was faster.
        end = End::Gone(gone);
    }
    let (by, how) = match end {
        End::Fin | End::Gone(Gone::Finished) => (Side::Peer, Close::Fin),
        End::Rst => (Side::Peer, Close::Rst),
        End::Gone(Gone::Client(how)) => (Side::Client, how),
    };
    inner.desk.record(EventKind::Closed { conn: conn.number, by, how });
    match end {
        End::Fin => conn.fin().await,
        End::Rst => conn.rst(),
        End::Gone(_) => {}
    }
}

async fn requests<I: Io, C: Cutter>(
    inner: &Inner,
    conn: &mut Conn<I>,
    cutter: &mut C,
) -> Result<std::convert::Infallible, End> {
    let mut reader = Reader::default();
    let mut reused = false;
    loop {
        let parsed = read(inner, conn, &mut reader).await?;
        let close = parsed.close;
        let mut request = inner.desk.request(parsed, conn.number, reused);
        let (name, rule) = inner.rules().pick(&request);
        request.rule = name;
        let request = Arc::new(request);
        inner.calls.note(&request);
        inner.desk.record(EventKind::Request(Arc::clone(&request)));
        answer(inner, conn, cutter, &request, rule).await?;
        if close {
            return Err(End::Fin);
        }
        reused = true;
    }
}

/// Reads one request; everything else ends the connection.
async fn read<I: Io>(inner: &Inner, conn: &mut Conn<I>, reader: &mut Reader) -> Result<Parsed, End> {
    let bad = |conn: &mut Conn<I>, problem: String| {
        let raw = take_raw(&mut conn.buffer);
        inner.desk.record(EventKind::BadRequest { conn: conn.number, raw, problem });
    };
    loop {
        let problem = match reader.read(&mut conn.buffer) {
            Progress::Whole(parsed) => return Ok(*parsed),
            Progress::Continue => {
                conn.write(CONTINUE).await.1?;
                continue;
            }
            Progress::Bad(problem) => problem,
            Progress::Partial => match conn.fill().await {
                Filled::More => continue,
                Filled::Full => {
                    "expected a request, its coding takes more than the largest body twice".to_owned()
                }
                Filled::Gone(gone) => {
                    if !conn.buffer.is_empty() && matches!(gone, Gone::Client(_)) {
                        bad(conn, "expected a whole request, the connection ended inside one".to_owned());
                    }
                    return Err(gone.into());
                }
            },
        };
        bad(conn, problem);
        conn.write(BAD_REQUEST).await.1?;
        return Err(End::Fin);
    }
}

/// Answers a request as its rule says; an error when that ends the connection.
async fn answer<I: Io, C: Cutter>(
    inner: &Inner,
    conn: &mut Conn<I>,
    cutter: &mut C,
    request: &Request,
    rule: Arc<Rule>,
) -> Result<(), End> {
    if let Some(name) = &rule.release {
        inner.release(name);
    }
    if let Some(name) = &rule.hold {
        reply::hold(inner, conn, request.number, name).await?;
    }
    if let Some(ms) = rule.delay_ms {
        conn.watch(sleep(Duration::from_millis(ms))).await?;
    }
    let context =
        Context { revision: inner.revision, seed: inner.seed, limits: &inner.limits, calls: &inner.calls };
    let compiled = match compile(&rule, request, &context) {
        Ok(compiled) => compiled,
        Err(problem) => {
            let problem = format!("rule {} cannot be carried out: {problem}", request.rule);
            inner.desk.record(EventKind::HarnessError { problem });
            return Err(End::Fin);
        }
    };
    reply::write(inner, conn, cutter, request.number, &compiled).await?;
    match compiled.then {
        Then::Continue => Ok(()),
        Then::Fin | Then::Truncate => Err(End::Fin),
        Then::Rst | Then::TruncateRst => {
            // A reset may take back what the client has not read yet.
            let sent = conn.sent;
            conn.watch(cutter.settle(sent)).await?;
            match cutter.grace() {
                // The client was faster: what it has sent is answered, on a connection that it found open.
                Some(grace) if compiled.then == Then::Rst && conn.sends_within(grace).await? => Ok(()),
                _ => Err(End::Rst),
            }
        }
        Then::Hold => Err(End::Gone(gone(conn.watch(pending()).await))),
        Then::Drip => {
            let Some((bytes, every)) = compiled.drip else { return Err(End::Fin) };
            loop {
                conn.watch(sleep(every)).await?;
                conn.write(&bytes).await.1?;
            }
        }
    }
}

fn gone(watched: Result<std::convert::Infallible, Gone>) -> Gone {
    let Err(gone) = watched;
    gone
}
