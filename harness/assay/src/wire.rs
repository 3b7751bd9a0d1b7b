//! Wires: what carries the bytes between a client and the scripted peer.

pub mod memory;
pub mod sockdiag;
pub mod tcp;
