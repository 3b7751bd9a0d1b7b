//! One call from its admission to its outcome.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::time::{Duration, Instant};

use crate::cancel;
use crate::dialogue::{Dialogue, Expected};
use crate::engine::{Config, Engine, Pending};
use crate::error::{Effect, Error};
use crate::generation::End;
use crate::habit::{Habit, habit};
use crate::io::Departure;
use crate::policy::Cancellation;
use crate::response::Purpose;
use crate::rule::{Rule, rule};

/// What a call makes of the result.
pub(crate) type Reader<T> = fn(&RawValue, &Config) -> Result<T, Error>;

/// Admits, encodes and starts a call, then waits for its outcome. Dropping the future gives the call up.
pub(crate) async fn call<T: Send + 'static>(
    engine: &Arc<Engine>,
    encode: impl Fn(u64, usize) -> Result<Vec<u8>, Error>,
    time: Option<Duration>,
    read: Reader<T>,
) -> Result<T, Error> {
    if !rule(Rule::AdmittedBeforeEncoded) {
        encode(0, engine.config.limits.max_request_bytes)?;
    }
    let pending = engine.admit()?;
    let limits = &engine.config.limits;
    let time = time.filter(|_| rule(Rule::OwnDeadlines)).unwrap_or(limits.timeout);
    let deadline = Instant::now() + time;
    let body = encode(pending.ticket.id, limits.max_request_bytes)?;
    if time.is_zero() {
        return Err(Error::Timeout { effect: Effect::NotSent });
    }
    let (answer, outcome) = oneshot::channel();
    tokio::spawn(run(pending, body, deadline, read, answer));
    // The task always answers, unless the runtime was shut down under it.
    outcome.await.unwrap_or(Err(Error::Closed { effect: Effect::Uncertain }))
}

/// Asks for something by GET. Only a client with a broken rule does this after a call.
pub(crate) async fn get(engine: &Arc<Engine>) {
    let Ok(pending) = engine.admit() else { return };
    let dialogue = Dialogue { engine, generation: &pending.generation };
    let outgoing = engine.config.template.get(pending.generation.session());
    let _ = dialogue.notify(outgoing, &Departure::default()).await;
}

/// How the work of a call stopped.
enum Stop<T> {
    Done(Result<T, Error>),
    Ended(End),
    TimedOut,
    GivenUp,
}

async fn run<T: Send + 'static>(
    pending: Pending,
    body: Vec<u8>,
    deadline: Instant,
    read: Reader<T>,
    mut answer: oneshot::Sender<Result<T, Error>>,
) {
    let departure = Departure::default();
    // A mutant that keeps what it should let go of must not be saved by the deadline.
    let kept = [Rule::DroppingGivesUp, Rule::LastHandleEnds].into_iter().all(rule);
    let timed = kept && rule(Rule::DeadlinesHold);
    let stop = tokio::select! {
        biased;
        end = pending.generation.ended(End::Expired) => Stop::Ended(end),
        () = answer.closed(), if kept => Stop::GivenUp,
        () = pending.engine.alarms.at(deadline), if timed => Stop::TimedOut,
        done = work(&pending, body, deadline, &departure, read) => Stop::Done(done),
    };
    // The socket is closed by now, or back in the pool.
    let (engine, generation, id) = (pending.engine.clone(), pending.generation.clone(), pending.ticket.id);
    drop(pending);
    let effect = departure.effect();
    let left = departure.has_left() || !rule(Rule::UnsentIsNotCancelled);
    let gives_up = left
        && match &stop {
            Stop::TimedOut => rule(Rule::TimeoutIsTold),
            Stop::GivenUp => rule(Rule::GivingUpIsTold),
            Stop::Done(_) | Stop::Ended(_) => !rule(Rule::EndedIsNotCancelled),
        };
    let outcome = match stop {
        // An answer that comes late is late, even if nobody was there to stop the clock. Row EX-TO-05.
        Stop::Done(_) if Instant::now() >= deadline && timed => Some(Err(Error::Timeout { effect })),
        Stop::Done(done) => Some(done),
        Stop::Ended(End::Expired) => Some(Err(Error::SessionExpired { effect })),
        Stop::Ended(End::Closed | End::Abandoned) => Some(Err(Error::Closed { effect })),
        Stop::TimedOut => Some(Err(Error::Timeout { effect })),
        Stop::GivenUp => None,
    };
    tracing::debug!(id, kind = kind(outcome.as_ref()), "call over");
    if gives_up {
        match engine.config.policy.cancellation {
            Cancellation::CloseThenPost => cancel::launch(&engine, generation, id),
        }
    }
    if matches!(outcome, Some(Err(Error::SessionExpired { .. }))) && habit(Habit::ReconnectsItself) {
        let _ = crate::handshake::handshake(&engine).await;
    }
    if let Some(outcome) = outcome {
        // A caller that has left since needs no answer.
        let _ = answer.send(outcome);
    }
}

/// How an operation ended, for the log: without an outcome its caller gave it up.
pub(crate) fn kind<T>(outcome: Option<&Result<T, Error>>) -> &'static str {
    match outcome {
        None => "given_up",
        Some(Ok(_)) => "ok",
        Some(Err(error)) => error.kind(),
    }
}

async fn work<T>(
    pending: &Pending,
    body: Vec<u8>,
    deadline: Instant,
    departure: &Departure,
    read: Reader<T>,
) -> Result<T, Error> {
    let Pending { engine, generation, ticket } = pending;
    let dialogue = Dialogue { engine, generation };
    let copy = if rule(Rule::NothingIsResent) && rule(Rule::GoneIsNotResent) && rule(Rule::StatusIsNotResent)
    {
        Vec::new()
    } else {
        body.clone()
    };
    let outgoing = engine.config.template.post(body, generation.session());
    let expected = Expected { purpose: Purpose::Request, id: ticket.id, deadline };
    let read = |result: &RawValue| read(result, &engine.config);
    let mut outcome = dialogue.request(outgoing, expected, departure, read).await;
    if let Err(error) = &outcome
        && is_resent(error)
    {
        let outgoing = engine.config.template.post(copy, generation.session());
        outcome = dialogue.request(outgoing, expected, departure, read).await;
    }
    outcome.map(|(_, value)| value)
}

/// Whether a request is sent again after this, which takes a broken rule.
fn is_resent(error: &Error) -> bool {
    match error {
        Error::HttpTransport { .. } => !rule(Rule::NothingIsResent),
        Error::SessionExpired { .. } => !rule(Rule::GoneIsNotResent),
        Error::HttpStatus { .. } | Error::Unauthorized | Error::Forbidden => !rule(Rule::StatusIsNotResent),
        _ => false,
    }
}
