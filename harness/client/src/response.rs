//! What a response head decides, before any of its body is read.
//!
//! The checks run in a fixed order, so that a response with several faults has one outcome: header bytes, then
//! the session header, then the status, then the content type. Row EX-HB-04.

use crate::error::{Effect, Error, SessionFault};
use crate::limits::Limits;
use crate::policy::{Acknowledgement, Delete, Policy, RequestStatus, Session404, SessionHeader};
use crate::rule::{Rule, rule};
use crate::session::SessionId;

/// What was sent, which decides what may come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The initialize request: its response may issue a session.
    Initialize,
    /// Any other request.
    Request,
    /// A notification, or a reply to the server.
    Acknowledged,
    /// The DELETE of a close.
    Delete,
}

/// Which session the client knows when the response comes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known<'a> {
    /// None yet: the response may issue one.
    Undecided,
    /// The handshake ended without one.
    Stateless,
    /// This one.
    Session(&'a SessionId),
}

/// What a head is judged by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadContext<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) limits: &'a Limits,
    pub(crate) purpose: Purpose,
    pub(crate) known: Known<'a>,
}

/// How the body is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// One JSON message, decoded at the end of the body.
    Json,
    /// An event stream.
    Stream,
    /// None: a first byte is `unexpected_response_body`.
    Empty,
}

/// An accepted head.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) body: Body,
    /// The session the response issues: only for [`Known::Undecided`].
    pub(crate) session: Option<SessionId>,
    /// Bytes of all names and values, which the trailers add to.
    pub(crate) header_bytes: usize,
}

/// Judges a response head.
///
/// # Errors
///
/// `header_byte_limit`, `invalid_session_id`, then what the status means, then `invalid_content_type`.
pub(crate) fn check_head<'h>(
    status: u16,
    headers: impl Iterator<Item = (&'h [u8], &'h [u8])>,
    context: &HeadContext<'_>,
) -> Result<Head, Error> {
    let limit = context.limits.max_header_bytes;
    let mut header_bytes = 0_usize;
    let mut session = Single::Absent;
    let mut content_type = Single::Absent;
    for (name, value) in headers {
        header_bytes = header_bytes.saturating_add(name.len()).saturating_add(value.len());
        if header_bytes > limit {
            return Err(Error::HeaderByteLimit { limit });
        }
        if name.eq_ignore_ascii_case(b"mcp-session-id") {
            session = session.add(value);
        } else if name.eq_ignore_ascii_case(b"content-type") {
            content_type = content_type.add(value);
        }
    }
    if !rule(Rule::SessionBeforeType)
        && let Single::Once(value) = content_type
    {
        media_type(value).ok_or(Error::InvalidContentType)?;
    }
    let session = check_session(session, context)?;
    let body = check_status(status, context)?;
    let body = match body {
        Body::Empty => Body::Empty,
        Body::Json | Body::Stream => match content_type {
            Single::Once(value) => media_type(value).ok_or(Error::InvalidContentType)?,
            Single::Absent if !rule(Rule::ContentTypeNeeded) => Body::Json,
            Single::Repeated if !rule(Rule::ContentTypeOnce) => Body::Json,
            Single::Absent | Single::Repeated => return Err(Error::InvalidContentType),
        },
    };
    Ok(Head { body, session, header_bytes })
}

/// Judges the trailers of a response whose head had `header_bytes`.
///
/// # Errors
///
/// `invalid_trailers` if head and trailers together pass the limit, or a trailer is one that only a head may
/// have. Row EX-HB-03.
pub(crate) fn check_trailers<'h>(
    header_bytes: usize,
    trailers: impl Iterator<Item = (&'h [u8], &'h [u8])>,
    limits: &Limits,
) -> Result<(), Error> {
    let mut bytes = header_bytes;
    for (name, value) in trailers {
        bytes = bytes.saturating_add(name.len()).saturating_add(value.len());
        let reserved = [&b"mcp-session-id"[..], b"content-type"];
        let reserved = reserved.iter().any(|only| name.eq_ignore_ascii_case(only));
        let too_large = bytes > limits.max_header_bytes && rule(Rule::TrailersAreBounded);
        if too_large || (reserved && rule(Rule::TrailersReserved)) {
            return Err(Error::InvalidTrailers);
        }
    }
    Ok(())
}

/// A header that may be there once.
#[derive(Clone, Copy)]
enum Single<'h> {
    Absent,
    Once(&'h [u8]),
    Repeated,
}

