//! What a server prints, read with bounds by a thread that ends with it.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

/// The most bytes of a ready line.
pub(super) const LINE_MAX: usize = 64 << 10;

/// The most bytes on stdout after it.
const REST_MAX: usize = 1 << 20;

/// Why there is no first line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NoLine {
    /// It did not come in time.
    TooLate,
    /// It is over [`LINE_MAX`].
    TooLong,
    /// The output ended before.
    Ended,
}

/// A process's stdout: its first line counts, the rest is dropped. Over [`REST_MAX`] it is no longer read.
#[derive(Debug)]
pub(super) struct Lines {
    first: mpsc::Receiver<Result<Vec<u8>, NoLine>>,
    flooded: Arc<AtomicBool>,
}

impl Lines {
    pub(super) fn of(stdout: Option<impl Read + Send + 'static>) -> Self {
        let (sender, first) = mpsc::channel();
        let flooded = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&flooded);
        if let Some(mut stdout) = stdout {
            thread::spawn(move || {
                let line = first_line(&mut stdout);
                let whole = line.is_ok();
                // Nobody may be waiting any more.
                let _unheard = sender.send(line);
                if whole && drain(&mut stdout) {
                    told.store(true, Ordering::Relaxed);
                }
            });
        }
        Self { first, flooded }
    }

    /// The first line without its end.
    pub(super) fn first(&self, until: Instant) -> Result<Vec<u8>, NoLine> {
        match self.first.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(NoLine::TooLate),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(NoLine::Ended),
        }
    }

    /// Whether too much came after the first line.
    pub(super) fn flooded(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }
}

fn first_line(stdout: &mut impl Read) -> Result<Vec<u8>, NoLine> {
    let mut line = Vec::new();
    let mut space = [0; 1024];
    loop {
        let read = stdout.read(&mut space).unwrap_or(0);
        let fresh = space.get(..read).unwrap_or_default();
        if fresh.is_empty() {
            return Err(NoLine::Ended);
        }
        if let Some(end) = memchr::memchr(b'\n', fresh) {
            line.extend_from_slice(&fresh[..end]);
            return Ok(line);
        }
        line.extend_from_slice(fresh);
        if line.len() > LINE_MAX {
            return Err(NoLine::TooLong);
        }
    }
}

/// Reads to the end; whether it was too much.
fn drain(stdout: &mut impl Read) -> bool {
    let mut space = [0; 4096];
    let mut total = 0;
    loop {
        match stdout.read(&mut space) {
            Ok(0) | Err(_) => return false,
            Ok(read) => total += read,
        }
        if total > REST_MAX {
            return true;
        }
    }
}
