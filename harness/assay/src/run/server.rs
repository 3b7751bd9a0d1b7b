//! The job slot of one SDK server: its process, and the variants that run on it one after the other.

use super::dialogue::{Dialogue, shown};
use super::problem::Problem;
use super::steps::Backstage;
use super::together::{TogetherRun, by_case};
use super::unit::{Ground, Unit, Watch};
use super::variant::{Setup, runtime};
use crate::case::Case;
use crate::driver::Way;
use crate::receipt::observation::ProcessRecord;
use crate::receipt::writer::VariantRun;
use crate::sdk::admin;
use crate::sdk::fleet::Member;
use crate::sdk::install::Installed;
use crate::sdk::process::{Patience, Server};
use crate::tap::Tap;
use crate::timeline::{Event, EventKind, Recorder};
use crate::variant::Variant;
use crate::wire::tcp::TcpSlot;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep, timeout};

/// How long between two looks at a server's journal.
const LOOK: Duration = Duration::from_millis(2);

/// How long a server that no longer answers may take to show how it has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

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
    /// Its cases.
    pub cases: Vec<TogetherRun<'a>>,
    /// The server's process.
    pub process: Option<ProcessRecord>,
    /// What is wrong with the server itself: it did not start, or did not go.
    pub problem: Option<Problem>,
}

impl<'a> ServerJob<'a> {
    /// Starts the server, runs all units, and ends it.
    pub fn run(self, slot: &mut ServerSlot, setup: &Setup<'_>, watch: Watch<'_>) -> ServerRun<'a> {
        let Member { id, mode, .. } = self.member;
        let command = self.installed.command(&mode.name);
        let patience = Patience::default().scaled(setup.deadline_scale);
        let mut problem = None;
        let (server, broken, early) = match Server::start(id, self.installed.runtime(), &command, patience) {
            Ok(server) => (Some(server), None, None),
            Err(not) => {
                problem = Some(Problem::System(format!("the server {id}: {not}")));
                (None, Some(format!("the server {id}: {}", not.problem)), not.process.map(|it| *it))
            }
        };
        let mut ground = Running { slot, server, broken };
        let cases = by_case(self.units).iter().map(|case| case.run(&mut ground, setup, watch)).collect();
        let served = ground.broken.is_none();
        let process = early.or_else(|| ground.server.map(Server::stop));
        if let Some(process) = process.as_ref().filter(|_| served) {
            problem = stayed(id, patience, process);
        }
        ServerRun { cases, process, problem }
    }
}

/// What is said of a server that did not end with its stdin. Its variants were judged before, and stay so.
fn stayed(id: &str, patience: Patience, process: &ProcessRecord) -> Option<Problem> {
    let said = || {
        Problem::System(format!(
            "the server {id}: expected it to end within {} s of the end of its stdin, it stayed and was ended with {}; \
             let it leave when its stdin closes",
            patience.leave.as_secs_f64(),
            process.ended
        ))
    };
    process.killed.then(said)
}

