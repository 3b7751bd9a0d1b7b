//! What a client's handles and tasks share: the configuration, the session's standing and the current generation.
//!
//! Each operation runs in a task of its own that owns its deadline, its socket and its clean-up; the caller holds a
//! receiver only. So a deadline holds when nobody polls, and a future that is dropped is noticed by its task. Tasks
//! end together through their [`Generation`]; the state is changed under one short lock and never across an await.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::alarm::Alarms;
use crate::connect::Connect;
use crate::endpoint::Origin;
use crate::error::Error;
use crate::generation::{End, Generation};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::pool::Pool;
use crate::request::Template;
use crate::rule::{Rule, rule};
use crate::session::{Session, SessionId, Status, Ticket};

/// What a client was built with.
pub(crate) struct Config {
    pub(crate) policy: Policy,
    pub(crate) limits: Limits,
    pub(crate) template: Template,
    pub(crate) origin: Origin,
    pub(crate) connector: Arc<dyn Connect>,
    pub(crate) version: &'static str,
    pub(crate) client_name: String,
    pub(crate) client_version: String,
}

/// The heart of a client.
pub(crate) struct Engine {
    pub(crate) config: Config,
    /// The deadlines of calls.
    pub(crate) alarms: Alarms,
    standing: Mutex<Standing>,
    cancellations: Arc<Semaphore>,
}

struct Standing {
    session: Session,
    generation: Arc<Generation>,
}

impl Engine {
    pub(crate) fn new(config: Config) -> Arc<Self> {
        let workers = config.limits.max_control_workers.min(Semaphore::MAX_PERMITS);
        let standing = Standing {
            session: Session::new(config.limits.max_pending),
            generation: Arc::new(Generation::new(0, config.pool())),
        };
        Arc::new(Self {
            alarms: Alarms::default(),
            standing: Mutex::new(standing),
            cancellations: Arc::new(Semaphore::new(workers)),
            config,
        })
    }

    pub(crate) fn status(&self) -> Status {
        self.lock().session.status()
    }

    /// Admits a request, or refuses it before anything is encoded.
    pub(crate) fn admit(self: &Arc<Self>) -> Result<Pending, Error> {
        let mut standing = self.lock();
        let ticket = standing.session.admit()?;
        Ok(Pending { engine: self.clone(), generation: standing.generation.clone(), ticket })
    }

    /// Begins a generation with its handshake.
    pub(crate) fn begin_handshake(&self) -> Result<(Ticket, Arc<Generation>), Error> {
        let mut standing = self.lock();
        let ticket = standing.session.begin_handshake()?;
        standing.generation = Arc::new(Generation::new(ticket.generation, self.config.pool()));
        Ok((ticket, standing.generation.clone()))
    }

    /// Makes a generation ready. False if it ended meanwhile.
    pub(crate) fn establish(&self, ticket: Ticket, generation: &Generation) -> bool {
        self.lock().session.establish(ticket, generation.session().cloned())
    }

    /// Gives a generation up whose handshake failed.
    pub(crate) fn fail_handshake(&self, ticket: Ticket) {
        self.lock().session.fail_handshake(ticket);
    }

    /// Ends a ready generation after a 404 within its session: all that is pending in it fails.
    pub(crate) fn expire(&self, generation: &Generation) {
        let mut standing = self.lock();
        if standing.session.expire(generation.number) {
            if rule(Rule::ExpiryEndsPending) {
                generation.end(End::Expired);
            }
            tracing::debug!(generation = generation.number, "session expired");
        }
    }

    /// Begins to close: all that is pending fails.
    pub(crate) fn begin_close(&self) -> Result<(Option<SessionId>, Arc<Generation>), Error> {
        let mut standing = self.lock();
        let session = standing.session.begin_close()?;
        if rule(Rule::CloseEndsPending) {
            standing.generation.end(End::Closed);
        }
        Ok((session, standing.generation.clone()))
    }

    /// Ends the client, with every connection and task it has.
    pub(crate) fn end(&self) {
        let mut standing = self.lock();
        standing.session.end();
        if rule(Rule::CloseEndsPending) {
            standing.generation.end(End::Abandoned);
        }
    }

    /// The right to send a cancellation, if `max_control_workers` leaves one.
    pub(crate) fn cancellation_worker(&self) -> Option<OwnedSemaphorePermit> {
        self.cancellations.clone().try_acquire_owned().ok()
    }

    fn complete(&self, ticket: Ticket) {
        self.lock().session.complete(ticket);
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Config {
    fn pool(&self) -> Pool {
        Pool::new(
            self.connector.clone(),
            self.origin.clone(),
            self.limits.max_connections,
            self.limits.max_header_bytes,
        )
    }
}

/// An admitted request. Dropping it frees its place.
pub(crate) struct Pending {
    pub(crate) engine: Arc<Engine>,
    pub(crate) generation: Arc<Generation>,
    pub(crate) ticket: Ticket,
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.engine.complete(self.ticket);
    }
}
