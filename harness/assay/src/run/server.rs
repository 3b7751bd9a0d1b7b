//! The job slot of one SDK server: its process, and the variants that run on it one after the other.

use super::dialogue::{Dialogue, shown};
use super::problem::Problem;
use super::steps::Backstage;
use super::unit::{Ground, Unit, UnitRun, Watch};
use super::variant::{Setup, runtime};
use crate::case::Case;
use crate::driver::Way;
use crate::receipt::observation::ProcessRecord;
use crate::sdk::admin;
use crate::sdk::fleet::Member;
use crate::sdk::install::Installed;
use crate::sdk::process::{NotServing, Patience, Server};
use crate::tap::Tap;
use crate::timeline::{Event, EventKind, Recorder};
use crate::variant::Variant;
use crate::wire::tcp::TcpSlot;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep, timeout};

/// How long between two looks at a server's journal.
const LOOK: Duration = Duration::from_millis(2);

/// A server with all units that run on it.
pub struct ServerJob<'a> {
    /// The server and its mode.
    pub member: &'a Member,
    /// How it is started.
    pub installed: &'a Installed,
    /// What runs on it.
    pub units: Vec<Unit<'a>>,
}

/// What became of a job.
pub struct ServerRun<'a> {
    /// The units.
    pub units: Vec<UnitRun<'a>>,
    /// The server's process.
    pub process: Option<ProcessRecord>,
}

impl<'a> ServerJob<'a> {
    /// Starts the server, runs all units, and ends it.
    pub fn run(self, slot: &mut ServerSlot, setup: &Setup<'_>, watch: Watch<'_>) -> ServerRun<'a> {
        let Member { id, mode, .. } = self.member;
        let command = self.installed.command(&mode.name);
        let (server, early) = match Server::start(id, self.installed.runtime(), &command, Patience::default())
        {
            Ok(server) => (Ok(server), None),
            Err(NotServing { problem, process }) => {
                (Err(format!("the server {id}: {problem}")), process.map(|it| *it))
            }
        };
        let mut ground = Running { slot, server };
        let mut units = Vec::new();
        for unit in self.units {
            if watch.stop.load(Ordering::Relaxed) {
                break;
            }
            units.push(unit.run(&mut ground, setup, watch));
        }
        let process = early.or_else(|| ground.server.ok().map(Server::stop));
        ServerRun { units, process }
    }
}

/// What one job slot holds on to: a listener bound once.
pub struct ServerSlot {
    tcp: TcpSlot,
}

impl ServerSlot {
    /// A slot with its listener.
    ///
    /// # Errors
    /// The system refuses a port.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { tcp: TcpSlot::bind()? })
    }
}

/// A server that runs, or why it does not.
struct Running<'s> {
    slot: &'s mut ServerSlot,
    server: Result<Server, String>,
}

impl Ground for Running<'_> {
    fn play(
        &mut self,
        setup: &Setup<'_>,
        _unit: &Unit<'_>,
        case: &Case,
        variant: &Variant,
        limits: &BTreeMap<String, u64>,
    ) -> Result<Vec<Event>, Problem> {
        if let Some(problem) = self.broken() {
            return Err(Problem::System(problem));
        }
        let Ok(server) = &self.server else {
            return Err(Problem::System("the server does not run".to_owned()));
        };
        let address = server.address();
        let tcp = &mut self.slot.tcp;
        // One for each variant: what its client leaves running ends with it.
        runtime(Builder::new_current_thread().enable_all())?.block_on(async {
            let since = admin::journal(address, u64::from(u32::MAX)).await.map_err(Problem::System)?.next;
            let recorder = Recorder::start();
            let tap = Tap::new(case, address, variant.revision, setup.seed, recorder.clone())
                .map_err(|e| Problem::Case(e.to_string()))?;
            let lent = tcp
                .lend(tap.clone())
                .map_err(|e| Problem::System(format!("cannot lend the listener: {e}")))?;
            let witness = Witness { server: address, since, recorder: &recorder };
            let dialogue = Dialogue {
                setup,
                case,
                limits,
                variant,
                url: lent.url(),
                driver: setup.client.driver(Way::Tcp),
                peer: &witness,
                recorder: &recorder,
            };
            dialogue.perform().await;
            witness.testify(&dialogue).await;
            dialogue.end();
            tap.finish().await;
            lent.end().await;
            Ok(recorder.snapshot())
        })
    }

    fn broken(&mut self) -> Option<String> {
        match &mut self.server {
            Err(problem) => Some(problem.clone()),
            Ok(server) => {
                let name = format!("{}-{}", server.ready().name, server.ready().mode);
                server.ended().map(|ended| format!("expected the server {name} to go on serving, {ended}"))
            }
        }
    }
}

/// The server seen from behind: its admin routes, its journal.
struct Witness<'a> {
    server: SocketAddr,
    /// Where the variant's entries begin.
    since: u64,
    recorder: &'a Recorder,
}

impl Witness<'_> {
    async fn entries(&self) -> Result<Value, String> {
        Ok(admin::journal(self.server, self.since).await?.entries)
    }

    /// Puts the journal on the timeline, where a check asks for it: as soon as it says what is expected, or at the
    /// deadline as it stands.
    async fn testify(&self, dialogue: &Dialogue<'_>) {
        if dialogue.case.check.iter().all(|check| check.witness.is_none()) {
            return;
        }
        let until = Instant::now() + dialogue.deadline();
        loop {
            let journal = match self.entries().await {
                Ok(journal) => journal,
                Err(problem) => return self.recorder.push(EventKind::HarnessError { problem }),
            };
            let mut timeline = self.recorder.snapshot();
            timeline.push(Event { at_us: u64::MAX, kind: EventKind::Witness { journal: journal.clone() } });
            if !dialogue.wants_more(&timeline) || Instant::now() >= until {
                return self.recorder.push(EventKind::Witness { journal });
            }
            sleep(LOOK).await;
        }
    }

    /// Waits until the server has seen what the tap has passed on: requests in its journal, tools at work.
    async fn caught_up(&self) -> Result<(), String> {
        loop {
            let timeline = self.recorder.snapshot();
            let journal = self.entries().await?;
            let entries = journal.as_array().map(Vec::as_slice).unwrap_or_default();
            if shown(&timeline, entries) {
                return Ok(());
            }
            sleep(LOOK).await;
        }
    }
}

impl Backstage for Witness<'_> {
    fn release(&self, _name: &str) {}

    fn admin(&self, route: &str) -> Pin<Box<dyn Future<Output = Result<(), String>> + '_>> {
        let route = route.to_owned();
        Box::pin(async move {
            match timeout(Duration::from_secs(10), self.caught_up()).await {
                Ok(caught_up) => caught_up?,
                Err(_) => return Err("expected all requests in the server's journal within 10 s".to_owned()),
            }
            admin::get(self.server, &route).await.map(|_| ())
        })
    }
}
