//! The scripted peer: an HTTP/1.1 server that answers by rules and misbehaves only where a rule says so.
//!
//! It records everything it reads, writes and sees closed on the variant's timeline, and decides nothing. Whatever a
//! client does (garbage, huge heads, half-closed or reset connections, silence), the peer neither panics nor hangs:
//! every connection ends by its script, by the client, or by [`Peer::finish`].
//!
//! # Where no rule matches
//!
//! | request | answer |
//! | --- | --- |
//! | any method but POST | 405 with `allow: POST` |
//! | a notification, or a reply to the server | 202 |
//! | a JSON-RPC request | error -32601 with its id; 404 since 2026-07-28, 200 before, where a 404 says that the session is gone |
//! | a POST that is none of these | 400 and error -32600 |
//! | bytes that are no HTTP/1.x request, a head over 64 KiB, a body over 16 MiB | recorded as such, 400, closed |
//!
//! Such a request stands in the timeline with the rule `default`. A request that says `connection: close` gets its
//! way, and one that waits with `expect: 100-continue` gets leave.
//!
//! What a client sends without end fills the recording's room ([`RECORD_MAX`](crate::timeline::RECORD_MAX),
//! [`EVENTS_MAX`](crate::timeline::EVENTS_MAX)): then the timeline says so, every connection is closed, and no other is
//! taken.

mod calls;
pub mod compile;
pub(crate) mod conn;
pub(crate) mod desk;
mod limits;
mod reply;
pub(crate) mod request;
pub(crate) mod rules;
mod serve;

#[cfg(test)]
mod tests;

use crate::case::Case;
use crate::plan::{BadPlan, Plan};
use crate::revision::Revision;
use crate::timeline::{EventKind, Recorder};
use desk::Desk;
use rules::Rules;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

pub use calls::Calls;
pub use request::{BODY_MAX, HEAD_MAX};

/// What the peer plays in one variant.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// The case; its rules come first.
    pub case: &'a Case,
    /// The polite peer of the revision, which stands behind them.
    pub polite: &'a Case,
    /// The revision spoken.
    pub revision: Revision,
    /// The run's seed, for seeded plans.
    pub seed: u64,
    /// The client's limits by public option name, for bounds.
    pub limits: &'a BTreeMap<String, u64>,
}

/// The peer's end of a connection.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {
    /// Makes the drop that follows a reset in place of an end of stream.
    fn reset(&mut self);

    /// Holds back what is written from now on until the stream is ended, so that both arrive as one: a client that
    /// runs beside the peer must not find the connection open in between, and send on it. Where the system cannot,
    /// nothing is held back.
    fn hold_for_end(&mut self) {}
}

/// Knows when a write has been seen as a write of its own.
pub trait Cutter: Send + 'static {
    /// Waits, within a bound of its own, until the client has taken all `sent` bytes of the connection so far out of
    /// its socket, and says whether it surely has.
    fn settle(&mut self, sent: u64) -> impl Future<Output = bool> + Send;

    /// How long a client that has taken all bytes may take to send on, before a reset may hit it in the middle. None:
    /// it does nothing while the peer does.
    fn grace(&self) -> Option<Duration> {
        None
    }
}

/// The scripted peer of one variant. Cheap to clone; all clones are the same peer.
#[derive(Clone, Debug)]
pub struct Peer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    rules: Mutex<Rules>,
    desk: Desk,
    revision: Revision,
    seed: u64,
    limits: BTreeMap<String, u64>,
    calls: Calls,
    released: watch::Sender<BTreeSet<String>>,
}

impl Peer {
    /// Sets up the peer of one variant, which records on `recorder`.
    ///
    /// # Errors
    /// A slice or chunk plan of a rule that is no plan. What can only be told with a request at hand is recorded as
    /// [`EventKind::HarnessError`] when it comes.
    pub fn new(script: &Script<'_>, recorder: Recorder) -> Result<Self, BadPlan> {
        let (case, polite) = (&script.case.peer, &script.polite.peer);
        for rule in case.iter().chain(polite) {
            for plan in [&rule.slice, &rule.chunks].into_iter().flatten() {
                plan.parse::<Plan>()?;
            }
        }
        Ok(Self(Arc::new(Inner {
            rules: Mutex::new(Rules::new(case, polite, script.revision)),
            desk: Desk::new(recorder),
            revision: script.revision,
            seed: script.seed,
            calls: Calls::default(),
            limits: limits::with_defaults(script.limits),
            released: watch::Sender::default(),
        })))
    }

    /// Serves one connection to its end. The connection counts as accepted from the moment of the call; the future
    /// must then be driven, since [`Peer::finish`] waits for it.
    pub fn serve<I: Io, C: Cutter>(&self, io: I, cutter: C) -> impl Future<Output = ()> + Send + 'static {
        let (number, active) = self.0.desk.accept();
        let inner = Arc::clone(&self.0);
        async move {
            serve::serve(&inner, conn::Conn::new(io, number, &inner.desk), cutter).await;
            drop(active);
        }
    }

    /// Lets go of a hold, now and from now on: who comes to a hold that is already let go does not wait.
    pub fn release(&self, name: &str) {
        self.0.release(name);
    }

    /// Whether [`Peer::finish`] has been called: the peer takes no connection any more.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        *self.0.desk.finished().borrow()
    }

    /// Closes every connection, now and from now on, and waits until all of them have ended.
    pub async fn finish(&self) {
        self.0.desk.finish().await;
    }
}

impl Inner {
    fn release(&self, name: &str) {
        self.desk.record(EventKind::Released { name: name.to_owned() });
        self.released.send_modify(|released| {
            released.insert(name.to_owned());
        });
    }

    fn rules(&self) -> std::sync::MutexGuard<'_, Rules> {
        // Counting is all that happens under the lock; a panic elsewhere leaves the counts as they were.
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
