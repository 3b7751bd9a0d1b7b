//! The life of a client's session, without IO: states, generations, ids and the table of pending requests.
//!
//! The engine asks, this module decides. A [`Ticket`] names a request for good: a completion is believed only
//! if its ticket is still in the table, so nothing that belongs to an older generation can touch a newer one.

use std::collections::BTreeSet;
use std::fmt;

use crate::error::{Effect, Error, SessionFault};
use crate::habit::{Habit, habit};
use crate::policy::SessionHeader;
use crate::rule::{Rule, rule};

/// Where a client stands.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::State;
///
/// # let client = Server::default().client().await?;
/// assert_eq!(client.status().state, State::Ready);
/// client.close().await?;
/// assert_eq!(client.status().state, State::Closed);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// A handshake is running.
    Connecting,
    /// Requests are accepted.
    Ready,
    /// There is no session: a 404 ended it, or a later handshake failed. `reconnect` is possible.
    Expired,
    /// `close` is running.
    Closing,
    /// The client has ended.
    Closed,
}

/// A look at a client. It holds no secret: the session is only said to be there. Row EX-REQ-09.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::{State, Status};
///
/// # let client = Server::default().client().await?;
/// let Status { state, generation, pending, has_session, .. } = client.status();
/// assert_eq!((state, generation, pending, has_session), (State::Ready, 1, 0, true));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Status {
    /// Where the client stands.
    pub state: State,
    /// The number of handshakes begun: 1 for the first session.
    pub generation: u64,
    /// Requests without an answer.
    pub pending: usize,
    /// Whether the server has issued a session id that is in use.
    pub has_session: bool,
}

/// A session id as the server issued it: visible ASCII. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionId(Box<str>);

impl SessionId {
    /// Takes a header value as a session id.
    ///
    /// # Errors
    ///
    /// `invalid_session_id` for an empty value, one over `limit` bytes, or a byte outside the grammar.
    pub(crate) fn parse(value: &[u8], grammar: SessionHeader, limit: usize) -> Result<Self, Error> {
        let SessionHeader::FixedAtInitialize = grammar;
        if value.is_empty() && rule(Rule::SessionNotEmpty) {
            return Err(Error::InvalidSessionId(SessionFault::Empty));
        }
        if value.len() > limit {
            return Err(Error::InvalidSessionId(SessionFault::TooLong { limit, actual: value.len() }));
        }
        let mut text = String::with_capacity(value.len());
        for (offset, &byte) in value.iter().enumerate() {
            if !byte.is_ascii_graphic() && rule(Rule::SessionGrammar) {
                return Err(Error::InvalidSessionId(SessionFault::Byte { offset }));
            }
            text.push(char::from(byte));
        }
        if !rule(Rule::SessionVerbatim) {
            text.make_ascii_lowercase();
        }
        Ok(Self(text.into()))
    }

    /// The value, to be sent back as it came. Not for errors and logs.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(withheld)")
    }
}

/// A request's name: its id, and the generation it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Ticket {
    pub(crate) generation: u64,
    pub(crate) id: u64,
}

/// The session of one client.
#[derive(Debug)]
pub(crate) struct Session {
    state: State,
    generation: u64,
    last_id: u64,
    max_pending: usize,
    session: Option<SessionId>,
    pending: BTreeSet<u64>,
}

impl Session {
    /// A client that has not begun its first handshake.
    pub(crate) fn new(max_pending: usize) -> Self {
        Self {
            state: State::Expired,
            generation: 0,
            last_id: 0,
            max_pending,
            session: None,
            pending: BTreeSet::new(),
        }
    }

    pub(crate) fn status(&self) -> Status {
        Status {
            state: self.state,
            generation: self.generation,
            pending: self.pending.len(),
            has_session: self.session.is_some(),
        }
    }

    /// Begins a handshake, the first one or a reconnect, and allocates initialize's id.
    ///
    /// # Errors
    ///
    /// `busy` while something is pending or a handshake runs, `not_available` while ready, `closed` after
    /// `close`. Row EX-SES-09.
    pub(crate) fn begin_handshake(&mut self) -> Result<Ticket, Error> {
        if matches!(self.state, State::Closing | State::Closed) {
            return Err(Error::Closed { effect: Effect::NotSent });
        }
        if self.state == State::Connecting || (!self.pending.is_empty() && rule(Rule::HandshakeNeedsQuiet)) {
            return Err(Error::Busy { limit: self.max_pending });
        }
        if self.state == State::Ready && rule(Rule::ReadyNeedsNoHandshake) {
            return Err(Error::NotAvailable);
        }
        self.state = State::Connecting;
        self.generation += 1;
        if !rule(Rule::IdsAcrossSessions) {
            self.last_id = 0;
        }
        Ok(self.allocate())
    }

