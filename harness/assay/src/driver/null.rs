//! Null clients: clients that show nothing. Whatever they are put to must never come out green; a case that one of
//! them passes is a toy.

use super::{ClientUnderTest, Driver, Ending, Pending, Verb, Way};
use crate::judge::Offers;
use crate::returned::Returned;
use std::future::{pending, ready};
use std::sync::Arc;

/// A way to show nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Null {
    /// No verb ever settles.
    DoesNothing,
    /// Every verb succeeds, and nothing touches the network.
    AnswersOk,
    /// Every verb is unsupported.
    AllUnsupported,
    /// Every verb fails, as after the death of a driver's process.
    DiesAfterHello,
}

impl Null {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::DoesNothing, Self::AnswersOk, Self::AllUnsupported, Self::DiesAfterHello];

    fn answer(self, verb: &Verb) -> Pending {
        let answer = match self {
            Self::DoesNothing => return Box::pin(pending()),
            // The most that can be said without having seen anything.
            Self::AnswersOk => Returned::Ok {
                text: matches!(verb, Verb::CallTool { .. }).then(String::new),
                tools: matches!(verb, Verb::ListTools).then(Vec::new),
            },
            Self::AllUnsupported => {
                Returned::Unsupported { message: "this client can do nothing".to_owned() }
            }
            Self::DiesAfterHello => Returned::Error {
                kind: "driver_died".to_owned(),
                message: "the driver died after hello".to_owned(),
                effect: None,
                status: None,
                code: None,
                text: None,
            },
        };
        Box::pin(ready(answer))
    }
}

/// A null client that passes itself off as one of a policy, so that the policy's checks bind it too.
#[derive(Clone, Debug)]
pub struct NullClient {
    null: Null,
    policy: Option<String>,
    offers: Offers,
}

impl NullClient {
    /// A null client that offers everything.
    #[must_use]
    pub fn new(null: Null, policy: Option<&str>) -> Self {
        Self { null, policy: policy.map(str::to_owned), offers: Offers::default() }
    }
}

impl ClientUnderTest for NullClient {
    fn name(&self) -> &str {
        match self.null {
            Null::DoesNothing => "null-does-nothing",
            Null::AnswersOk => "null-answers-ok",
            Null::AllUnsupported => "null-all-unsupported",
            Null::DiesAfterHello => "null-dies-after-hello",
        }
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn policy(&self) -> Option<&str> {
        self.policy.as_deref()
    }

    fn offers(&self) -> &Offers {
        &self.offers
    }

    fn driver(&self, _way: Way) -> Arc<dyn Driver> {
        Arc::new(self.null)
    }
}

impl Driver for Null {
    fn perform(&self, _client: &str, _step: &str, verb: Verb) -> Pending {
        self.answer(&verb)
    }

    fn end(&self) -> Ending<'_> {
        Box::pin(ready(Ok(())))
    }
}
