//! The data lines of one event.

use crate::error::Error;
use crate::rule::{Rule, rule};

/// The data lines of the block that is being read.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) text: String,
    pub(super) state: DataState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataState {
    /// No data line yet.
    None,
    /// There is at least one, and all are in the text.
    Some,
    /// The text was delivered, and is cleared when the decoder goes on.
    Delivered,
}

impl Data {
    pub(super) fn new() -> Self {
        Self { text: String::new(), state: DataState::None }
    }

    /// Takes over a value that passed the limit already, as the first line.
    pub(super) fn keep(&mut self, value: &str) {
        self.text.push_str(value);
        self.state = DataState::Some;
    }

    pub(super) fn append(&mut self, value: &str, limit: usize) -> Result<(), Error> {
        let newline = usize::from(self.state == DataState::Some);
        let counted = if rule(Rule::JoinsAreCounted) { newline } else { 0 };
        if self.text.len() + counted + value.len() > limit {
            return Err(Error::SseEventLimit { limit });
        }
        if newline == 1 && rule(Rule::LinesAreJoined) {
            self.text.push('\n');
        }
        self.keep(value);
        Ok(())
    }
}
