//! Writing one reply: cut by cut, stop by stop, as far as the client lets it.

use super::compile::{Compiled, Stop, Until};
use super::conn::{Conn, Gone};
use super::{Cutter, Inner, Io};
use crate::case::reply::Then;
use crate::timeline::{EventKind, Reply};
use std::sync::Arc;
use tokio::time::sleep;

/// Writes the bytes of a reply and records how that went. The ending is left to the caller.
pub(super) async fn write<I: Io, C: Cutter>(
    inner: &Inner,
    conn: &mut Conn<I>,
    cutter: &mut C,
    request: u32,
    compiled: &Compiled,
) -> Result<(), Gone> {
    let mut progress = Progress::default();
    let ended = progress.run(inner, conn, cutter, request, compiled).await;
    let Progress { written, cuts, proven } = progress;
    inner.desk.record(EventKind::Replied(Arc::new(Reply {
        request,
        bytes: compiled.bytes.clone(),
        content_len: compiled.content_len,
        written,
        cuts,
        proven,
        marks: compiled.marks.clone(),
        complete: ended.is_ok(),
    })));
    ended
}

#[derive(Default)]
struct Progress {
    written: usize,
    cuts: Vec<usize>,
    proven: u32,
}

impl Progress {
    async fn run<I: Io, C: Cutter>(
        &mut self,
        inner: &Inner,
        conn: &mut Conn<I>,
        cutter: &mut C,
        request: u32,
        compiled: &Compiled,
    ) -> Result<(), Gone> {
        let len = compiled.bytes.len();
        let mut stops = compiled.stops.iter().peekable();
        let stays = compiled.stops.iter().any(|stop| stop.at >= len);
        let ends_with = matches!(compiled.then, Then::Fin | Then::Truncate) && !stays;
        for end in write_ends(compiled) {
            if ends_with && end == len {
                conn.hold_for_end();
            }
            let (written, ended) = conn.write(&compiled.bytes[self.written..end]).await;
            self.written += written;
            ended?;
            if 0 < end && end < len {
                self.cuts.push(end);
                let sent = conn.sent;
                self.proven += u32::from(conn.watch(cutter.settle(sent)).await?);
            }
            while let Some(stop) = stops.next_if(|stop| stop.at <= end) {
                rest(inner, conn, request, stop).await?;
            }
        }
        Ok(())
    }
}

/// Where writes end: at cuts, at stops, and at the reply's end.
fn write_ends(compiled: &Compiled) -> Vec<usize> {
    let mut ends: Vec<usize> =
        compiled.cuts.iter().copied().chain(compiled.stops.iter().map(|stop| stop.at)).collect();
    ends.push(compiled.bytes.len());
    ends.sort_unstable();
    ends.dedup();
    ends
}

async fn rest<I: Io>(inner: &Inner, conn: &mut Conn<I>, request: u32, stop: &Stop) -> Result<(), Gone> {
    match &stop.until {
        Until::Passed(time) => conn.watch(sleep(*time)).await,
        Until::Released(name) => hold(inner, conn, request, name).await,
    }
}

/// Waits for the release of a hold.
pub(super) async fn hold<I: Io>(
    inner: &Inner,
    conn: &mut Conn<I>,
    request: u32,
    name: &str,
) -> Result<(), Gone> {
    inner.desk.record(EventKind::Held { name: name.to_owned(), request });
    let mut released = inner.released.subscribe();
    // The sender lives in `inner`, so waiting cannot fail.
    conn.watch(async { drop(released.wait_for(|released| released.contains(name)).await) }).await
}
