//! Judging the judge: broken clients that some check must notice, and lawful ones that none may.
//!
//! A **mutant** is the built-in client with one rule switched off, or one limit off by one. It names the clauses and rows
//! that it breaks, and is killed when of each of them at least one check says something else than it says of the unbroken
//! client. A mutant that survives shows a check that sees nothing. A **lawful variation** is the client with another
//! habit that the specification leaves to it; a check that binds every client and trips over one is wrong.
//!
//! Both need a client that can be told to: a binary built with the feature `mutants`, as `cargo xtask mutants` does.

pub mod build;
#[cfg(feature = "mutants")]
mod change;
pub mod lawful;
pub mod report;
pub mod stage;
pub mod table;
pub mod trial;
pub mod watchdog;

/// The client of this binary, if it can be told to break its rules.
#[must_use]
pub fn client() -> Option<&'static dyn trial::Client> {
    #[cfg(feature = "mutants")]
    return Some(&change::Switch);
    #[cfg(not(feature = "mutants"))]
    None
}

/// The text that only a binary with such a client holds. Its halves stand apart here, so that this code does not hold it.
pub(crate) fn marker() -> String {
    ["this mcp-assay-client can be told", "to break its own rules"].join(" ")
}

#[cfg(test)]
mod tests;
