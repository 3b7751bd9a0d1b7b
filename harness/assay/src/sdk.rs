//! Servers and drivers on real SDKs: what there is, what it needs, how to get it onto this machine.
//!
//! The servers themselves are programs under `fixtures/servers`, listed in its `servers.toml` ([`manifest`]). Each
//! is installed once into a cache from its lock file ([`install`]) with a runtime that is found, never fetched
//! ([`runtime`]), and started as a process that cannot outlive the harness ([`process`]).
//!
//! Drivers of clients stand under `fixtures/drivers`, each in a folder with its manifest ([`drivers`]), and are
//! installed in the same way.

pub mod admin;
pub mod drivers;
pub mod fleet;
pub mod install;
pub mod manifest;
pub mod process;
pub mod runtime;
mod template;
