//! Whole runs, from the profile to the exit and the receipts.

mod determinism;
mod exit;
#[cfg(unix)]
mod kill;
mod null;
#[cfg(target_os = "linux")]
mod servers;
#[cfg(target_os = "linux")]
mod signals;
mod stage;
