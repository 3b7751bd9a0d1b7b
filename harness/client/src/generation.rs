//! One session's worth of connections and tasks, and how they end together.

use std::sync::OnceLock;

use tokio::sync::watch;

use crate::pool::Pool;
use crate::response::Known;
use crate::session::SessionId;

/// Why everything that belongs to a generation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// The server answered 404 within the session.
    Expired,
    /// `close` was called.
    Closed,
    /// The last handle is gone.
    Abandoned,
}

/// From the start of a handshake to the end of its session.
pub(crate) struct Generation {
    pub(crate) number: u64,
    pub(crate) pool: Pool,
    session: OnceLock<Option<SessionId>>,
    end: watch::Sender<Option<End>>,
}

impl Generation {
    pub(crate) fn new(number: u64, pool: Pool) -> Self {
        Self { number, pool, session: OnceLock::new(), end: watch::Sender::new(None) }
    }

    /// What responses are judged by.
    pub(crate) fn known(&self) -> Known<'_> {
        match self.session.get() {
            None => Known::Undecided,
            Some(None) => Known::Stateless,
            Some(Some(session)) => Known::Session(session),
        }
    }

    /// The session id that requests carry.
    pub(crate) fn session(&self) -> Option<&SessionId> {
        self.session.get().and_then(Option::as_ref)
    }

    /// Settles whether there is a session, once.
    pub(crate) fn settle(&self, session: Option<SessionId>) {
        // A second handshake cannot run in one generation; if it did, the first would stand.
        let _ = self.session.set(session);
    }

    /// Ends every task of this generation and closes its idle connections. A later end overrides an earlier one.
    pub(crate) fn end(&self, end: End) {
        self.end.send_if_modified(|current| {
            let later = *current < Some(end);
            if later {
                *current = Some(end);
            }
            later
        });
        if end != End::Closed {
            self.pool.close();
        }
    }

    /// Waits for an end that is `least` or later.
    pub(crate) async fn ended(&self, least: End) -> End {
        let mut end = self.end.subscribe();
        let seen = end.wait_for(|end| *end >= Some(least)).await;
        // The sender lives in `self`, so the wait cannot fail.
        seen.map_or(End::Abandoned, |end| end.unwrap_or(End::Abandoned))
    }
}
