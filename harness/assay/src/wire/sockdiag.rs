//! Asks Linux whether a client has taken everything out of its socket (`sock_diag`, see sock_diag(7)).
//!
//! The client's socket is another process's, but on the same machine: the kernel tells anyone how many bytes wait in
//! it. Elsewhere there is nothing to ask, and [`SockDiag::open`] says so.

use std::net::SocketAddrV4;

/// What is known of a client's socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Taken {
    /// Everything sent has arrived, and the client has read all of it.
    All,
    /// Something is still on its way or unread.
    NotYet,
    /// The socket is gone, or the kernel does not tell.
    Unknown,
}

#[cfg(target_os = "linux")]
pub use linux::SockDiag;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::SockDiag;

#[cfg(target_os = "linux")]
mod linux {
    use super::{SocketAddrV4, Taken};
    use rustix::fd::OwnedFd;
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
    use std::sync::{Mutex, PoisonError};

    /// `SOCK_DIAG_BY_FAMILY`.
    const BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const AF_INET: u8 = 2;
    const IPPROTO_TCP: u8 = 6;
    /// `INET_DIAG_INFO`: the attribute that holds `struct tcp_info`.
    const INFO: u16 = 2;
    const HEADER: usize = 16;
    /// Where `idiag_rqueue` stands in `struct inet_diag_msg`, and its size.
    const RQUEUE: usize = 56;
    const MESSAGE: usize = 72;
    /// Where `tcpi_bytes_received` stands in `struct tcp_info`.
    const RECEIVED: usize = 128;

    /// A way to ask the kernel about TCP sockets of this machine.
    #[derive(Debug)]
    pub struct SockDiag(Mutex<Asking>);

    #[derive(Debug)]
    struct Asking {
        socket: OwnedFd,
        sequence: u32,
    }

    impl SockDiag {
        /// Opens it, where there is one.
        #[must_use]
        pub fn open() -> Option<Self> {
            let (family, kind) = (AddressFamily::NETLINK, SocketType::DGRAM);
            let socket =
                rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))
                    .ok()?;
            Some(Self(Mutex::new(Asking { socket, sequence: 0 })))
        }

        /// Whether the socket at `client`, connected to `peer`, has received `sent` bytes and holds none unread.
        ///
        /// An empty receive queue alone would not do: bytes may still be on their way into it.
        #[must_use]
        pub fn taken(&self, client: SocketAddrV4, peer: SocketAddrV4, sent: u64) -> Taken {
            let mut asking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            asking.sequence = asking.sequence.wrapping_add(1);
            match ask(&asking, client, peer) {
                Some((0, received)) if received >= sent => Taken::All,
                Some(_) => Taken::NotYet,
                None => Taken::Unknown,
            }
        }
    }

    /// The bytes unread in a socket, and the bytes it has received in all.
    fn ask(asking: &Asking, client: SocketAddrV4, peer: SocketAddrV4) -> Option<(u32, u64)> {
        let question = question(asking.sequence, client, peer);
        rustix::net::send(&asking.socket, &question, SendFlags::empty()).ok()?;
        // The kernel answers inside `send`: what is not there now will not come.
        for _ in 0..4 {
            let mut answer = [0; 1024];
            let (len, _) =
                rustix::net::recv(&asking.socket, answer.as_mut_slice(), RecvFlags::DONTWAIT).ok()?;
            let answer = answer.get(..len)?;
            if u32_at(answer, 8)? == asking.sequence {
                return (u16_at(answer, 4)? == BY_FAMILY).then(|| parse(answer)).flatten();
            }
        }
        None
    }

    /// `struct nlmsghdr` and `struct inet_diag_req_v2`.
    fn question(sequence: u32, client: SocketAddrV4, peer: SocketAddrV4) -> [u8; MESSAGE] {
        let mut bytes = [0; MESSAGE];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &72u32.to_ne_bytes());
        put(4, &BY_FAMILY.to_ne_bytes());
        put(6, &NLM_F_REQUEST.to_ne_bytes());
        put(8, &sequence.to_ne_bytes());
        put(HEADER, &[AF_INET, IPPROTO_TCP, 1 << (INFO - 1)]);
        // All states.
        put(HEADER + 4, &u32::MAX.to_ne_bytes());
        put(HEADER + 8, &client.port().to_be_bytes());
        put(HEADER + 10, &peer.port().to_be_bytes());
        put(HEADER + 12, &client.ip().octets());
        put(HEADER + 28, &peer.ip().octets());
        // INET_DIAG_NOCOOKIE.
        put(HEADER + 48, &[0xFF; 8]);
        bytes
    }

    fn parse(answer: &[u8]) -> Option<(u32, u64)> {
        let unread = u32_at(answer, HEADER + RQUEUE)?;
        let mut rest = answer.get(HEADER + MESSAGE..)?;
        loop {
            let len = usize::from(u16_at(rest, 0)?);
            let value = rest.get(4..len)?;
            if u16_at(rest, 2)? == INFO {
                let received = value.get(RECEIVED..RECEIVED + 8)?.try_into().ok()?;
                return Some((unread, u64::from_ne_bytes(received)));
            }
            rest = rest.get(len.next_multiple_of(4)..)?;
        }
    }

    fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
        Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
    }

    fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{SocketAddrV4, Taken};

    /// Nothing: only Linux can be asked.
    #[derive(Debug)]
    pub struct SockDiag(std::convert::Infallible);

    impl SockDiag {
        /// There is none.
        #[must_use]
        pub fn open() -> Option<Self> {
            None
        }

        /// Cannot be called, since there is none.
        #[must_use]
        pub fn taken(&self, _client: SocketAddrV4, _peer: SocketAddrV4, _sent: u64) -> Taken {
            match self.0 {}
        }
    }
}
