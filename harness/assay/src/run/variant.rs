//! Runs one variant: peer and client on one wire, the case's steps between them, a timeline behind.

use super::dialogue::Dialogue;
use super::problem::Problem;
use super::steps::Backstage;
use super::unit::{Facing, Ground, Unit};
use crate::case::Case;
use crate::clauses::Clauses;
use crate::driver::{ClientUnderTest, Way};
use crate::judge::JudgeInput;
use crate::peer::{Peer, Script};
use crate::timeline::{Event, Recorder};
use crate::variant::{Variant, Wire};
use crate::wire::memory::MemoryWire;
use crate::wire::tcp::TcpSlot;
use std::collections::BTreeMap;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::yield_now;

/// What all variants of a profile are run with.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// The client under test.
    pub client: &'a dyn ClientUnderTest,
    /// The clauses.
    pub clauses: &'a Clauses,
    /// The run's seed.
    pub seed: u64,
    /// Multiplies the harness's own deadlines.
    pub deadline_scale: f64,
}

impl Setup<'_> {
    /// What a verdict on a variant of this run rests on.
    #[must_use]
    pub fn input<'j>(
        &'j self,
        case: &'j Case,
        variant: &'j Variant,
        timeline: &'j [Event],
    ) -> JudgeInput<'j> {
        JudgeInput {
            case,
            variant,
            policy: self.client.policy(),
            offers: self.client.offers(),
            clauses: self.clauses,
            timeline,
        }
    }
}

/// What one job slot of the scripted peer holds on to: a listener bound once.
#[derive(Debug)]
pub struct Slot {
    tcp: Option<TcpSlot>,
    /// The variant that had the listener last.
    last: Option<String>,
    /// The last variant's runtime, where its client left nothing running.
    runtime: Option<Runtime>,
}

impl Slot {
    /// A slot; with `tcp` it binds its listener.
    ///
    /// # Errors
    /// The system refuses a port.
    pub fn new(tcp: bool) -> std::io::Result<Self> {
        let tcp = if tcp { Some(TcpSlot::bind()?) } else { None };
        Ok(Self { tcp, last: None, runtime: None })
    }

    /// What a client leaves running ends with its variant: the runtime then goes with it. Else the next has it.
    fn tcp(&mut self, stage: &Scripted<'_>, name: String) -> Result<Vec<Event>, Problem> {
        let Some(tcp) = &mut self.tcp else {
            return Err(Problem::System("expected a job slot with a listener".to_owned()));
        };
        let strays = tcp.take_strays();
        if let Some(last) = self.last.take()
            && strays > 0
        {
            let problem = format!("expected no connection after {last} had ended, {strays} came");
            return Err(Problem::System(problem));
        }
        tcp.clients_apart(stage.setup.client.home_wire() == Wire::Tcp);
        let runtime = match self.runtime.take() {
            Some(runtime) => runtime,
            None => runtime(Builder::new_current_thread().enable_all())?,
        };
        let timeline = runtime.block_on(async {
            let recorder = Recorder::start();
            let peer = stage.peer(&recorder)?;
            let lent = tcp
                .lend(peer.clone())
                .map_err(|e| Problem::System(format!("cannot lend the listener: {e}")))?;
            stage.hold(lent.url(), Way::Tcp, &peer, &recorder).await;
            lent.end().await;
            Ok(recorder.snapshot())
        });
        runtime.block_on(idle());
        if runtime.metrics().num_alive_tasks() == 0 {
            self.runtime = Some(runtime);
        } else {
            drop(runtime);
        }
        // What the client had begun to dial when it was ended came after teardown, and counts for nothing.
        let _dialled = tcp.take_strays();
        self.last = Some(name);
        timeline
    }
}

impl Ground for Slot {
    fn play(
        &mut self,
        setup: &Setup<'_>,
        unit: &Unit<'_>,
        case: &Case,
        variant: &Variant,
        limits: &BTreeMap<String, u64>,
    ) -> Result<Vec<Event>, Problem> {
        match unit.facing {
            Facing::Scripted { polite, .. } => {
                let stage = Scripted { setup, case, polite, variant, limits };
                match variant.wire {
                    Wire::Memory => memory(&stage),
                    Wire::Tcp => self.tcp(&stage, format!("{}#{variant}", unit.file.id)),
                }
            }
            Facing::Server(id) => Err(Problem::System(format!("expected a job slot of the server {id}"))),
        }
    }
}

fn memory(stage: &Scripted<'_>) -> Result<Vec<Event>, Problem> {
    runtime(Builder::new_current_thread().enable_time().start_paused(true))?.block_on(async {
        let recorder = Recorder::start();
        let peer = stage.peer(&recorder)?;
        stage.hold(MemoryWire::URL, Way::Memory(MemoryWire::new(peer.clone())), &peer, &recorder).await;
        peer.finish().await;
        Ok(recorder.snapshot())
    })
}

/// Gives tasks that are about to end the moment that they need for it; all others soon end with their runtime.
async fn idle() {
    let metrics = Handle::current().metrics();
    for _ in 0..8 {
        if metrics.num_alive_tasks() == 0 {
            return;
        }
        yield_now().await;
    }
}

/// A runtime of a variant's own.
pub(super) fn runtime(builder: &mut Builder) -> Result<Runtime, Problem> {
    builder.build().map_err(|e| Problem::System(format!("expected a runtime for the variant: {e}")))
}

/// One variant against the scripted peer.
struct Scripted<'a> {
    setup: &'a Setup<'a>,
    case: &'a Case,
    polite: &'a Case,
    variant: &'a Variant,
    limits: &'a BTreeMap<String, u64>,
}

impl Scripted<'_> {
    fn peer(&self, recorder: &Recorder) -> Result<Peer, Problem> {
        let script = Script {
            case: self.case,
            polite: self.polite,
            revision: self.variant.revision,
            seed: self.setup.seed,
            limits: self.limits,
        };
        Peer::new(&script, recorder.clone()).map_err(|e| Problem::Case(e.to_string()))
    }

    /// Holds the dialogue to its end.
    async fn hold(&self, url: &str, way: Way, peer: &Peer, recorder: &Recorder) {
        let Self { setup, case, variant, limits, .. } = *self;
        let driver = setup.client.driver(way);
        let dialogue = Dialogue { setup, case, limits, variant, url, driver, peer, recorder };
        dialogue.perform().await;
        dialogue.end().await;
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