/// Starts a server, runs one variant of a unit on it, and ends it. Of an open slice plan among `keys` the first cut runs.
/// Beside the variant stands what is wrong with the server itself, if it did not go.
///
/// # Errors
/// The server does not start or breaks, the system refuses a port, or the case cannot be put on the wire.
pub fn run_one(
    member: &Member,
    installed: &Installed,
    unit: &Unit<'_>,
    setup: &Setup<'_>,
    keys: &[(String, String)],
) -> Result<(VariantRun, Option<Problem>), Problem> {
    let mut slot =
        ServerSlot::new().map_err(|e| Problem::System(format!("cannot bind a port of 127.0.0.1: {e}")))?;
    let command = installed.command(&member.mode.name);
    let patience = Patience::default().scaled(setup.deadline_scale);
    let server = Server::start(&member.id, installed.runtime(), &command, patience)
        .map_err(|not| Problem::System(not.to_string()))?;
    let mut ground = Running { slot: &mut slot, server: Some(server), broken: None };
    let ran = unit.run_one(&mut ground, setup, keys);
    let process = ground.server.map(Server::stop);
    let problem = process.and_then(|process| stayed(&member.id, patience, &process));
    ran.map(|ran| (ran, problem))
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

/// A server, and what is wrong with it.
struct Running<'s> {
    slot: &'s mut ServerSlot,
    /// None if it never served.
    server: Option<Server>,
    /// Why nothing more can be run on it.
    broken: Option<String>,
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
        let Self { slot: ServerSlot { tcp }, server: Some(server), broken } = self else {
            return Err(Problem::System("the server does not run".to_owned()));
        };
        let address = server.address();
        // One for each variant: what its client leaves running ends with it.
        runtime(Builder::new_current_thread().enable_all())?.block_on(async {
            let since = match admin::journal(address, u64::from(u32::MAX)).await {
                Ok(journal) => journal.next,
                Err(silence) => {
                    let problem = why(&RefCell::new(server), silence).await;
                    *broken = Some(problem.clone());
                    return Err(Problem::System(problem));
                }
            };
            let server = &RefCell::new(server);
            let recorder = Recorder::start();
            let tap = Tap::new(case, address, variant.revision, setup.seed, recorder.clone())
                .map_err(|e| Problem::Case(e.to_string()))?;
            let lent = tcp
                .lend(tap.clone())
                .map_err(|e| Problem::System(format!("cannot lend the listener: {e}")))?;
            let witness = Witness { server, address, since, recorder: &recorder };
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
            if let Some(problem) = health(server).await {
                // It broke under this variant, which tells nothing of the client then.
                recorder.push(EventKind::HarnessError { problem: problem.clone() });
                *broken = Some(problem);
            }
            dialogue.end().await;
            tap.finish().await;
            lent.end().await;
            Ok(recorder.snapshot())
        })
    }

    fn broken(&mut self) -> Option<String> {
        if self.broken.is_none() {
            self.broken = self.server.as_mut().and_then(ended);
        }
        self.broken.clone()
    }
}

/// What is wrong with a server after a variant, if anything is: it has ended, floods its output, or answers nobody.
///
/// It is asked, and not only looked at: a process that dies has closed its sockets a moment before it has ended.
async fn health(server: &RefCell<&mut Server>) -> Option<String> {
    let address = server.borrow().address();
    match admin::journal(address, u64::from(u32::MAX)).await {
        Ok(_) => ended(&mut server.borrow_mut()),
        Err(silence) => Some(why(server, silence).await),
    }
}

/// Why a server does not answer: how it has ended, once that shows, else what was seen of its silence.
async fn why(server: &RefCell<&mut Server>, silence: String) -> String {
    let until = Instant::now() + LAST_WORDS;
    loop {
        if let Some(words) = ended(&mut server.borrow_mut()) {
            return words;
        }
        if Instant::now() >= until {
            return silence;
        }
        sleep(LOOK).await;
    }
}

fn ended(server: &mut Server) -> Option<String> {
    let name = format!("{}-{}", server.ready().name, server.ready().mode);
    server.ended().map(|ended| format!("expected the server {name} to go on serving, {ended}"))
}

/// The server seen from behind: its admin routes, its journal.
struct Witness<'a> {
    server: &'a RefCell<&'a mut Server>,
    address: SocketAddr,
    /// Where the variant's entries begin.
    since: u64,
    recorder: &'a Recorder,
}

impl Witness<'_> {
    async fn entries(&self) -> Result<Value, String> {
        match admin::journal(self.address, self.since).await {
            Ok(journal) => Ok(journal.entries),
            Err(silence) => Err(why(self.server, silence).await),
        }
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
            match admin::get(self.address, &route).await {
                Ok(_) => Ok(()),
                Err(silence) => Err(why(self.server, silence).await),
            }
        })
    }
}

#[cfg(test)]
mod tests;
