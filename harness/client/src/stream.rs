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
use crate::habit::{Habit, habit};
use crate::io::Departure;
use crate::jsonrpc::{self, Incoming};
use crate::policy::EmptyEvent;
use crate::response::Head;
use crate::rule::{Rule, rule};
use crate::sse;

/// Reads events up to the response, whose result goes through `read`.
pub(crate) async fn follow<T>(
    dialogue: &Dialogue<'_>,
    mut body: Body,
    head: &Head,
    expected: Expected,
    read: impl FnOnce(&RawValue) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    match read_up_to_response(dialogue, &mut body, head, expected, read).await {
        Ok(outcome) => {
            if rule(Rule::TerminalReleases) && !habit(Habit::HangsUpAtAnswer) {
                body.abandon(&dialogue.generation.pool).await;
            } else if !rule(Rule::TerminalReleases) {
                keep_open(body);
            }
            outcome
        }
        Err(error) => {
            if !rule(Rule::FailureReleases) {
                keep_open(body);
            }
            Err(error)
        }
    }
}

/// Never lets go of a socket, which takes a broken rule.
fn keep_open(body: Body) {
    tokio::spawn(async move {
        let _kept = body;
        std::future::pending::<()>().await;
    });
}

/// What the response says, once it is there; an error if it cannot come any more.
async fn read_up_to_response<T>(
    dialogue: &Dialogue<'_>,
    body: &mut Body,
    head: &Head,
    expected: Expected,
    read: impl FnOnce(&RawValue) -> Result<T, Error> + Send,
) -> Result<Result<T, Error>, Error> {
    let (limits, policy) = (&dialogue.engine.config.limits, &dialogue.engine.config.policy);
    // An event with empty data is decoded like any other, and so refused as no JSON. Row EX-SSE-21.
    let EmptyEvent::Message = policy.empty_event;
    let mut decoder = sse::Decoder::new(limits.into());
    let mut budget = ControlBudget::new(limits);
    let mut late = Vec::new();
    loop {
        let piece = match body.next().await {
            Err(_) if !rule(Rule::BrokenBodyIsNoEnd) => Piece::End,
            piece => piece?,
        };
        let data = match piece {
            Piece::Data(data) => data,
            Piece::Trailers(trailers) => {
                dialogue.judge_trailers(head, &trailers)?;
                continue;
            }
            Piece::End => {
                let mut tail = &b"\n\n"[..];
                if !rule(Rule::EndDiscards)
                    && let Some(event) = decoder.next(&mut tail)?
                    && let Incoming::Response(response) = Incoming::decode_text(event.data, limits.into())?
                {
                    return Ok(dialogue.settle(&response, expected).and_then(read));
                }
                if !rule(Rule::EndIsNoAnswer)
                    && let Ok(empty) = RawValue::from_string(r#"{"content":[],"tools":[]}"#.to_owned())
                {
                    return Ok(read(&empty));
                }
                if rule(Rule::EndInsideEventIsTold) {
                    decoder.finish()?;
                }
                let told = rule(Rule::EndWithoutResponseIsTold);
                return Err(if told { Error::MissingResponse } else { Error::IncompleteSse });
            }
        };
        let mut unread = &data[..];
        loop {
            let mut rest = unread;
            let Some(event) = decoder.next(&mut rest)? else { break };
            unread = unread.get(unread.len() - rest.len()..).unwrap_or_default();
            if event.data.is_empty() && !rule(Rule::EmptyEventIsMessage) {
                continue;
            }
            let reply = match Incoming::decode_text(event.data, limits.into())? {
                Incoming::Response(response) => {
                    let settled = dialogue.settle(&response, expected);
                    if !rule(Rule::ForeignResponseIsFatal) && settled.is_err() {
                        continue;
                    }
                    let outcome = settled.and_then(read);
                    for reply in late {
                        answer(dialogue, reply, expected.deadline).await?;
                    }
                    if !rule(Rule::TerminalHalts) {
                        while decoder.next(&mut unread)?.is_some() {}
                    }
                    while !rule(Rule::TerminalIsPrompt) && !matches!(body.next().await?, Piece::End) {}
                    return Ok(outcome);
                }
                Incoming::Request(request) => {
                    if rule(Rule::RequestsCount) {
                        budget.admit(event.data.len())?;
                    }
                    let reply = Reply::to(&request.method, policy.server_requests);
                    jsonrpc::reply_to_server(request.id, reply, limits.max_control_bytes)
                }
                Incoming::Notification => {
                    if rule(Rule::NotificationsCount) {
                        budget.admit(event.data.len())?;
                    }
                    if rule(Rule::NotificationsAreUnanswered) {
                        continue;
                    }
                    jsonrpc::reply_to_server("null", Reply::Empty, limits.max_control_bytes)
                }
            };
            if !rule(Rule::RequestsAreAnswered) {
                continue;
            }
            if !rule(Rule::AnswersBeforeReadingOn) {
                late.push(reply);
                continue;
            }
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
    if habit(Habit::PingsLate) {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let sent = match reply {
        Ok(reply) => match post(dialogue, reply.clone(), deadline).await {
            Err(_) if !rule(Rule::AnswerOnce) => post(dialogue, reply, deadline).await,
            sent => sent,
        },
        Err(error) => Err(error),
    };
    if !rule(Rule::AnswerFailureEndsCall) {
        return Ok(());
    }
    sent.map_err(|error| match error {
        Error::SessionExpired { .. } => Error::SessionExpired { effect: Effect::Uncertain },
        cause => Error::ControlReply(Box::new(cause)),
    })
}

async fn post(dialogue: &Dialogue<'_>, reply: Vec<u8>, deadline: Instant) -> Result<(), Error> {
    let config = &dialogue.engine.config;
    let departure = Departure::default();
    let outgoing = if rule(Rule::AnswersAreOfTheSession) {
        config.template.post(reply, dialogue.generation.session())
    } else {
        config.template.initialize(reply)
    };
    let until = if rule(Rule::AnswerIsTimed) {
        deadline.min(Instant::now() + config.limits.control_timeout)
    } else {
        deadline
    };
    let sent = timeout_at(until, dialogue.notify(outgoing, &departure)).await;
    sent.unwrap_or_else(|_| Err(Error::Timeout { effect: departure.effect() }))
}
