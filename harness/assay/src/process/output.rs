//! What a process prints on stderr, read with bounds by a thread that ends with it.

use super::shown;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much of stderr is kept.
const TAIL: usize = 4 << 10;

/// The end of a process's stderr. All of it is read, so that the process never waits for us.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    total: Arc<AtomicU64>,
    reader: Option<JoinHandle<()>>,
}

impl Tail {
    pub(super) fn of(stderr: Option<impl Read + Send + 'static>) -> Self {
        let (kept, total) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)));
        let (tail, counted) = (Arc::clone(&kept), Arc::clone(&total));
        let reader = stderr.map(|mut stderr| {
            thread::spawn(move || {
                let mut space = [0; 4096];
                while let Ok(read @ 1..) = stderr.read(&mut space) {
                    counted.fetch_add(u64::try_from(read).unwrap_or(u64::MAX), Ordering::Relaxed);
                    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                    tail.extend_from_slice(&space[..read]);
                    let surplus = tail.len().saturating_sub(TAIL);
                    tail.drain(..surplus);
                }
            })
        });
        Self { kept, total, reader }
    }

    /// Waits until all of it has come, but no longer than this: whoever else holds its other end may keep it open.
    pub(super) fn wait(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Its last lines, indented and safe to show; nothing if there are none.
    pub(super) fn shown(&self) -> String {
        let tail = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let lines: Vec<&[u8]> = tail.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let last = lines.len().saturating_sub(10);
        lines.iter().skip(last).fold(String::new(), |text, line| text + "\n  " + &shown(line))
    }

    /// How many bytes there were.
    pub(super) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }
}
