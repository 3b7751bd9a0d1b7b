//! One process and the lines between it and the harness.

use super::Launch;
use crate::driver::protocol::{Hello, LINE_MAX, Numbered, Request};
use crate::process::{Process, memory, shown};
use crate::receipt::observation::ProcessRecord;
use crate::timeline::Taken;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How often memory and stderr are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// How long a process whose output ended may take to show how it has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What hears of a reply: its line, or what the driver did in its place.
pub(super) type Answer = Box<dyn FnOnce(Result<Vec<u8>, String>) + Send>;

/// A driver's process, and who waits for its replies.
#[derive(Debug)]
pub(super) struct Link {
    shared: Arc<Shared>,
    /// What is written to its stdin; the thread behind it ends with this.
    requests: Mutex<Option<Sender<Vec<u8>>>>,
    launch: Launch,
    measured: AtomicBool,
}

struct Shared {
    process: Mutex<Process>,
    state: Mutex<State>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("process", &self.process).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    /// The number of the last request.
    last: u64,
    waiting: HashMap<u64, Answer>,
    /// What it did that it must not.
    fault: Option<String>,
    /// It was told to leave: what it does now is no fault.
    leaving: bool,
}

impl Link {
    /// Starts the process.
    pub(super) fn start(launch: &Launch) -> Result<Self, String> {
        let mut process = Process::spawn(&launch.name, &launch.runtime, &launch.command)
            .map_err(|problem| problem.to_string())?;
        let (stdin, stdout) = (process.take_stdin(), process.take_stdout());
        let shared = Arc::new(Shared { process: Mutex::new(process), state: Mutex::default() });
        let (requests, lines) = channel::<Vec<u8>>();
        if let Some(mut stdin) = stdin {
            // A driver that does not read must not keep the harness from its deadlines.
            thread::spawn(move || lines.iter().try_for_each(|line| stdin.write_all(&line)));
        }
        if let Some(stdout) = stdout {
            let reader = Arc::downgrade(&shared);
            thread::spawn(move || read(BufReader::new(stdout), &reader));
        }
        let (watched, caps) = (Arc::downgrade(&shared), launch.caps);
        thread::spawn(move || {
            while let Some(shared) = watched.upgrade()
                && shared.within(caps)
            {
                drop(shared);
                thread::sleep(LOOK);
            }
        });
        Ok(Self {
            shared,
            requests: Mutex::new(Some(requests)),
            launch: launch.clone(),
            measured: AtomicBool::new(false),
        })
    }

    /// Asks who is there.
    pub(super) fn hello(&self) -> Result<Hello, String> {
        let (told, heard) = channel();
        self.ask(
            |seq| Ok(Request::plain(seq, "hello")),
            Box::new(move |reply| {
                let _gone = told.send(reply);
            }),
        )?;
        let line = self.heard(&heard)??;
        serde_json::from_slice(&line).map_err(|problem| {
            self.shared.breaks(format!(
                "expected a reply to hello as the protocol has it: {}, saw {}",
                shown(problem.to_string().as_bytes()),
                shown(&line)
            ))
        })
    }

