//! The harness as a whole against the bare wire: a run with plan, judge and receipts, and the same exchanges between
//! a bare hyper client and a bare tokio loop.
//!
//! What the bare side does was recorded in a run before: as many connections, on each the same requests, answered by
//! the same bytes in the same pieces. It proves no cut, records nothing and judges nothing.
//!
//! What waits by design is not compared: after each cut the peer waits until the client has read, and a bare loop does
//! not. So of the slice plans only `whole` and `each-cut` take part, which make one write a reply or two; and the smoke
//! case, which says whether there is anything to run, stands before the clock.

use super::bare::{BareClient, read_body, request_len};
use super::ratio::{Contestant, Rates, Work, alternate};
use crate::catalogue::Catalogue;
use crate::driver::builtin::BuiltinClient;
use crate::profile::ProfileFile;
use crate::receipt::catalog::Texts;
use crate::report::Cuts;
use crate::run::profile::{Conduct, Silence, run as run_profile};
use crate::run::unit::Watch;
use crate::run::variant::Setup;
use crate::run::{Choice, DEFAULT_SEED, run, units};
use crate::sdk::fleet::Fleet;
use crate::timeline::{Event, EventKind, Reply, Request};
use crate::variant::Wire;
use bytes::{Bytes, BytesMut};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

/// The cases: every family that runs on TCP and does not wait, each by a typical one, in replies of one write or two.
pub(super) const CASES: [&str; 9] = [
    "smoke/polite",
    "splits/call-json#*;slice={whole,each-cut@*}*",
    "splits/call-sse#*;slice={whole,each-cut@*}*",
    "splits/initialize-json#*;slice={whole,each-cut@*}*",
    "handshake/session-values",
    "requests/ids",
    "close/acknowledged#*;slice={whole,each-cut@*}*",
    "expiry/list#*;slice=whole;*",
    "bounds/session#*;slice=whole;*",
];

/// A profile's cases on TCP, ready to be run, and what came over the wire when they were.
pub(super) struct Exchanges<'a> {
    root: &'a Path,
    catalogue: &'a Catalogue,
    profile: &'a ProfileFile,
    client: BuiltinClient,
    choice: Choice,
    scripts: Vec<Dialogue>,
    /// Cuts between writes, and how many were proven.
    pub(super) cuts: Cuts,
}

/// The connections of one variant, in the order in which they were accepted.
type Dialogue = Vec<Vec<Exchange>>;

/// A request and its reply.
#[derive(Clone)]
struct Exchange {
    headers: HeaderMap,
    body: Bytes,
    /// The reply's writes.
    pieces: Vec<Bytes>,
    /// Bytes of its body.
    content: usize,
}

impl<'a> Exchanges<'a> {
    /// Runs the cases once, to learn what comes over the wire.
    pub(super) fn record(
        root: &'a Path,
        catalogue: &'a Catalogue,
        profile: &'a ProfileFile,
        jobs: usize,
    ) -> Result<Self, String> {
        let client = BuiltinClient::named("exagent").ok_or("expected the policy exagent")?;
        let mut choice = Choice::all(jobs);
        choice.wire = Some(Wire::Tcp);
        for case in CASES {
            choice.filters.push(case.parse().map_err(|e| format!("{e}"))?);
        }
        let setup =
            Setup { client: &client, clauses: &catalogue.clauses, seed: DEFAULT_SEED, deadline_scale: 1.0 };
        let texts = Texts::load(root).map_err(|problem| problem.to_string())?;
        let fleet = Fleet::default();
        let units = units(catalogue, &texts, &fleet, &profile.profile, &choice);
        let (mut scripts, mut cuts, mut problems) = (Vec::new(), Cuts::default(), Vec::new());
        let stop = AtomicBool::new(false);
        let watch = Watch { stop: &stop, tick: &|| {} };
        run(units, &setup, jobs, watch, |case| {
            problems.extend(case.problems.iter().map(|problem| format!("{}: {problem}", case.file.id)));
            for ran in &case.variants {
                cuts.add(&ran.variant, &ran.timeline);
                scripts.push(script(&ran.timeline));
            }
        })
        .map_err(|e| format!("cannot run: {e}"))?;
        match problems.pop() {
            Some(problem) => Err(problem),
            None => Ok(Self { root, catalogue, profile, client, choice, scripts, cuts }),
        }
    }

    fn exchanges(&self) -> f64 {
        self.scripts.iter().flatten().map(Vec::len).sum::<usize>() as f64
    }

