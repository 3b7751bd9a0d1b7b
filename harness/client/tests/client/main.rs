//! The client against a raw peer over in-memory sockets, under a paused clock.

mod arbitrary;
mod deadlines;
mod exchange;
mod framing;
mod peer;
mod reuse;
mod secrets;

mod session;
mod storm;
mod tls;
