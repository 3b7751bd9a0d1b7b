//! One message to the server and what comes back, judged.

use hyper::HeaderMap;
use serde_json::value::RawValue;

use crate::engine::Engine;
use crate::error::Error;
use crate::exchange::{Answer, Body, Outgoing, Piece, exchange};
use crate::generation::Generation;
use crate::io::Departure;
use crate::jsonrpc::{Answer as RpcAnswer, Incoming, Response};
use crate::response::{self, Head, HeadContext, Purpose};
use crate::rule::{Rule, rule};
use crate::stream;

/// Where a message belongs.
#[derive(Clone, Copy)]
pub(crate) struct Dialogue<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) generation: &'a Generation,
}

/// What a request's response must be.
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    /// `Initialize` or `Request`.
    pub(crate) purpose: Purpose,
    /// The request's id.
    pub(crate) id: u64,
    /// When the request's time is over; what it causes ends by then too.
    pub(crate) deadline: tokio::time::Instant,
}

impl Dialogue<'_> {
    /// Sends a request and reads up to its response, whose result goes through `read`.
    ///
    /// The connection is kept only if the response's body was read to its end. Dropping the future closes it.
    pub(crate) async fn request<T>(
        &self,
        outgoing: Outgoing,
        expected: Expected,
        departure: &Departure,
        read: impl FnOnce(&RawValue) -> Result<T, Error> + Send,
    ) -> Result<(Head, T), Error> {
        let Answer { head, body } = exchange(&self.generation.pool, outgoing, departure).await?;
        let head = self.judge(head.status.as_u16(), &head.headers, expected.purpose)?;
        let value = match head.body {
            response::Body::Json => {
                let bytes = self.collect(body, &head).await?;
                let limits = &self.engine.config.limits;
                let response = Incoming::decode(&bytes, limits.into())?.into_response()?;
                self.settle(&response, expected).and_then(read)?
            }
            response::Body::Stream => stream::follow(self, body, &head, expected, read).await?,
            response::Body::Empty => return Err(Error::MissingResponse),
        };
        Ok((head, value))
    }

    /// Sends a notification or a reply, which the server must acknowledge.
    pub(crate) async fn notify(&self, outgoing: Outgoing, departure: &Departure) -> Result<(), Error> {
        self.acknowledged(outgoing, Purpose::Acknowledged, departure).await
    }

    /// Sends what is answered without a body.
    pub(crate) async fn acknowledged(
        &self,
        outgoing: Outgoing,
        purpose: Purpose,
        departure: &Departure,
    ) -> Result<(), Error> {
        let Answer { head, mut body } = exchange(&self.generation.pool, outgoing, departure).await?;
        let head = self.judge(head.status.as_u16(), &head.headers, purpose)?;
        loop {
            match body.next().await? {
                Piece::Data(_) if !rule(Rule::AcknowledgementIsEmpty) => {}
                Piece::Data(_) => return Err(Error::UnexpectedResponseBody),
                Piece::Trailers(trailers) => self.judge_trailers(&head, &trailers)?,
                Piece::End => break,
            }
        }
        body.finish(&self.generation.pool).await;
        Ok(())
    }

    /// The result of a response, if it answers what was asked.
    pub(crate) fn settle<'r>(
        &self,
        response: &Response<'r>,
        expected: Expected,
    ) -> Result<&'r RawValue, Error> {
        match response.answer_to(expected.id, self.engine.config.policy.response_id)? {
            RpcAnswer::Result(result) => Ok(result),
            RpcAnswer::Error { code } => Err(Error::Jsonrpc { code }),
        }
    }

    /// Judges a response head; a 404 within the session ends the generation.
    fn judge(&self, status: u16, headers: &HeaderMap, purpose: Purpose) -> Result<Head, Error> {
        let context = HeadContext {
            policy: &self.engine.config.policy,
            limits: &self.engine.config.limits,
            purpose,
            known: self.generation.known(),
        };
        let judged = response::check_head(status, pairs(headers), &context);
        let counts = purpose != Purpose::Acknowledged || rule(Rule::NoticesCanExpire);
        if counts && matches!(judged, Err(Error::SessionExpired { .. })) {
            self.engine.expire(self.generation);
        }
        judged
    }

    pub(crate) fn judge_trailers(&self, head: &Head, trailers: &HeaderMap) -> Result<(), Error> {
        response::check_trailers(head.header_bytes, pairs(trailers), &self.engine.config.limits)
    }

    /// Reads a body to its end and gives its connection back.
    async fn collect(&self, mut body: Body, head: &Head) -> Result<Vec<u8>, Error> {
        let limit = self.engine.config.limits.max_response_bytes;
        let mut bytes = Vec::new();
        loop {
            match body.next().await? {
                Piece::Data(data) => append(&mut bytes, &data, limit)?,
                Piece::Trailers(trailers) => self.judge_trailers(head, &trailers)?,
                Piece::End => break,
            }
        }
        body.finish(&self.generation.pool).await;
        Ok(bytes)
    }
}

/// Appends within the limit; the buffer never holds room for more than the limit.
fn append(bytes: &mut Vec<u8>, data: &[u8], limit: usize) -> Result<(), Error> {
    let needed = bytes.len() + data.len();
    if needed > limit && rule(Rule::LimitOfBodies) {
        return Err(Error::ResponseByteLimit { limit });
    }
    if needed > bytes.capacity() {
        let room = needed.max(bytes.capacity() * 2).min(limit);
        bytes.reserve_exact(room - bytes.len());
    }
    bytes.extend_from_slice(data);
    Ok(())
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&[u8], &[u8])> {
    headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()))
}
