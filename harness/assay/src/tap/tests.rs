//! The tap against small servers.