    /// What comes in time, unless nobody wants to hear it any more.
    fn heard<T>(&self, heard: &Receiver<T>) -> Result<T, String> {
        let within = self.launch.caps.hello;
        let until = Instant::now() + within;
        loop {
            match heard.recv_timeout(LOOK) {
                Ok(line) => return Ok(line),
                Err(_) if self.launch.stop.load(Ordering::Relaxed) => {
                    return Err("expected a reply to hello, stopped before it came".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(_) => {
                    let seconds = within.as_secs_f64();
                    return Err(format!("expected a reply to hello within {seconds} s, saw none"));
                }
            }
        }
    }

    /// Sends a request, and lets `waiting` hear of its reply; its number.
    ///
    /// # Errors
    /// What the driver did that it must not; `waiting` hears nothing then.
    pub(super) fn ask(
        &self,
        request: impl FnOnce(u64) -> Result<Request, String>,
        waiting: Answer,
    ) -> Result<u64, String> {
        let mut state = self.shared.state();
        if let Some(fault) = &state.fault {
            return Err(fault.clone());
        }
        let seq = state.last + 1;
        let request = request(seq)?;
        let mut line = serde_json::to_vec(&request).map_err(|problem| problem.to_string())?;
        if line.len() > LINE_MAX {
            return Err(format!("a request of at most {LINE_MAX} bytes, this one has {}", line.len()));
        }
        line.push(b'\n');
        state.last = seq;
        state.waiting.insert(seq, waiting);
        // Without a reader at the other end the process has gone, which its stdout tells.
        let _gone = self.requests().as_ref().map(|requests| requests.send(line));
        Ok(seq)
    }

    fn requests(&self) -> MutexGuard<'_, Option<Sender<Vec<u8>>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How much memory the process takes; the next peak counts from now on.
    pub(super) fn memory(&self) -> Option<Taken> {
        self.measured.store(true, Ordering::Relaxed);
        if self.fault().is_some() {
            // It has ended, and its id may be another process's by now.
            return None;
        }
        let pid = self.shared.process().id();
        let peak = memory::peak(pid)?;
        if !memory::forget_peak(pid) {
            return None;
        }
        Some(Taken { peak, now: memory::peak(pid)? })
    }

    /// Whether its memory was ever asked for.
    pub(super) fn was_measured(&self) -> bool {
        self.measured.load(Ordering::Relaxed)
    }

    /// How many verbs wait for their replies.
    pub(super) fn waiting(&self) -> usize {
        self.shared.state().waiting.len()
    }

    /// What the driver did that it must not, if it did.
    pub(super) fn fault(&self) -> Option<String> {
        self.shared.state().fault.clone()
    }

    /// Breaks the process off for what it did.
    pub(super) fn breaks(&self, fault: String) -> String {
        self.shared.breaks(fault)
    }

    /// Ends the process: by the end of its stdin, or at once where it has done what it must not.
    pub(super) fn stop(&self) -> ProcessRecord {
        let fault = {
            let mut state = self.shared.state();
            state.leaving = true;
            state.fault.clone()
        };
        // The writer closes stdin once nobody can ask any more.
        drop(self.requests().take());
        let mut process = self.shared.process();
        let caps = self.launch.caps;
        let record = match &fault {
            Some(_) => process.kill(None),
            None => process.stop(caps.leave, caps.terminate, None),
        };
        ProcessRecord { fault, ..record }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves numbers and waiters in order.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what the driver did that it must not, lets everybody who waits know, and kills it. The first fault
    /// counts.
    fn breaks(&self, fault: String) -> String {
        let (fault, waiting) = {
            let mut state = self.state();
            if state.leaving {
                return fault;
            }
            let fault = state.fault.get_or_insert(fault).clone();
            (fault, std::mem::take(&mut state.waiting))
        };
        let _record = self.process().kill(None);
        for waiting in waiting.into_values() {
            waiting(Err(fault.clone()));
        }
        fault
    }

    /// Takes one line of its stdout.
    fn take(&self, line: Vec<u8>) -> Result<(), String> {
        let numbered: Numbered = serde_json::from_slice(&line).map_err(|problem| {
            format!("expected a reply: {}, saw {}", shown(problem.to_string().as_bytes()), shown(&line))
        })?;
        let waiting = {
            let mut state = self.state();
            let waiting = state.waiting.remove(&numbered.seq);
            match waiting {
                Some(waiting) => waiting,
                None if (1..=state.last).contains(&numbered.seq) => {
                    return Err(format!("expected one reply to request {}, saw a second", numbered.seq));
                }
                None => {
                    return Err(format!(
                        "expected replies to requests up to {}, saw one to {}",
                        state.last, numbered.seq
                    ));
                }
            }
        };
        waiting(Ok(line));
        Ok(())
    }

    /// Whether the process keeps within its caps; one that does not is broken off.
    fn within(&self, caps: super::Caps) -> bool {
        if self.state().leaving || self.state().fault.is_some() {
            return false;
        }
        let (pid, stderr) = {
            let process = self.process();
            (process.id(), process.stderr_bytes())
        };
        let held = memory::resident(pid).unwrap_or(0);
        let fault = if held > caps.memory {
            format!("expected at most {} bytes of memory, saw it hold more", caps.memory)
        } else if stderr > caps.stderr {
            format!("expected at most {} bytes on stderr, saw more", caps.stderr)
        } else {
            return true;
        };
        let _told = self.breaks(fault);
        false
    }

    /// How the process has ended, now that its output has.
    fn ended(&self) -> String {
        let mut process = self.process();
        let how = process.ended(LAST_WORDS);
        let how = how.map_or_else(|| "its output end".to_owned(), |how| format!("it end with {how}"));
        format!("expected it to serve, saw {how}{}", process.stderr())
    }
}

/// Reads replies until the output ends or is none any more.
fn read(mut stdout: impl BufRead, shared: &Weak<Shared>) {
    let most = u64::try_from(LINE_MAX).unwrap_or(u64::MAX).saturating_add(1);
    loop {
        let mut line = Vec::new();
        let read = (&mut stdout).take(most).read_until(b'\n', &mut line);
        let Some(shared) = shared.upgrade() else { return };
        let ends = line.pop_if(|byte| *byte == b'\n').is_some();
        let fault = match read {
            Ok(1..) if ends => match shared.take(line) {
                Ok(()) => continue,
                Err(fault) => fault,
            },
            Ok(1..) if line.len() > LINE_MAX => {
                format!("expected lines of at most {LINE_MAX} bytes, saw {} without an end", line.len())
            }
            _ => shared.ended(),
        };
        let _told = shared.breaks(fault);
        return;
    }
}
