//! The built-in client as a driver of its own: requests on stdin, replies on stdout.

use super::builtin::{Builtin, BuiltinClient};
use super::protocol::{Asked, Hello, HelloReply, LINE_MAX, Reply, Request};
use super::{ClientUnderTest as _, Driver as _, Verb};
use crate::judge::VERBS;
use mcp_assay_client::Limits;
use serde::Serialize;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::yield_now;

/// Speaks the driver protocol until `input` ends; then every client is gone, without a polite close.
///
/// Each variant (from one `end` to the next) has a runtime of its own, as in-process: what its clients leave running
/// ends with it.
///
/// # Errors
/// A line that is no request, or a stream that fails.
pub fn serve(
    client: &BuiltinClient,
    input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> io::Result<()> {
    let (lines_in, mut lines) = unbounded_channel();
    thread::spawn(move || read(BufReader::new(input), |line| lines_in.send(line).is_ok()));
    let (replies, written) = channel::<Vec<u8>>();
    // Who waits for a reply must not be kept from the next verb by one who does not read.
    let writer = thread::spawn(move || {
        written.iter().try_for_each(|line| {
            output.write_all(&line)?;
            output.flush()
        })
    });
    let served = variants(client, &mut lines, &replies);
    drop(replies);
    let wrote = writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer of replies failed")));
    served.and(wrote)
}

/// Reads lines until `take` wants no more.
fn read(mut input: impl BufRead, mut take: impl FnMut(io::Result<Vec<u8>>) -> bool) {
    loop {
        let mut line = Vec::new();
        let most = u64::try_from(LINE_MAX).unwrap_or(u64::MAX).saturating_add(2);
        let read = (&mut input).take(most).read_until(b'\n', &mut line);
        let ends = line.pop_if(|byte| *byte == b'\n').is_some();
        let wanted = match read {
            Ok(0) => return,
            Ok(_) if line.len() > LINE_MAX => {
                let problem = format!("expected a request of at most {LINE_MAX} bytes, saw more");
                let _told = take(Err(io::Error::new(io::ErrorKind::InvalidData, problem)));
                return;
            }
            Ok(_) if ends => take(Ok(line)),
            // A line without its end was cut short with the stream.
            Ok(_) => return,
            Err(problem) => {
                let _told = take(Err(problem));
                return;
            }
        };
        if !wanted {
            return;
        }
    }
}

fn variants(
    client: &BuiltinClient,
    lines: &mut UnboundedReceiver<io::Result<Vec<u8>>>,
    replies: &Sender<Vec<u8>>,
) -> io::Result<()> {
    let mut last = 0;
    loop {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let ended = runtime.block_on(variant(client, lines, replies, &mut last))?;
        drop(runtime);
        let Some(seq) = ended else { return Ok(()) };
        send(replies, &Reply::Ok { seq, text: None, tools: None });
    }
}

/// Performs verbs until the variant ends; the number of its `end`, or none at the end of all. `last` is the number of the
/// last request, however many variants ago.
async fn variant(
    client: &BuiltinClient,
    lines: &mut UnboundedReceiver<io::Result<Vec<u8>>>,
    replies: &Sender<Vec<u8>>,
    last: &mut u64,
) -> io::Result<Option<u64>> {
    let driver = Builtin::new(client.policy_value(), None);
    while let Some(line) = lines.recv().await {
        let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
        let request: Request = serde_json::from_slice(&line?)
            .map_err(|problem| invalid(format!("expected a request: {problem}")))?;
        let seq = request.seq;
        if seq <= *last {
            // Replies and cancellations go by number.
            return Err(invalid(format!("expected a request numbered above {last}, saw {seq}")));
        }
        *last = seq;
        match request.asked().map_err(invalid)? {
            Asked::Hello => {
                // It may be asked to hear that all verbs before it have begun.
                yield_now().await;
                send(replies, &hello(client, seq));
            }
            Asked::End => {
                // Verbs that need not wait for anything are answered before.
                yield_now().await;
                return Ok(Some(seq));
            }
            Asked::Verb(client, verb) => {
                let performed = driver.perform(&client, &seq.to_string(), verb);
                let replies = replies.clone();
                tokio::spawn(async move { send(&replies, &Reply::new(seq, performed.await)) });
            }
        }
    }
    Ok(None)
}

fn hello(client: &BuiltinClient, seq: u64) -> Hello {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let verbs: Vec<&str> = VERBS.into_iter().filter(|verb| performs(verb)).collect();
    Hello {
        seq,
        reply: HelloReply::Ok,
        name: client.name().to_owned(),
        version: client.version().to_owned(),
        language: "rust".to_owned(),
        runtime: "none".to_owned(),
        revisions: names(client.revisions()),
        verbs: names(&verbs),
        limits: names(Limits::NAMES),
        issues: concat!(env!("CARGO_PKG_REPOSITORY"), "/issues").to_owned(),
        policy: client.policy().map(str::to_owned),
    }
}

/// Whether the built-in client can do what a verb of the protocol says.
fn performs(verb: &str) -> bool {
    let request = Request { client: Some(String::new()), of: Some(0), ..Request::plain(1, verb) };
    !matches!(request.asked(), Ok(Asked::Verb(_, Verb::Unheard(_))))
}

fn send(replies: &Sender<Vec<u8>>, reply: &impl Serialize) {
    // A reply is made of texts and numbers: it can always be written. Nobody listens once stdout is closed.
    if let Ok(mut line) = serde_json::to_vec(reply) {
        line.push(b'\n');
        let _unheard = replies.send(line);
    }
}

#[cfg(test)]
mod tests;