    /// Rates of the harness and of the bare side, in exchanges per second.
    pub(super) fn rates(&self, rounds: usize) -> Result<Vec<Rates>, String> {
        let harness = Contestant::new("the harness: plan, peer, judge, receipts", || self.harness());
        let bare = Contestant::new("bare hyper client, bare tokio loop", || self.bare());
        alternate(rounds, vec![harness, bare])
    }

    fn harness(&self) -> Result<Work, String> {
        let out = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
        let stop = AtomicBool::new(false);
        let conduct = Conduct {
            program: "mcp-assay",
            root: self.root,
            catalogue: self.catalogue,
            profile: self.profile,
            choice: &self.choice,
            client: &self.client,
            strict: false,
            out: out.path(),
            command: vec!["bench".to_owned()],
            repetition: 0,
            stop: &stop,
        };
        let ran = run_profile(&conduct, &Silence)?;
        if ran.report.variants != self.scripts.len() as u64 {
            let (all, ran) = (self.scripts.len(), ran.report.variants);
            return Err(format!("expected {all} variants, {ran} ran"));
        }
        Ok(Work { units: self.exchanges(), seconds: ran.report.seconds })
    }

    /// The same exchanges on as many threads.
    fn bare(&self) -> Result<Work, String> {
        let began = Instant::now();
        let share = self.scripts.len().div_ceil(self.choice.jobs(&self.profile.profile.client)).max(1);
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                self.scripts.chunks(share).map(|scripts| scope.spawn(move || replay(scripts))).collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|_| Err("a thread of the bare side failed".to_owned()))
            })
        })?;
        Ok(Work { units: self.exchanges(), seconds: began.elapsed().as_secs_f64() })
    }
}

/// What came over the wire in a variant; requests whose reply was not written whole are left out with what follows.
fn script(timeline: &[Event]) -> Dialogue {
    let mut requests: BTreeMap<u32, &Request> = BTreeMap::new();
    let mut connections: BTreeMap<u32, Vec<Exchange>> = BTreeMap::new();
    for event in timeline {
        match &event.kind {
            EventKind::Request(request) => drop(requests.insert(request.number, request)),
            EventKind::Replied(reply) => {
                if let Some(request) =
                    requests.get(&reply.request).filter(|_| reply.written == reply.bytes.len())
                {
                    connections.entry(request.conn).or_default().push(exchange(request, reply));
                }
            }
            _ => {}
        }
    }
    connections.into_values().collect()
}

fn exchange(request: &Request, reply: &Reply) -> Exchange {
    let mut headers = HeaderMap::new();
    for (name, value) in request.headers.iter().filter(|(name, _)| name != "content-length") {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.append(name, value);
        }
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    for end in reply.cuts.iter().copied().chain([reply.written]).filter(|end| *end <= reply.bytes.len()) {
        pieces.push(reply.bytes.slice(at.min(end)..end));
        at = end;
    }
    Exchange { headers, body: request.body.clone(), pieces, content: reply.content_len }
}

fn replay(scripts: &[Dialogue]) -> Result<(), String> {
    let runtime = Builder::new_current_thread().enable_io().build().map_err(|e| e.to_string())?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(|e| e.to_string())?;
        let address = listener.local_addr().map_err(|e| e.to_string())?;
        // What the connection that is accepted next answers.
        let next: Arc<Mutex<Vec<Vec<Bytes>>>> = Arc::default();
        let answers = next.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answers = std::mem::take(&mut *answers.lock().unwrap_or_else(PoisonError::into_inner));
                // The client closes when it has enough; how that ends is of no interest.
                tokio::spawn(async move { drop(answer(stream, answers).await) });
            }
        });
        for connection in scripts.iter().flatten() {
            let answers = connection.iter().map(|exchange| exchange.pieces.clone()).collect();
            *next.lock().unwrap_or_else(PoisonError::into_inner) = answers;
            let mut client = BareClient::connect(address).await?;
            for (index, exchange) in connection.iter().enumerate() {
                let response = client.send(exchange.headers.clone(), exchange.body.clone()).await?;
                let enough = if index + 1 == connection.len() { exchange.content } else { usize::MAX };
                read_body(response.into_body(), enough).await?;
            }
        }
        Ok(())
    })
}

async fn answer(mut stream: TcpStream, answers: Vec<Vec<Bytes>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = BytesMut::with_capacity(4_096);
    for pieces in answers {
        let whole = loop {
            match request_len(&buffer) {
                Some((_, whole)) if buffer.len() >= whole => break whole,
                _ if stream.read_buf(&mut buffer).await? == 0 => return Ok(()),
                _ => {}
            }
        };
        drop(buffer.split_to(whole));
        for piece in pieces {
            stream.write_all(&piece).await?;
        }
    }
    Ok(())
}
