//! Runs one variant: peer and client on one wire, the case's steps between them, a timeline behind.

use super::dialogue::Dialogue;
use super::steps::Backstage;
use super::unit::{Facing, Ground, Unit};
use crate::case::Case;
use crate::clauses::Clauses;
use crate::driver::Driver;
use crate::driver::builtin::{Builtin, Connector};
use crate::judge::Offers;
use crate::peer::{Peer, Script};
use crate::timeline::{Event, Recorder};
use crate::variant::{Variant, Wire};
use crate::wire::memory::MemoryWire;
use crate::wire::tcp::TcpSlot;
use mcp_assay_client::Policy;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

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
                    hold(setup, &script, variant, MemoryWire::URL, driver, &peer, &recorder).await;
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
                    hold(setup, &script, variant, lent.url(), driver, &peer, &recorder).await;
                    peer.finish().await;
                    lent.end().await;
                    Ok(recorder.snapshot())
                })
            }
        }
    }
}

/// Holds the dialogue of a scripted variant to its end.
async fn hold(
    setup: &Setup<'_>,
    script: &Script<'_>,
    variant: &Variant,
    url: &str,
    driver: Arc<dyn Driver>,
    peer: &Peer,
    recorder: &Recorder,
) {
    let (case, limits) = (script.case, script.limits);
    let dialogue = Dialogue { setup, case, limits, variant, url, driver, peer, recorder };
    dialogue.perform().await;
    dialogue.end();
}

impl Ground for Slot {
    fn play(
        &mut self,
        setup: &Setup<'_>,
        unit: &Unit<'_>,
        case: &Case,
        variant: &Variant,
        limits: &BTreeMap<String, u64>,
    ) -> Result<Vec<Event>, String> {
        match unit.facing {
            Facing::Scripted { polite, .. } => self.run(setup, case, polite, variant, limits),
            Facing::Server(id) => Err(format!("expected a job slot of the server {id}")),
        }
    }
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
