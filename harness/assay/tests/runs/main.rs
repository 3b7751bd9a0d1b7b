//! Whole runs, from the profile to the exit and the receipts.

mod null;
mod stage;
