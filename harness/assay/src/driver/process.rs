//! A client under test in a process of its own, behind a driver that speaks the protocol.
//!
//! A process serves the variants of one case, with `end` between them, and is replaced by a fresh one after
//! whatever a driver must not do: a line that is no reply, a second reply, a flood, an end of its own, too much
//! memory, a verb that is still open when the variant is over. The verbs that wait for it then end with the error
//! [`BROKEN`](crate::returned::BROKEN): the variant is judged, and no check on it says anything about the client.

mod link;
mod seat;

use super::protocol::Hello;
use super::{ClientUnderTest, Driver, Sitting, Way};
use crate::judge::Offers;
use crate::receipt::observation::ProcessRecord;
use crate::receipt::run::Identity;
use crate::variant::Wire;
use link::Link;
use seat::Seat;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// What a driver's process may take.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    /// Resident memory of the process and all below it, bytes.
    pub memory: u64,
    /// What it writes to stderr, bytes.
    pub stderr: u64,
    /// From its start to its reply to `hello`.
    pub hello: Duration,
    /// From `end` to the reply.
    pub end: Duration,
    /// From the end of its stdin to its own end.
    pub leave: Duration,
    /// From SIGTERM to its end.
    pub terminate: Duration,
}

impl Default for Caps {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            memory: 1 << 30,
            stderr: 64 << 20,
            hello: seconds(60),
            end: seconds(5),
            leave: seconds(3),
            terminate: seconds(2),
        }
    }
}

impl Caps {
    /// The same with all times multiplied, for slow machines.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        let Self { hello, end, leave, .. } = self;
        Self { hello: hello.mul_f64(by), end: end.mul_f64(by), leave: leave.mul_f64(by), ..self }
    }
}

/// How a driver is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Its name, for records and messages.
    pub name: String,
    /// What runs it, for the record.
    pub runtime: String,
    /// The command, program first.
    pub command: Vec<OsString>,
    /// What it may take.
    pub caps: Caps,
    /// Once set, nobody waits for its `hello` any more.
    pub stop: Arc<AtomicBool>,
}

/// A client behind a driver that has said `hello`.
#[derive(Debug)]
pub struct ProcessClient {
    shared: Arc<Shared>,
}

/// What all seats of a client share.
#[derive(Debug)]
struct Shared {
    launch: Launch,
    hello: Hello,
    offers: Offers,
    identity: Identity,
    foreign: bool,
    /// How often in a row it could not be started.
    refusals: AtomicU32,
}

/// After so many starts in a row that came to nothing no other is tried.
const REFUSALS_MAX: u32 = 3;

impl ProcessClient {
    /// Starts the driver once, to hear who it is. `identity` is what pins it, with the name and version that it gives.
    ///
    /// # Errors
    /// In words: it cannot be started, or says something else than hello in time.
    pub fn open(launch: Launch, identity: Identity, foreign: bool) -> Result<Self, String> {
        let link = Link::start(&launch)?;
        let hello = link.hello().map_err(|problem| format!("{}: {problem}", launch.name));
        let _record = link.stop();
        let hello = hello?;
        let set = |names: &[String]| Some(names.iter().cloned().collect());
        let offers = Offers { limits: set(&hello.limits), verbs: set(&hello.verbs) };
        let identity = Identity { name: hello.name.clone(), version: hello.version.clone(), ..identity };
        let refusals = AtomicU32::new(0);
        Ok(Self { shared: Arc::new(Shared { launch, hello, offers, identity, foreign, refusals }) })
    }

    /// What the driver said.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.shared.hello
    }
}

impl Shared {
    /// A process that has said the same hello as before. `ended` hears of one that has not.
    fn start(&self, ended: &mut Vec<ProcessRecord>) -> Result<Link, String> {
        if self.refusals.load(Ordering::Relaxed) >= REFUSALS_MAX {
            return Err(format!("its driver could not be started {REFUSALS_MAX} times in a row"));
        }
        let started = Link::start(&self.launch).and_then(|link| {
            let problem = match link.hello() {
                Ok(hello) if hello == self.hello => return Ok(link),
                Ok(_) => "expected the same hello as before, saw another one".to_owned(),
                Err(problem) => problem,
            };
            ended.push(link.stop());
            Err(problem)
        });
        match &started {
            Ok(_) => self.refusals.store(0, Ordering::Relaxed),
            Err(_) => _ = self.refusals.fetch_add(1, Ordering::Relaxed),
        }
        started
    }
}

impl ClientUnderTest for ProcessClient {
    fn name(&self) -> &str {
        &self.shared.hello.name
    }

    fn version(&self) -> &str {
        &self.shared.hello.version
    }

    fn policy(&self) -> Option<&str> {
        self.shared.hello.policy.as_deref()
    }

    fn offers(&self) -> &Offers {
        &self.shared.offers
    }

    fn driver(&self, way: Way) -> Arc<dyn Driver> {
        Seat::take(&self.shared).driver(way)
    }

    fn home_wire(&self) -> Wire {
        Wire::Tcp
    }

    fn is_foreign(&self) -> bool {
        self.shared.foreign
    }

    fn identity(&self) -> Identity {
        self.shared.identity.clone()
    }

    fn sit(&self) -> Option<Box<dyn Sitting>> {
        Some(Box::new(Seat::take(&self.shared)))
    }
}
