//! One connection through the tap: request after request to the server, answer after answer to the client.

use super::Inner;
use super::alter::{Altered, alter, chunk, injected};
use super::stream::marks_of;
use super::upstream::Upstream;
use crate::case::TapRule;
use crate::case::reply::{Framing, Then};
use crate::case::tap::At;
use crate::layout::Layout;
use crate::peer::conn::{Conn, Filled, Gone};
use crate::peer::request::{Parsed, Progress, Reader, take_raw};
use crate::peer::{Cutter, Io};
use crate::timeline::{Close, EventKind, Reply, Request, Side};
use bytes::BytesMut;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// How a connection ends.
enum End {
    /// The client or the harness ends it.
    Gone(Gone),
    /// The tap ends it, as the server did or as a rule says.
    Peer(Close),
}

impl From<Gone> for End {
    fn from(gone: Gone) -> Self {
        Self::Gone(gone)
    }
}

/// Relays a connection to its end.
pub(super) async fn relay<I: Io, C: Cutter>(inner: &Inner, mut conn: Conn<I>, mut cutter: C) {
    let Err(mut end) = exchanges(inner, &mut conn, &mut cutter).await;
    if matches!(end, End::Peer(_))
        && let Some(gone @ Gone::Client(_)) = conn.gone_by_now().await
    {
        // The client was faster.
        end = End::Gone(gone);
    }
    let (by, how) = match end {
        End::Peer(how) => (Side::Peer, how),
        End::Gone(Gone::Finished) => (Side::Peer, Close::Fin),
        End::Gone(Gone::Client(how)) => (Side::Client, how),
    };
    inner.desk.record(EventKind::Closed { conn: conn.number, by, how });
    match end {
        End::Peer(Close::Fin) => conn.fin().await,
        End::Peer(Close::Rst) => conn.rst(),
        End::Gone(_) => {}
    }
}

async fn exchanges<I: Io, C: Cutter>(
    inner: &Inner,
    conn: &mut Conn<I>,
    cutter: &mut C,
) -> Result<Infallible, End> {
    let mut upstream = match conn.watch(Upstream::connect(inner.server)).await? {
        Ok(upstream) => upstream,
        Err(problem) => {
            let problem = format!("expected the server to take a connection: {problem}");
            inner.desk.record(EventKind::HarnessError { problem });
            return Err(End::Peer(Close::Fin));
        }
    };
    let mut reader = Reader::default();
    let mut reused = false;
    loop {
        let parsed = tokio::select! {
            biased;
            parsed = read(inner, conn, &mut reader) => parsed?,
            close = ended(&mut upstream) => return Err(End::Peer(close)),
        };
        let raw = parsed.raw.clone();
        let mut request = inner.desk.request(parsed, conn.number, reused);
        let (name, rule) = inner.pick(&request);
        request.rule = name;
        let request = Arc::new(request);
        inner.desk.record(EventKind::Request(Arc::clone(&request)));
        conn.watch(upstream.send(&raw)).await?;
        let mut exchange = Exchange { inner, conn, upstream: &mut upstream, request: &request };
        match rule.as_deref() {
            Some(rule) if rule.withhold => return exchange.withhold().await,
            Some(rule) if rule.gathers() => exchange.gather(rule, cutter).await?,
            rule => exchange.pass(rule).await?,
        }
        reused = true;
    }
}

/// The end of a server that was asked nothing.
async fn ended(upstream: &mut Upstream) -> Close {
    loop {
        if let Err(close) = upstream.read().await {
            return close;
        }
    }
}

/// Reads one request; everything else ends the connection.
async fn read<I: Io>(inner: &Inner, conn: &mut Conn<I>, reader: &mut Reader) -> Result<Parsed, End> {
    loop {
        let (problem, end) = match reader.read(&mut conn.buffer) {
            Progress::Whole(parsed) => return Ok(*parsed),
            Progress::Continue => {
                conn.write(CONTINUE).await.1?;
                continue;
            }
            Progress::Bad(problem) => (problem, End::Peer(Close::Fin)),
            Progress::Partial => match conn.fill().await {
                Filled::More => continue,
                Filled::Full => {
                    ("expected a request of a size that any may have".to_owned(), End::Peer(Close::Fin))
                }
                Filled::Gone(gone) if conn.buffer.is_empty() || gone == Gone::Finished => {
                    return Err(gone.into());
                }
                Filled::Gone(gone) => {
                    ("expected a whole request, the connection ended inside one".to_owned(), gone.into())
                }
            },
        };
        let raw = take_raw(&mut conn.buffer);
        inner.desk.record(EventKind::BadRequest { conn: conn.number, raw, problem });
        return Err(end);
    }
}

/// One request and its answer.
struct Exchange<'a, I> {
    inner: &'a Inner,
    conn: &'a mut Conn<I>,
    upstream: &'a mut Upstream,
    request: &'a Request,
}

