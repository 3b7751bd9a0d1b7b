//! How much memory a client can need, as a formula over its options.

use crate::io::READ_BYTES;
use crate::limits::Limits;
use crate::pool::read_buffer_bytes;

/// Allowed for what a task and its place in the tables take.
const TASK_BYTES: usize = 16_384;
/// Allowed for a connection beside its buffers: the socket, TLS records in both directions, a parsed head, a request
/// head with an URL of 8 192 bytes.
const CONNECTION_BYTES: usize = 262_144;
/// A key or a list entry in a table that grows by doubling.
const VALUE_BYTES: usize = 72;
/// An open array or object in a table that grows by doubling.
const LEVEL_BYTES: usize = 48;

impl Limits {
    /// The most bytes a client with these limits holds at one time, whatever its peer sends.
    ///
    /// The sum of
    /// - for each of `max_pending` requests: its encoded body (`max_request_bytes`) and a task (16 384);
    /// - for each of `max_connections` connections: the body, the text being unescaped and the result being built, each
    ///   with the copy that growth makes (6 × `max_response_bytes`); a stream's line and event (3 × `max_line_bytes` +
    ///   3 × `max_event_bytes`); a control reply (`max_control_bytes`); what the strict JSON pass and the reading of lists
    ///   keep (72 for each value, of which there are at most `max_json_nodes` and at most one in two bytes; 48 for each of
    ///   `max_json_depth` levels); two read buffers (`max_header_bytes` + 4 × 257 + 512, at least 8 192) and one of
    ///   8 192; the configured headers (`max_header_bytes`); and 262 144 for TLS and the rest;
    /// - for each of `max_control_workers` cancellations and for a close: a task.
    ///
    /// Not counted: what the caller hands in, results that wait for the caller, the platform's root certificates, and the
    /// kernel's socket buffers. Row EX-MEM-01.
    ///
    /// ```
    /// use mcp_assay_client::Limits;
    ///
    /// assert!(Limits::default().memory_bound() < 400 << 20);
    /// assert!(Limits::default().max_pending(8).max_response_bytes(65_536).memory_bound() < 48 << 20);
    /// ```
    #[must_use]
    pub fn memory_bound(&self) -> usize {
        let request = self.max_request_bytes.saturating_add(TASK_BYTES);
        let values = self.max_json_nodes.min(self.max_response_bytes / 2 + 1);
        let levels = self.max_json_depth.min(self.max_response_bytes);
        let connection = [
            self.max_response_bytes.saturating_mul(6),
            self.max_line_bytes.saturating_mul(3),
            self.max_event_bytes.saturating_mul(3),
            self.max_control_bytes,
            values.saturating_mul(VALUE_BYTES),
            levels.saturating_mul(LEVEL_BYTES),
            read_buffer_bytes(self.max_header_bytes).saturating_mul(2),
            READ_BYTES,
            self.max_header_bytes,
            CONNECTION_BYTES,
        ];
        let connection = connection.into_iter().fold(0_usize, usize::saturating_add);
        let tasks = self.max_control_workers.saturating_add(1).saturating_mul(TASK_BYTES);
        self.max_pending
            .saturating_mul(request)
            .saturating_add(self.max_connections.saturating_mul(connection))
            .saturating_add(tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row EX-MEM-01.
    #[test]
    fn the_bound_grows_with_each_option_and_never_overflows() {
        let bound = |limits: Limits| limits.memory_bound();
        let mebi = 1 << 20;
        let base = Limits::default();
        assert_eq!(bound(base.clone().max_pending(129)) - bound(base.clone()), mebi + TASK_BYTES);
        assert_eq!(bound(base.clone().max_request_bytes(mebi + 1)) - bound(base.clone()), 128);
        assert_eq!(bound(base.clone().max_line_bytes(65_537)) - bound(base.clone()), 8 * 3);
        assert_eq!(bound(base.clone().max_event_bytes(262_145)) - bound(base.clone()), 8 * 3);
        assert_eq!(bound(base.clone().max_control_bytes(65_537)) - bound(base.clone()), 8);
        assert_eq!(bound(base.clone().max_control_workers(5)) - bound(base), TASK_BYTES);
        let mut most = Limits::default();
        for name in Limits::NAMES {
            most.set(name, u64::MAX >> 1).unwrap();
        }
        assert_eq!(bound(most), usize::MAX);
    }
}
