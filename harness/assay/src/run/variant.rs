//! Runs one variant: peer and client on one wire, the case's steps between them, a timeline behind.

use super::steps::{Backstage, Stage, deadline, perform};
use crate::case::Case;
use crate::clauses::Clauses;
use crate::driver::Driver;
use crate::driver::builtin::{Builtin, Connector};
use crate::judge::{JudgeInput, Offers, judge};
use crate::peer::{Peer, Script};
use crate::timeline::{Event, EventKind, Recorder};
use crate::variant::{Variant, Wire};
use crate::verdict::Outcome;
use crate::wire::memory::MemoryWire;
use crate::wire::tcp::TcpSlot;
use mcp_assay_client::Policy;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// What all variants of a profile are run with.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The policy of the built-in client.
    pub policy: Policy,
    /// The clauses.
    pub clauses: &'a Clauses,
    /// What the client offers.
    pub offers: &'a Offers,
    /// The run's seed.
    pub seed: u64,
    /// Multiplies the harness's own deadlines.
    pub deadline_scale: f64,
}

/// What one job slot holds on to: a runtime with real time, and a listener bound once.
pub struct Slot {
    runtime: Runtime,
    tcp: Option<TcpSlot>,
}

impl Slot {
    /// A slot; with `tcp` it binds its listener.
    ///
    /// # Errors
    /// The system refuses a runtime or a port.
    pub fn new(tcp: bool) -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let tcp = if tcp { Some(TcpSlot::bind()?) } else { None };
        Ok(Self { runtime, tcp })
    }

    /// Runs one variant to its end.
    ///
    /// # Errors
    /// The case cannot be put on the wire as it is written, or the system refuses a runtime.
    pub fn run(
        &mut self,
        setup: &Setup<'_>,
        case: &Case,
        polite: &Case,
        variant: &Variant,
        limits: &BTreeMap<String, u64>,
    ) -> Result<Vec<Event>, String> {
        let script = Script { case, polite, revision: variant.revision, seed: setup.seed, limits };
        match variant.wire {
            Wire::Memory => {
                let paused = Builder::new_current_thread()
                    .enable_time()
                    .start_paused(true)
                    .build()
                    .map_err(|e| format!("expected a runtime for the memory wire: {e}"))?;
                paused.block_on(async {
                    let recorder = Recorder::start();
                    let peer = Peer::new(&script, recorder.clone()).map_err(|e| e.to_string())?;
                    let wire = MemoryWire::new(peer.clone());
                    let connector: Connector = Arc::new(wire);
                    let driver: Arc<dyn Driver> = Arc::new(Builtin::new(setup.policy, Some(connector)));
                    dialogue(setup, &script, variant, MemoryWire::URL, driver, &peer, &recorder).await;
                    peer.finish().await;
                    Ok(recorder.snapshot())
                })
            }
            Wire::Tcp => {
                let Some(tcp) = &mut self.tcp else {
                    return Err("expected a job slot with a listener".to_owned());
                };
                self.runtime.block_on(async {
                    let recorder = Recorder::start();
                    let peer = Peer::new(&script, recorder.clone()).map_err(|e| e.to_string())?;
                    let lent =
                        tcp.lend(peer.clone()).map_err(|e| format!("cannot lend the listener: {e}"))?;
                    let driver: Arc<dyn Driver> = Arc::new(Builtin::new(setup.policy, None));
                    dialogue(setup, &script, variant, lent.url(), driver, &peer, &recorder).await;
                    peer.finish().await;
                    lent.end().await;
                    Ok(recorder.snapshot())
                })
            }
        }
    }
}

/// Steps, then what the checks still wait for, then teardown.
async fn dialogue(
    setup: &Setup<'_>,
    script: &Script<'_>,
    variant: &Variant,
    url: &str,
    driver: Arc<dyn Driver>,
    peer: &Peer,
    recorder: &Recorder,
) {
    let (case, limits) = (script.case, script.limits);
    let revision = variant.revision.as_str();
    let limit = deadline(case, limits).mul_f64(setup.deadline_scale);
    let stage =
        Stage { case, url, revision, limits, driver: driver.clone(), peer, recorder, deadline: limit };
    perform(&stage).await;
    settle(setup, case, variant, recorder, limit).await;
    recorder.push(EventKind::Teardown);
    driver.end();
}

/// Waits until nothing that a check asks to be seen is missing any more, or the deadline passes.
///
/// What the client does after its API has returned (closing a socket, posting a cancellation) takes a moment that
/// no sleep could name. The judge says when it has seen enough; a missing event costs the whole deadline, and then
/// the judge says so for good.
async fn settle(setup: &Setup<'_>, case: &Case, variant: &Variant, recorder: &Recorder, limit: Duration) {
    let awaits_events = |check: &crate::case::Check| {
        check.seen.is_some() || check.closed.is_some() || check.count.is_some() || check.order.is_some()
    };
    if !case.check.iter().any(awaits_events) {
        return;
    }
    let waiting = async {
        let mut seen = 0;
        loop {
            let timeline = recorder.snapshot();
            if timeline.len() > seen {
                seen = timeline.len();
                let input = JudgeInput {
                    case,
                    variant,
                    policy: Some(setup.policy.name),
                    offers: setup.offers,
                    clauses: setup.clauses,
                    timeline: &timeline,
                };
                let open = |id: &str| case.check.iter().any(|c| c.id.get_ref() == id && awaits_events(c));
                if !judge(&input).iter().any(|r| r.outcome == Outcome::Fail && open(&r.id)) {
                    return;
                }
            }
            recorder.grown_past(seen).await;
        }
    };
    let _given_up = timeout(limit, waiting).await;
}

impl Backstage for Peer {
    fn release(&self, name: &str) {
        Self::release(self, name);
    }

    fn admin(&self, route: &str) -> std::pin::Pin<Box<dyn Future<Output = Result<(), String>> + '_>> {
        let problem = format!("the scripted peer has no admin route {route:?}; only SDK servers have");
        Box::pin(async { Err(problem) })
    }
}
