//! Why a unit of work, or the rest of it, could not be run.

use crate::exit::Exit;

/// What kept variants from running.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Problem {
    /// A mistake in the case that only shows on the wire.
    #[error("{0}")]
    Case(String),
    /// The system, or a client that would not end.
    #[error("{0}")]
    System(String),
}

impl Problem {
    /// What it does to the exit.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Case(_) => Exit::Usage,
            Self::System(_) => Exit::Incomplete,
        }
    }
}