impl<'h> Single<'h> {
    fn add(self, value: &'h [u8]) -> Self {
        match self {
            Self::Absent => Self::Once(value),
            Self::Once(_) | Self::Repeated => Self::Repeated,
        }
    }
}

fn check_session(header: Single<'_>, context: &HeadContext<'_>) -> Result<Option<SessionId>, Error> {
    let grammar @ SessionHeader::FixedAtInitialize = context.policy.session_header;
    let value = match header {
        Single::Absent => return Ok(None),
        Single::Repeated if !rule(Rule::SessionOnce) => return Ok(None),
        Single::Repeated => return Err(Error::InvalidSessionId(SessionFault::Repeated)),
        Single::Once(value) => value,
    };
    match context.known {
        Known::Undecided => SessionId::parse(value, grammar, context.limits.max_session_bytes).map(Some),
        Known::Stateless if !rule(Rule::SessionNeverLate) => Ok(None),
        Known::Stateless => Err(Error::InvalidSessionId(SessionFault::Late)),
        Known::Session(id) if id.reveal().as_bytes() == value && rule(Rule::SessionMayRepeat) => Ok(None),
        Known::Session(_) if !rule(Rule::SessionNeverChanges) => Ok(None),
        Known::Session(_) => Err(Error::InvalidSessionId(SessionFault::Changed)),
    }
}

/// What a status means: the kind of body to expect, where `Json` stands for either of the two types.
fn check_status(status: u16, context: &HeadContext<'_>) -> Result<Body, Error> {
    let body = match context.purpose {
        Purpose::Initialize | Purpose::Request => match context.policy.request_status {
            RequestStatus::OkOnly => {
                let success = (200..300).contains(&status) && !rule(Rule::OnlyOkAnswers);
                let redirect = (300..400).contains(&status) && !rule(Rule::RedirectsEnd);
                (status == 200 || success || redirect).then_some(Body::Json)
            }
        },
        Purpose::Acknowledged => match context.policy.acknowledgement {
            Acknowledgement::AcceptedAndEmpty => {
                let success = (200..300).contains(&status) && !rule(Rule::AcceptedAcknowledges);
                let refusal = status >= 300 && !rule(Rule::RefusalsAreNoAcknowledgement);
                (status == 202 || success || refusal).then_some(Body::Empty)
            }
        },
        Purpose::Delete => match context.policy.delete {
            Delete::ReportFailure => {
                let good = status == 200 || (matches!(status, 202 | 204 | 405) && rule(Rule::DeleteAnswers));
                (good || !rule(Rule::DeleteRefusals)).then_some(Body::Empty)
            }
        },
    };
    if let Some(body) = body {
        return Ok(body);
    }
    Err(match (status, context.known) {
        (401, _) if rule(Rule::UnauthorizedIsTold) => Error::Unauthorized,
        (403, _) if rule(Rule::ForbiddenIsTold) => Error::Forbidden,
        (404, Known::Stateless | Known::Undecided) if !rule(Rule::GoneWithoutSession) => {
            Error::SessionExpired { effect: Effect::Answered }
        }
        (400, Known::Session(_)) if !rule(Rule::BadRequestKeepsSession) => {
            Error::SessionExpired { effect: Effect::Answered }
        }
        (404, Known::Session(_)) if rule(Rule::GoneInSession) => match context.policy.session_404 {
            Session404::ExpireAll => Error::SessionExpired { effect: Effect::Answered },
        },
        _ => Error::HttpStatus { status: if rule(Rule::StatusIsTold) { status } else { 500 } },
    })
}

/// The media type without its parameters, compared without case. Row EX-JS-16.
fn media_type(value: &[u8]) -> Option<Body> {
    let parameters = |byte: &u8| *byte == b';' && rule(Rule::ContentTypeParameters);
    let essence = value.split(parameters).next()?.trim_ascii();
    if essence.iter().any(u8::is_ascii_uppercase) && !rule(Rule::ContentTypeAnyCase) {
        return None;
    }
    if essence.eq_ignore_ascii_case(b"application/json") {
        Some(Body::Json)
    } else if essence.eq_ignore_ascii_case(b"text/event-stream") && rule(Rule::StreamsAreRead) {
        Some(Body::Stream)
    } else {
        (!rule(Rule::ContentTypeKnown)).then_some(Body::Json)
    }
}

#[cfg(test)]
mod tests;
