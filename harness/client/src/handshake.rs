//! The handshake: initialize and its notification, under one deadline.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::call::kind;
use crate::dialogue::{Dialogue, Expected};
use crate::engine::Engine;
use crate::error::{Effect, Error};
use crate::generation::{End, Generation};
use crate::habit::{Habit, habit};
use crate::initialize;
use crate::io::Departure;
use crate::jsonrpc;
use crate::response::Purpose;
use crate::rule::{Rule, rule};
use crate::session::Ticket;

/// Runs a handshake in a task of its own. Dropping the future gives it up: its socket is closed and nothing more is
/// sent. Rows EX-HS-01 to EX-HS-23.
pub(crate) async fn handshake(engine: &Arc<Engine>) -> Result<(), Error> {
    let (ticket, generation) = engine.begin_handshake()?;
    let (answer, outcome) = oneshot::channel();
    tokio::spawn(run(engine.clone(), ticket, generation, answer));
    // The task always answers, unless the runtime was shut down under it.
    outcome.await.unwrap_or(Err(Error::Closed { effect: Effect::Uncertain }))
}

async fn run(
    engine: Arc<Engine>,
    ticket: Ticket,
    generation: Arc<Generation>,
    mut answer: oneshot::Sender<Result<(), Error>>,
) {
    let deadline = Instant::now() + engine.config.limits.timeout;
    // The broken rule has `work` set it anew in between.
    let again =
        if rule(Rule::HandshakeHasOneDeadline) { Duration::ZERO } else { engine.config.limits.timeout };
    let end = deadline + again;
    let departure = Departure::default();
    // A mutant that keeps what it should let go of must not be saved by the deadline.
    let timed = [Rule::HandshakeIsTimed, Rule::HandshakeCanBeDropped].into_iter().all(rule);
    let outcome = tokio::select! {
        biased;
        _ = generation.ended(End::Expired) => Some(Err(Error::Closed { effect: departure.effect() })),
        () = answer.closed(), if rule(Rule::HandshakeCanBeDropped) => None,
        () = sleep_until(end), if timed => Some(Err(Error::Timeout { effect: departure.effect() })),
        outcome = work(&engine, &generation, ticket, deadline, &departure) => match outcome {
            Err(_) if !rule(Rule::HandshakeOnce) => {
                Some(work(&engine, &generation, ticket, deadline, &departure).await)
            }
            outcome => Some(outcome),
        },
    };
    let late = Instant::now() >= end && timed;
    let outcome = match outcome {
        Some(Ok(())) if late => Some(Err(Error::Timeout { effect: departure.effect() })),
        Some(Ok(())) if !engine.establish(ticket, &generation) => {
            Some(Err(Error::Closed { effect: departure.effect() }))
        }
        other => other,
    };
    if matches!(outcome, None | Some(Err(Error::Timeout { .. }))) && !rule(Rule::InitializeIsNotCancelled) {
        crate::cancel::launch(&engine, generation.clone(), ticket.id);
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let ready = matches!(outcome, Some(Ok(())));
    if !ready && rule(Rule::FailedHandshakeEnds) {
        engine.fail_handshake(ticket);
        generation.end(End::Abandoned);
    }
    if ready && habit(Habit::GetStream) {
        let (engine, generation) = (engine.clone(), generation.clone());
        tokio::spawn(async move {
            let get = engine.config.template.get(generation.session());
            let _ = Dialogue { engine: &engine, generation: &generation }
                .notify(get, &Departure::default())
                .await;
        });
    }
    tracing::debug!(generation = ticket.generation, kind = kind(outcome.as_ref()), "handshake over");
    if let Some(outcome) = outcome {
        // A caller that has left since needs no answer.
        let _ = answer.send(outcome);
    }
}

async fn work(
    engine: &Engine,
    generation: &Generation,
    ticket: Ticket,
    deadline: Instant,
    departure: &Departure,
) -> Result<(), Error> {
    let config = &engine.config;
    let dialogue = Dialogue { engine, generation };
    let (name, version) = (&config.client_name, &config.client_version);
    let limit = config.limits.max_request_bytes;
    let body = jsonrpc::initialize(ticket.id, config.version, name, version, limit)?;
    let expected = Expected { purpose: Purpose::Initialize, id: ticket.id, deadline };
    let read = |result: &_| initialize::check(result, config.version, config.policy.versions);
    let outgoing = config.template.initialize(body);
    let greeted = dialogue.request(outgoing, expected, departure, read).await;
    if greeted.is_err() && !rule(Rule::NothingAfterFailure) {
        let call = jsonrpc::call_tool(ticket.id + 1, "echo", &crate::Arguments::empty(), limit)?;
        let _ = dialogue.notify(config.template.post(call, None), departure).await;
    }
    let (head, ()) = greeted?;
    generation.settle(head.session);
    let initialized =
        config.template.post(jsonrpc::initialized(config.limits.max_control_bytes)?, generation.session());
    let now = Instant::now();
    let deadline = if rule(Rule::HandshakeHasOneDeadline) { deadline } else { now + config.limits.timeout };
    let until = if rule(Rule::InitializedIsTimed) {
        deadline.min(now + config.limits.control_timeout)
    } else {
        deadline
    };
    let sent = timeout_at(until, dialogue.notify(initialized, departure)).await;
    if !rule(Rule::InitializedIsAwaited) {
        return Ok(());
    }
    sent.unwrap_or_else(|_| Err(Error::Timeout { effect: departure.effect() }))
}