    /// Ends the handshake of `ticket` well. False if it is not the one running: then nothing changes.
    pub(crate) fn establish(&mut self, ticket: Ticket, session: Option<SessionId>) -> bool {
        let current = self.is_connecting(ticket);
        if current {
            self.state = State::Ready;
            self.session = session;
        }
        current
    }

    /// Ends the handshake of `ticket` badly. False if it is not the one running.
    pub(crate) fn fail_handshake(&mut self, ticket: Ticket) -> bool {
        let current = self.is_connecting(ticket);
        if current {
            self.state = State::Expired;
        }
        current
    }

    /// Admits a request before it is encoded, and allocates its id.
    ///
    /// # Errors
    ///
    /// `not_ready` (`closed` after `close` has ended), then `busy`. Rows EX-REQ-04, EX-REQ-11, EX-SES-02,
    /// EX-HS-22.
    pub(crate) fn admit(&mut self) -> Result<Ticket, Error> {
        match self.state {
            State::Ready => {}
            State::Connecting if !rule(Rule::NotReadyBeforeReady) => {}
            State::Expired if !rule(Rule::NotReadyAfterExpiry) => {}
            State::Closed if rule(Rule::ClosedIsTold) => {
                return Err(Error::Closed { effect: Effect::NotSent });
            }
            State::Connecting | State::Expired | State::Closing | State::Closed => {
                return Err(Error::NotReady);
            }
        }
        if self.pending.len() >= self.max_pending && rule(Rule::PendingIsBounded) {
            return Err(Error::Busy { limit: self.max_pending });
        }
        let ticket = self.allocate();
        self.pending.insert(ticket.id);
        Ok(ticket)
    }

    /// Takes a request out of the table: it has ended, whatever the way. False if it ended before, or belongs
    /// to an older generation. Row EX-SES-04.
    pub(crate) fn complete(&mut self, ticket: Ticket) -> bool {
        ticket.generation == self.generation && self.pending.remove(&ticket.id)
    }

    /// Ends the session of a generation after a 404, and with it all that is pending. False, and nothing
    /// happens, for a generation that is not the ready one. Rows EX-SES-01, EX-SES-05.
    pub(crate) fn expire(&mut self, generation: u64) -> bool {
        let current = generation == self.generation && self.state == State::Ready;
        if current {
            self.state = State::Expired;
            if rule(Rule::ExpiryForgetsSession) {
                self.session = None;
            }
            self.pending.clear();
        }
        current
    }

    /// Begins to close, which ends all that is pending; hands over the session to delete. There is none for a
    /// stateless server or after a 404. Rows EX-SES-10, EX-HS-21.
    ///
    /// # Errors
    ///
    /// `closed` if closing has begun already. Row EX-CL-07.
    pub(crate) fn begin_close(&mut self) -> Result<Option<SessionId>, Error> {
        if matches!(self.state, State::Closing | State::Closed) && rule(Rule::ClosedOnce) {
            return Err(Error::Closed { effect: Effect::NotSent });
        }
        self.state = State::Closing;
        self.pending.clear();
        Ok(self.session.take())
    }

    /// Ends the client, asked for or not.
    pub(crate) fn end(&mut self) {
        self.state = State::Closed;
        self.session = None;
        self.pending.clear();
    }

    fn is_connecting(&self, ticket: Ticket) -> bool {
        self.state == State::Connecting && ticket.generation == self.generation
    }

    /// Ids grow over the whole life of the client, reconnects included. Row EX-REQ-07.
    fn allocate(&mut self) -> Ticket {
        if rule(Rule::IdsUnique) || self.last_id < 2 {
            self.last_id += 1;
        }
        let id = match self.last_id {
            last if habit(Habit::IdsFromZero) => last - 1,
            last if habit(Habit::IdsDown) => 1_000_000 - last,
            last => last,
        };
        Ticket { generation: self.generation, id }
    }
}

#[cfg(test)]
mod tests;
