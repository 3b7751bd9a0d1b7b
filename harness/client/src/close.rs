//! Closing a client: everything pending fails, then the session is deleted, then nothing is left.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::dialogue::Dialogue;
use crate::engine::Engine;
use crate::error::{Effect, Error};
use crate::generation::{End, Generation};
use crate::habit::{Habit, habit};
use crate::io::Departure;
use crate::response::Purpose;
use crate::rule::{Rule, rule};
use crate::session::SessionId;

/// Ends the client. The DELETE of a session lasts at most `control_timeout`; whatever comes of it is the outcome, and
/// the client has ended in any case. Rows EX-CL-01 to EX-CL-07.
pub(crate) async fn close(engine: &Arc<Engine>) -> Result<(), Error> {
    let (session, generation) = engine.begin_close()?;
    let (answer, outcome) = oneshot::channel();
    let engine = engine.clone();
    tokio::spawn(async move {
        let result = match session {
            Some(_) if habit(Habit::NoDelete) => Ok(()),
            Some(session) => match delete(&engine, &generation, &session).await {
                Err(_) if !rule(Rule::DeleteOnce) => delete(&engine, &generation, &session).await,
                deleted => deleted,
            },
            None if !rule(Rule::DeleteOnlySessions) => {
                let session = SessionId::parse(b"none", engine.config.policy.session_header, 4);
                match session {
                    Ok(session) => delete(&engine, &generation, &session).await,
                    Err(error) => Err(error),
                }
            }
            None => Ok(()),
        };
        let result = if rule(Rule::CloseReports) { result } else { Ok(()) };
        if rule(Rule::CloseEnds) {
            engine.end();
        }
        tracing::debug!(kind = result.as_ref().map_or_else(Error::kind, |()| "ok"), "closed");
        // A caller that has left needs no answer.
        let _ = answer.send(result);
    });
    // The task always answers, unless the runtime was shut down under it.
    outcome.await.unwrap_or(Err(Error::Closed { effect: Effect::Uncertain }))
}

async fn delete(engine: &Engine, generation: &Generation, session: &SessionId) -> Result<(), Error> {
    let departure = Departure::default();
    let dialogue = Dialogue { engine, generation };
    let outgoing = engine.config.template.delete(session);
    let time = engine.config.limits.control_timeout * if rule(Rule::DeleteIsTimed) { 1 } else { 1_000 };
    let deleted = dialogue.acknowledged(outgoing, Purpose::Delete, &departure);
    tokio::select! {
        biased;
        _ = generation.ended(End::Abandoned) => Err(Error::Closed { effect: departure.effect() }),
        deleted = timeout(time, deleted) => {
            deleted.unwrap_or_else(|_| Err(Error::Timeout { effect: departure.effect() }))
        }
    }
}