impl<I: Io> Exchange<'_, I> {
    /// Lets an answer pass as it comes; with a rule, injected bytes go before its body.
    async fn pass(&mut self, rule: Option<&TapRule>) -> Result<(), End> {
        let mut raw = BytesMut::new();
        let mut written = 0;
        let mut layout = Layout::new(&self.request.method);
        let mut inject = rule.filter(|rule| rule.at == At::Start);
        let end = loop {
            let fresh = self.upstream.buffer.split();
            // Without room for more the variant is over, which the wait below sees.
            self.inner.desk.came(fresh.len());
            raw.extend_from_slice(&fresh);
            let whole = layout.read(&raw);
            if let Some(end) = whole {
                // What follows belongs to the next answer.
                self.upstream.buffer.extend_from_slice(&raw[end..]);
                raw.truncate(end);
            }
            if let Some(rule) = inject.take_if(|_| layout.has_head()) {
                self.inject(rule, &mut raw, &mut layout);
            }
            let (sent, gone) = self.conn.write(&raw[written..]).await;
            written += sent;
            if let Err(gone) = gone {
                break Err(End::Gone(gone));
            }
            if whole.is_some() {
                break Ok(());
            }
            match self.conn.watch(self.upstream.read()).await {
                Ok(Ok(())) => {}
                Ok(Err(close)) => break Err(End::Peer(close)),
                Err(gone) => break Err(End::Gone(gone)),
            }
        };
        let complete = !matches!(end, Err(End::Gone(_)));
        if !raw.is_empty() {
            let id = self.request.json.as_ref().and_then(|json| json.get("id"));
            let marks = marks_of(&raw, &layout, id);
            let content_len = layout.content.len();
            self.record(Reply {
                request: self.request.number,
                bytes: raw.freeze(),
                content_len,
                written,
                cuts: Vec::new(),
                proven: 0,
                marks,
                complete,
            });
        }
        end
    }

    /// Takes the server's answer and passes nothing of it on.
    async fn withhold(&mut self) -> Result<Infallible, End> {
        while self.conn.watch(self.upstream.read()).await?.is_ok() {
            self.upstream.buffer.clear();
        }
        // The server has left; the client is not to know.
        Ok(self.conn.watch(pending::<Infallible>()).await?)
    }

    /// Puts injected bytes before the body of an answer whose head has come.
    fn inject(&self, rule: &TapRule, raw: &mut BytesMut, layout: &mut Layout) {
        let bytes = match injected(rule, self.request, self.inner.revision) {
            Ok(bytes) => bytes,
            Err(problem) => return self.complain(&problem),
        };
        if !layout.is_stream() || layout.framing != Framing::Chunked {
            return self.complain("expected a chunked event stream, to put bytes before its body");
        }
        let body = raw.split_off(layout.head.end);
        raw.extend_from_slice(&chunk(&bytes));
        raw.extend_from_slice(&body);
        *layout = Layout::of(raw, &self.request.method);
    }

    /// Gathers an answer, changes it as the rule says, and writes it in pieces.
    async fn gather<C: Cutter>(&mut self, rule: &TapRule, cutter: &mut C) -> Result<(), End> {
        let mut layout = Layout::new(&self.request.method);
        let mut raw = BytesMut::new();
        let closed = loop {
            let fresh = self.upstream.buffer.split();
            // Without room for more the variant is over, which the wait below sees.
            self.inner.desk.came(fresh.len());
            raw.extend_from_slice(&fresh);
            if let Some(end) = layout.read(&raw) {
                self.upstream.buffer.extend_from_slice(&raw[end..]);
                raw.truncate(end);
                break None;
            }
            if let Err(close) = self.conn.watch(self.upstream.read()).await? {
                break Some(close);
            }
        };
        let (revision, seed) = (self.inner.revision, self.inner.seed);
        let altered = match alter(rule, self.request, &raw, &layout, revision, seed) {
            Ok(altered) => altered,
            Err(problem) => {
                self.complain(&problem);
                return Err(End::Peer(Close::Fin));
            }
        };
        let mut progress = Pieces::default();
        let ended = progress.write(self.conn, cutter, &altered).await;
        let Altered { bytes, content_len, marks, then, .. } = altered;
        self.record(Reply {
            request: self.request.number,
            bytes: bytes.into(),
            content_len,
            written: progress.written,
            cuts: progress.cuts,
            proven: progress.proven,
            marks,
            complete: ended.is_ok(),
        });
        ended?;
        match (then, closed) {
            (Then::Continue | Then::Drip, None) => Ok(()),
            (Then::Continue | Then::Drip, Some(close)) => Err(End::Peer(close)),
            (Then::Fin | Then::Truncate, _) => Err(End::Peer(Close::Fin)),
            (Then::Rst | Then::TruncateRst, _) => {
                // A reset may take back what the client has not read yet.
                let sent = self.conn.sent;
                self.conn.watch(cutter.settle(sent)).await?;
                Err(End::Peer(Close::Rst))
            }
            (Then::Hold, _) => match self.conn.watch(pending::<Infallible>()).await {
                Err(gone) => Err(gone.into()),
            },
        }
    }

    fn record(&self, reply: Reply) {
        self.inner.desk.record(EventKind::Replied(Arc::new(reply)));
    }

    fn complain(&self, problem: &str) {
        let problem = format!("rule {} cannot be carried out: {problem}", self.request.rule);
        self.inner.desk.record(EventKind::HarnessError { problem });
    }
}

/// How far the pieces of an answer have gone out.
#[derive(Default)]
struct Pieces {
    written: usize,
    cuts: Vec<usize>,
    proven: u32,
}

impl Pieces {
    async fn write<I: Io, C: Cutter>(
        &mut self,
        conn: &mut Conn<I>,
        cutter: &mut C,
        altered: &Altered,
    ) -> Result<(), Gone> {
        let len = altered.bytes.len();
        for end in altered.cuts.iter().copied().filter(|cut| (1..len).contains(cut)).chain([len]) {
            let (written, gone) = conn.write(&altered.bytes[self.written..end]).await;
            self.written += written;
            gone?;
            if end < len {
                self.cuts.push(end);
                let sent = conn.sent;
                self.proven += u32::from(conn.watch(cutter.settle(sent)).await?);
            }
        }
        Ok(())
    }
}
