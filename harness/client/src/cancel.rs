//! Telling the server that a request was given up: best effort, bounded, never repeated.

use std::sync::Arc;

use tokio::time::timeout;

use crate::dialogue::Dialogue;
use crate::engine::Engine;
use crate::generation::{End, Generation};
use crate::habit::{Habit, habit};
use crate::io::Departure;
use crate::jsonrpc;
use crate::rule::{Rule, rule};

/// Sends one `notifications/cancelled` for the request `id`, if a worker is free.
///
/// The attempt lasts at most `control_timeout` and ends with its generation; its outcome is of no consequence, save
/// that a 404 ends the session. Rows EX-TO-01 to EX-TO-03, EX-TO-07 to EX-TO-09, EX-SES-05, EX-SES-11.
pub(crate) fn launch(engine: &Arc<Engine>, generation: Arc<Generation>, id: u64) {
    let worker = engine.cancellation_worker().filter(|_| !habit(Habit::GivesUpSilently));
    let Some(worker) = worker.map(Some).or((!rule(Rule::CancellationsAreBounded)).then_some(None)) else {
        tracing::debug!(id, "cancellation not sent: every worker is busy");
        return;
    };
    let engine = engine.clone();
    let Ok(body) = jsonrpc::cancelled(id, engine.config.limits.max_control_bytes) else {
        return;
    };
    tokio::spawn(async move {
        let _worker = worker;
        let dialogue = Dialogue { engine: &engine, generation: &generation };
        let departure = Departure::default();
        let copy = if rule(Rule::CancellationOnce) {
            None
        } else {
            Some(engine.config.template.post(body.clone(), generation.session()))
        };
        let time =
            engine.config.limits.control_timeout * if rule(Rule::CancellationIsTimed) { 1 } else { 1_000 };
        let outgoing = engine.config.template.post(body, generation.session());
        tokio::select! {
            biased;
            _ = generation.ended(End::Expired) => {}
            outcome = timeout(time, dialogue.notify(outgoing, &departure)) => {
                let answered = matches!(outcome, Ok(Ok(())));
                tracing::debug!(id, answered, "cancellation sent");
                if let Some(again) = copy.filter(|_| !answered) {
                    let _ = dialogue.notify(again, &departure).await;
                }
            }
        }
    });
}
