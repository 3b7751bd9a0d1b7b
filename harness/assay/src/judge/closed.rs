//! The kind closed: who closed a request's connection, before teardown.

use super::finding::Finding;
use super::index::Index;
use crate::case::check::ClosedCheck;
use crate::timeline::Side;

fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "the client",
        Side::Peer => "the peer",
    }
}

pub(super) fn expected(check: &ClosedCheck) -> String {
    format!("{} closes the connection of `{}`", side(check.by), check.request)
}

/// A close by the client counts only where the peer kept the connection open: elsewhere the two would race.
pub(super) fn closed(index: &Index<'_>, check: &ClosedCheck) -> Finding {
    let Some(record) = index.named_request(&check.request) else {
        return Finding::unexercised(format!("there was no request `{}`", check.request));
    };
    if check.by == Side::Client && !index.keeps_open(record) {
        return Finding::unexercised("the peer did not keep the connection open".to_owned());
    }
    let close = index.closes.get(&record.request.conn).filter(|close| close.place > record.place);
    let finished = index
        .replies
        .get(&record.request.number)
        .filter(|r| r.reply.complete && r.before_teardown)
        .map(|r| r.place);
    // Where the peer only waits before it ends its reply, the close must come while it waits.
    let waits_only = !index.stays_open(record.request);
    let kept = check.by == Side::Client && waits_only;
    match close {
        _ if kept && finished.is_some_and(|end| close.is_none_or(|close| close.place > end)) => {
            Finding::fail("the client kept it until the reply had ended".to_owned())
        }
        Some(close) if close.by == check.by => Finding::pass(format!("{} closed it", side(close.by))),
        Some(_) if check.by == Side::Peer => Finding::fail("the client closed it".to_owned()),
        Some(_) => Finding::inconclusive("the peer closed it".to_owned()),
        None if !index.whole => Finding::inconclusive("the recording ends before teardown".to_owned()),
        None if check.by == Side::Client && index.script_done(record) => {
            Finding::fail("it was still open at the end".to_owned())
        }
        None => Finding::inconclusive(
            "it was still open at the end, and the peer did not do its script".to_owned(),
        ),
    }
}

/// Whether a close that could still come would decide.
pub(super) fn lacks(index: &Index<'_>, check: &ClosedCheck) -> bool {
    index.named_request(&check.request).is_some_and(|record| {
        let counts = check.by == Side::Peer || index.keeps_open(record);
        counts && !index.closes.contains_key(&record.request.conn)
    })
}
