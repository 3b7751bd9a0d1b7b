//! One HTTP exchange: a request written at most once, the head of its response, and the body frame by frame.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Body as _;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::http::response::Parts;
use hyper::{HeaderMap, Method, Request, Uri, Version, header};

use crate::error::{Effect, Error, TransportFault};
use crate::head::HeadFault;
use crate::io::Departure;
use crate::pool::{Connection, Lease, Pool};
use crate::rule::{Rule, rule};

/// A request ready to be written.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) target: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The head of a response and the way to its body.
pub(crate) struct Answer {
    pub(crate) head: Parts,
    pub(crate) body: Body,
}

/// Takes a connection from `pool`, writes `outgoing` and reads the head of the response.
///
/// Dropping the future closes the connection. `departure` tells whether a byte of the request has left.
pub(crate) async fn exchange(
    pool: &Pool,
    outgoing: Outgoing,
    departure: &Departure,
) -> Result<Answer, Error> {
    let mut lease = pool.lease().await.map_err(|error| no_connection(&error))?;
    lease.connection.gauge.begin(departure.clone());
    let mut request = Request::new(Full::new(outgoing.body));
    *request.method_mut() = outgoing.method;
    *request.uri_mut() = outgoing.target;
    *request.version_mut() = Version::HTTP_11;
    *request.headers_mut() = outgoing.headers;
    let response = lease.connection.sender.send_request(request);
    let response = drive(&mut lease.connection, response).await;
    let response = response.map_err(|error| head_failure(&lease.connection, &error, departure))?;
    let (head, incoming) = response.into_parts();
    check_framing(&head, departure)?;
    let body = Body { lease, incoming, version: head.version, departure: departure.clone() };
    Ok(Answer { head, body })
}

/// A connector may say what failed; its words are dropped.
fn no_connection(error: &std::io::Error) -> Error {
    let said = error.get_ref().and_then(|error| error.downcast_ref::<TransportFault>());
    Error::HttpTransport { fault: said.copied().unwrap_or(TransportFault::Connect), effect: Effect::NotSent }
}

fn broken(fault: TransportFault, departure: &Departure) -> Error {
    Error::HttpTransport { fault, effect: departure.effect() }
}

/// Runs `future` together with the connection it depends on.
async fn drive<F: Future>(connection: &mut Connection, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _ = connection.poll_drive(cx);
        future.as_mut().poll(cx)
    })
    .await
}

/// The error behind hyper's while a head was awaited.
fn head_failure(connection: &Connection, error: &hyper::Error, departure: &Departure) -> Error {
    match connection.gauge.fault() {
        Some(HeadFault::TooLarge) if rule(Rule::LargeHeadsAreTold) => connection.header_byte_limit(),
        Some(HeadFault::Malformed | HeadFault::TooLarge) => broken(TransportFault::Head, departure),
        None if error.is_parse() => broken(TransportFault::Head, departure),
        None => broken(TransportFault::Disconnected, departure),
    }
}

/// The error behind hyper's while a body was read.
fn body_failure(error: &hyper::Error, departure: &Departure) -> Error {
    if is_about_trailers(error) && rule(Rule::LargeTrailersAreTold) {
        Error::InvalidTrailers
    } else {
        broken(TransportFault::Body, departure)
    }
}

/// hyper's decoder bounds trailers itself and says so in words alone (tests hold it to them).
fn is_about_trailers(error: &hyper::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.to_string().to_ascii_lowercase().contains("trailer") {
            return true;
        }
        source = error.source();
    }
    false
}

/// Refuses what hyper would settle by a rule of its own: a length beside a coding, several lengths, a coding that is not
/// `chunked`. Two readers of such a response may disagree about where it ends.
fn check_framing(head: &Parts, departure: &Departure) -> Result<(), Error> {
    let mut lengths = head.headers.get_all(header::CONTENT_LENGTH).iter();
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    let sound = match (lengths.next(), codings.next()) {
        (None, None) => true,
        (Some(_), None) if !rule(Rule::LengthsAreSound) => true,
        (Some(length), None) => !length.is_empty() && length.as_bytes().iter().all(u8::is_ascii_digit),
        (None, Some(coding)) => coding.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => !rule(Rule::LengthOrCoding),
    };
    let single = (lengths.next().is_none() || !rule(Rule::LengthsAreSound)) && codings.next().is_none();
    if sound && single { Ok(()) } else { Err(broken(TransportFault::Head, departure)) }
}

/// What the body gives next.
pub(crate) enum Piece {
    /// Some bytes, never none.
    Data(Bytes),
    /// The trailers, after which the body ends.
    Trailers(HeaderMap),
    /// The end.
    End,
}

/// The body of a response and the connection it comes from. Dropping it closes the connection.
pub(crate) struct Body {
    lease: Lease,
    incoming: Incoming,
    version: Version,
    departure: Departure,
}

impl Body {
    /// The next piece.
    pub(crate) async fn next(&mut self) -> Result<Piece, Error> {
        let Self { lease, incoming, .. } = self;
        let frame = drive(&mut lease.connection, poll_fn(|cx| Pin::new(&mut *incoming).poll_frame(cx))).await;
        match frame {
            None => Ok(Piece::End),
            Some(Ok(frame)) => Ok(match frame.into_data() {
                Ok(data) => Piece::Data(data),
                Err(frame) => frame.into_trailers().map_or(Piece::End, Piece::Trailers),
            }),
            Some(Err(error)) => Err(body_failure(&error, &self.departure)),
        }
    }

    /// Gives the connection back after the body's end was read. A peer of HTTP/1.0 gets no second request: hyper
    /// would write it as HTTP/1.0.
    pub(crate) async fn finish(self, pool: &Pool) {
        if self.version == Version::HTTP_11 {
            pool.give_back(self.lease).await;
        }
    }

    /// Ends a body whose rest does not matter: the connection is kept if the body's end has already been taken from
    /// the stream, else closed. Nothing is waited for and nothing of the rest is looked at.
    pub(crate) async fn abandon(mut self, pool: &Pool) {
        self.lease.connection.gauge.freeze(true);
        let ended = poll_fn(|cx| Poll::Ready(self.rest_was_read(cx))).await;
        self.lease.connection.gauge.freeze(false);
        if ended {
            self.finish(pool).await;
        }
    }

    fn rest_was_read(&mut self, cx: &mut Context<'_>) -> bool {
        loop {
            let mut frame = Pin::new(&mut self.incoming).poll_frame(cx);
            if frame.is_pending() {
                let _ = self.lease.connection.poll_drive(cx);
                frame = Pin::new(&mut self.incoming).poll_frame(cx);
            }
            match frame {
                Poll::Ready(None) => return true,
                Poll::Ready(Some(Ok(frame))) if frame.is_data() => {}
                Poll::Ready(Some(_)) | Poll::Pending => return false,
            }
        }
    }
}
