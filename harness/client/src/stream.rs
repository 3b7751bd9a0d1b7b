//! Following an event stream to the response it carries.
//!
//! One event is decoded at a time. What the server asks meanwhile is answered before anything further is decoded. The
//! first response ends it all: its outcome is fixed, and nothing behind it is decoded, counted or answered.

use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use crate::control::{ControlBudget, Reply};
use crate::dialogue::{Dialogue, Expected};
use crate::error::{Effect, Error};
use crate::exchange::{Body, Piece};
use crate::io::Departure;
use crate::jsonrpc::{self, Incoming};
use crate::policy::EmptyEvent;
use crate::response::Head;
use crate::sse;

/// Reads events up to the response, whose result goes through `read`.
pub(crate) async fn follow<T>(
    dialogue: &Dialogue<'_>,
    mut body: Body,
    head: &Head,
    expected: Expected,
    read: impl FnOnce(&RawValue) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let (limits, policy) = (&dialogue.engine.config.limits, &dialogue.engine.config.policy);
    // An event with empty data is decoded like any other, and so refused as no JSON. Row EX-SSE-21.
    let EmptyEvent::Message = policy.empty_event;
    let mut decoder = sse::Decoder::new(limits.into());
    let mut budget = ControlBudget::new(limits);
    loop {
        let data = match body.next().await? {
            Piece::Data(data) => data,
            Piece::Trailers(trailers) => {
                dialogue.judge_trailers(head, &trailers)?;
                continue;
            }
            Piece::End => {
                decoder.finish()?;
                return Err(Error::MissingResponse);
            }
        };
        let mut unread = &data[..];
        loop {
            let mut rest = unread;
            let Some(event) = decoder.next(&mut rest)? else { break };
            unread = unread.get(unread.len() - rest.len()..).unwrap_or_default();
            let reply = match Incoming::decode_text(event.data, limits.into())? {
                Incoming::Response(response) => {
                    let outcome = dialogue.settle(&response, expected).and_then(read);
                    body.abandon(&dialogue.generation.pool).await;
                    return outcome;
                }
                Incoming::Request(request) => {
                    budget.admit(event.data.len())?;
                    let reply = Reply::to(&request.method, policy.server_requests);
                    jsonrpc::reply_to_server(request.id, reply, limits.max_control_bytes)
                }
                Incoming::Notification => {
                    budget.admit(event.data.len())?;
                    continue;
                }
            };
            answer(dialogue, reply, expected.deadline).await?;
        }
    }
}

/// Posts a reply and waits for its acknowledgement. Its failure is the call's. Rows EX-CTL-09 to EX-CTL-13.
async fn answer(
    dialogue: &Dialogue<'_>,
    reply: Result<Vec<u8>, Error>,
    deadline: Instant,
) -> Result<(), Error> {
    let sent = match reply {
        Ok(reply) => post(dialogue, reply, deadline).await,
        Err(error) => Err(error),
    };
    sent.map_err(|error| match error {
        Error::SessionExpired { .. } => Error::SessionExpired { effect: Effect::Uncertain },
        cause => Error::ControlReply(Box::new(cause)),
    })
}

async fn post(dialogue: &Dialogue<'_>, reply: Vec<u8>, deadline: Instant) -> Result<(), Error> {
    let config = &dialogue.engine.config;
    let departure = Departure::default();
    let outgoing = config.template.post(reply, dialogue.generation.session());
    let until = deadline.min(Instant::now() + config.limits.control_timeout);
    let sent = timeout_at(until, dialogue.notify(outgoing, &departure)).await;
    sent.unwrap_or_else(|_| Err(Error::Timeout { effect: departure.effect() }))
}
