//! Control traffic: what a server sends on a stream beside the response.
//!
//! Requests and notifications both count, and the bytes of their joined data add up, for each response on its
//! own. A request is answered before the stream is read on.

use crate::error::Error;
use crate::limits::Limits;
use crate::policy::ServerRequests;
use crate::rule::{Rule, rule};

/// What one response may still bring of control messages.
#[derive(Debug)]
pub(crate) struct ControlBudget {
    count: usize,
    bytes: usize,
    max_count: usize,
    max_bytes: usize,
}

impl ControlBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { count: 0, bytes: 0, max_count: limits.max_controls, max_bytes: limits.max_control_bytes }
    }

    /// Counts a control message of `bytes` bytes of joined data. It is acted on only afterwards.
    ///
    /// # Errors
    ///
    /// `control_count_limit`, then `control_byte_limit`. Rows EX-CTL-02 to EX-CTL-06, EX-CTL-14.
    pub(crate) fn admit(&mut self, bytes: usize) -> Result<(), Error> {
        if self.count >= self.max_count && rule(Rule::ControlsAreCounted) {
            return Err(Error::ControlCountLimit { limit: self.max_count });
        }
        if bytes > self.max_bytes.saturating_sub(self.bytes) && rule(Rule::ControlsAreWeighed) {
            return Err(Error::ControlByteLimit { limit: self.max_bytes });
        }
        self.count += 1;
        self.bytes += bytes;
        Ok(())
    }
}

/// The answer to a server's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// An empty result.
    Empty,
    /// Error -32601.
    MethodNotFound,
}

impl Reply {
    /// The answer to a request of this method. Row EX-CTL-01.
    pub(crate) fn to(method: &str, policy: ServerRequests) -> Self {
        match policy {
            ServerRequests::PingOnly if method == "ping" && rule(Rule::PingIsAnswered) => Self::Empty,
            ServerRequests::PingOnly if !rule(Rule::UnknownMethodsRefused) => Self::Empty,
            ServerRequests::PingOnly => Self::MethodNotFound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(max_count: usize, max_bytes: usize) -> ControlBudget {
        ControlBudget::new(&Limits::default().max_controls(max_count).max_control_bytes(max_bytes))
    }

    /// Rows EX-CTL-02, EX-CTL-03.
    #[test]
    fn one_control_message_more_than_allowed_fails() {
        let mut budget = budget(1, 100);
        assert_eq!(budget.admit(1), Ok(()));
        assert_eq!(budget.admit(1), Err(Error::ControlCountLimit { limit: 1 }));
    }

    /// Row EX-CTL-06.
    #[test]
    fn sixteen_are_allowed_by_default() {
        let mut budget = ControlBudget::new(&Limits::default());
        for _ in 0..16 {
            assert_eq!(budget.admit(1), Ok(()));
        }
        assert_eq!(budget.admit(1), Err(Error::ControlCountLimit { limit: 16 }));
    }

    /// Rows EX-CTL-05, EX-CTL-14.
    #[test]
    fn bytes_add_up_to_an_inclusive_bound() {
        let mut exact = budget(9, 10);
        assert_eq!((exact.admit(4), exact.admit(6)), (Ok(()), Ok(())));
        let mut over = budget(9, 10);
        assert_eq!((over.admit(4), over.admit(7)), (Ok(()), Err(Error::ControlByteLimit { limit: 10 })));
    }

    /// Row EX-CTL-01.
    #[test]
    fn ping_is_answered_and_nothing_else() {
        assert_eq!(Reply::to("ping", ServerRequests::PingOnly), Reply::Empty);
        for method in ["Ping", "sampling/createMessage", "roots/list", ""] {
            assert_eq!(Reply::to(method, ServerRequests::PingOnly), Reply::MethodNotFound);
        }
    }
}
