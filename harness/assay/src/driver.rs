//! Drivers: what performs verbs with a client's public API. The harness decides when; a driver never learns the
//! case's name or what is expected.

pub mod builtin;
pub mod check;
pub mod null;
pub mod process;
pub mod protocol;
pub mod serve;

use crate::judge::Offers;
use crate::receipt::observation::ProcessRecord;
use crate::receipt::run::Identity;
use crate::returned::Returned;
use crate::timeline::Taken;
use crate::variant::Wire;
use crate::wire::memory::MemoryWire;
use std::collections::BTreeMap;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// One verb with what it needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// Makes a client and connects it.
    Connect(Box<Connect>),
    /// Lists the tools.
    ListTools,
    /// Calls a tool.
    CallTool {
        /// Its name.
        tool: String,
        /// Its arguments as JSON text.
        arguments: String,
        /// Time limit, where the step gives one.
        timeout: Option<Duration>,
    },
    /// Gives up waiting for the verb of this step.
    Cancel {
        /// The step.
        step: String,
    },
    /// Makes a new session explicitly.
    Reconnect,
    /// Closes the client.
    Close,
    /// Drops the client with all its handles.
    Kill,
    /// A verb of this name, which nobody has ever heard of: a driver that can be believed answers `unsupported`.
    Unheard(String),
}

impl Verb {
    /// The verb's name, as in timelines and driver messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::ListTools => "list_tools",
            Self::CallTool { .. } => "call_tool",
            Self::Cancel { .. } => "cancel",
            Self::Reconnect => "reconnect",
            Self::Close => "close",
            Self::Kill => "kill",
            Self::Unheard(_) => "(unheard of)",
        }
    }
}

/// What a client is connected with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connect {
    /// The endpoint.
    pub url: String,
    /// Configured headers.
    pub headers: Vec<(String, String)>,
    /// The protocol revision asked for.
    pub protocol_version: String,
    /// Limits by their public option names; what the client cannot set is left alone.
    pub limits: BTreeMap<String, u64>,
}

/// The pending answer of a verb.
pub type Pending = Pin<Box<dyn Future<Output = Returned> + Send>>;

/// Performs verbs. One driver lives for one variant.
pub trait Driver: Send + Sync {
    /// Performs a verb for a named client (`a` where a case has one). `step` names the verb for a later `cancel`.
    ///
    /// Dropping the answer is not a cancel: the harness always says `cancel` or `kill`.
    fn perform(&self, client: &str, step: &str, verb: Verb) -> Pending;

    /// Waits until all verbs asked so far have begun. What comes next, on whichever side, comes after.
    fn begun(&self) -> Waiting<'_> {
        Box::pin(ready(()))
    }

    /// How much memory the client's process takes: the most since this was asked before, and what it takes now. None:
    /// it has no process of its own, or the system does not tell.
    fn memory(&self) -> Option<Taken> {
        None
    }

    /// Ends all clients and pending verbs, without any polite close; the variant is over.
    fn end(&self) -> Ending<'_>;
}

/// Something that a driver does, on its way.
pub type Waiting<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The end of a variant's driver, on its way: what the driver did that it must not, where no verb has told so.
pub type Ending<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// A client under test: makes a driver for each variant.
pub trait ClientUnderTest: Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Its exact version.
    fn version(&self) -> &str;

    /// The policy whose checks bind it; none: only checks that bind every client.
    fn policy(&self) -> Option<&str>;

    /// What it offers.
    fn offers(&self) -> &Offers;

    /// A driver for one variant. It is called on the variant's runtime.
    fn driver(&self, way: Way) -> Arc<dyn Driver>;

    /// The wire on which it is put to the smoke case: the memory wire, unless it is another process.
    fn home_wire(&self) -> Wire {
        Wire::Memory
    }

    /// Whether others wrote it. Of a foreign client a claim says no more than what the checks found.
    fn is_foreign(&self) -> bool {
        false
    }

    /// What pins it in a run's manifest.
    fn identity(&self) -> Identity {
        Identity::unpinned(self.name(), self.version())
    }

    /// The client as it sits for the variants of one case, where it keeps something up between them. None:
    /// it keeps nothing.
    fn sit(&self) -> Option<Box<dyn Sitting>> {
        None
    }
}

/// A client that keeps something up between the variants of one case: a process.
pub trait Sitting: ClientUnderTest {
    /// Ends what was kept up, and says what became of every process there was.
    fn leave(self: Box<Self>) -> Vec<ProcessRecord>;
}

/// How a client reaches the peer of a variant.
#[derive(Clone, Debug)]
pub enum Way {
    /// In memory: every connection is one to this wire's peer. Only clients in this process can go it.
    Memory(MemoryWire),
    /// By the URL it is told to connect to.
    Tcp,
}
