//! The tap: a recording relay between a client and an SDK server, on loopback.
//!
//! Each connection of the client gets one to the server. What passes is read along as HTTP/1.1 and recorded on the
//! variant's timeline in the same words as the scripted peer's doings, so that one judge serves both; a `reply` ends
//! where the server ended it. An answer that no rule of the case names passes byte by byte as it comes, and so does
//! the end of a connection, from either side. Requests are passed on once they are whole.
//!
//! | rule | what the tap does |
//! | --- | --- |
//! | `slice` | gathers the answer and writes it in pieces |
//! | `inject` | puts bytes into the body, in a chunk of their own; a Content-Length becomes chunked |
//! | `then = "hold"` | leaves the body without its last chunk and the connection open |
//! | `withhold = true` | takes the answer and passes nothing of it on |
//! | `then = "fin"`, `"rst"` | ends the body, and then the connection |
//! | `then = "truncate"`, `"truncate-rst"` | ends the connection without ending the body |

mod alter;
mod relay;
pub(crate) mod stream;
mod upstream;

#[cfg(test)]
mod tests;

use crate::case::{Case, TapRule};
use crate::peer::conn::Conn;
use crate::peer::desk::Desk;
use crate::peer::{Cutter, Io};
use crate::plan::{BadPlan, Plan};
use crate::revision::Revision;
use crate::timeline::{Recorder, Request};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The tap of one variant. Cheap to clone; all clones are the same tap.
#[derive(Clone, Debug)]
pub struct Tap(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    desk: Desk,
    server: SocketAddr,
    revision: Revision,
    seed: u64,
    rules: Mutex<Vec<Counted>>,
}

/// A rule, with how many requests it has met.
#[derive(Debug)]
struct Counted {
    rule: Arc<TapRule>,
    met: u32,
}

impl Tap {
    /// Sets up the tap of one variant before the server at `server`; it records on `recorder`.
    ///
    /// # Errors
    /// A slice plan of a rule that is no plan.
    pub fn new(
        case: &Case,
        server: SocketAddr,
        revision: Revision,
        seed: u64,
        recorder: Recorder,
    ) -> Result<Self, BadPlan> {
        for plan in case.tap.iter().filter_map(|rule| rule.slice.as_ref()) {
            plan.parse::<Plan>()?;
        }
        let count = |rule: &TapRule| Counted { rule: Arc::new(rule.clone()), met: 0 };
        Ok(Self(Arc::new(Inner {
            desk: Desk::new(recorder),
            server,
            revision,
            seed,
            rules: Mutex::new(case.tap.iter().map(count).collect()),
        })))
    }

    /// Relays one connection to its end. It counts as accepted from the moment of the call; the future must then be
    /// driven, since [`Tap::finish`] waits for it.
    pub fn serve<I: Io, C: Cutter>(&self, io: I, cutter: C) -> impl Future<Output = ()> + Send + 'static {
        let (number, active) = self.0.desk.accept();
        let inner = Arc::clone(&self.0);
        async move {
            let conn = Conn::new(io, number, &inner.desk);
            relay::relay(&inner, conn, cutter).await;
            drop(active);
        }
    }

    /// Closes every connection, now and from now on, and waits until all of them have ended.
    pub async fn finish(&self) {
        self.0.desk.finish().await;
    }
}

impl Inner {
    /// The rule that changes the answer to a request, and its name: `tap:0`, or `server` where none does.
    fn pick(&self, request: &Request) -> (String, Option<Arc<TapRule>>) {
        // Counting is all that happens under the lock; a panic elsewhere leaves the counts as they were.
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let mut picked = None;
        for (index, counted) in rules.iter_mut().enumerate() {
            if !request.is_on(&counted.rule.on) {
                continue;
            }
            counted.met = counted.met.saturating_add(1);
            if picked.is_none() && counted.rule.nth.is_none_or(|nth| nth == counted.met) {
                picked = Some((format!("tap:{index}"), Some(Arc::clone(&counted.rule))));
            }
        }
        picked.unwrap_or_else(|| ("server".to_owned(), None))
    }
}
