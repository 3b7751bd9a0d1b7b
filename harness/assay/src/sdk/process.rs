//! A server's process: it says when it serves, and ends when it is told to.

mod output;

use crate::process::{Process, SpawnError, shown};
use crate::receipt::observation::ProcessRecord;
use output::Lines;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

/// How long a process may take for its steps.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// From the start to the ready line.
    pub ready: Duration,
    /// From the end of its stdin to its own end.
    pub leave: Duration,
    /// From SIGTERM to its end.
    pub terminate: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { ready: seconds(60), leave: seconds(5), terminate: seconds(3) }
    }
}

impl Patience {
    /// The same with all times multiplied, for slow machines.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        let Self { ready, leave, terminate } = self;
        Self { ready: ready.mul_f64(by), leave: leave.mul_f64(by), terminate: terminate.mul_f64(by) }
    }
}

/// What a server prints once it serves.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Always true.
    pub ready: bool,
    /// The server's name.
    pub name: String,
    /// Its mode.
    pub mode: String,
    /// The port of 127.0.0.1 it listens on.
    pub port: u16,
    /// Its endpoint.
    pub url: String,
    /// Its process id.
    pub pid: u32,
    /// The versions of the packages it runs on.
    pub versions: BTreeMap<String, String>,
}

/// A server that serves. Dropped without [`Server::stop`] it is killed.
#[derive(Debug)]
pub struct Server {
    process: Process,
    lines: Lines,
    ready: Ready,
    patience: Patience,
}

impl Server {
    /// Starts a server and waits for its ready line. `name` and `runtime` are for the record.
    ///
    /// # Errors
    /// It does not start, ends early, floods its output, or says something else than that it is ready; with what
    /// became of its process. Nothing of it is left then.
    pub fn start(
        name: &str,
        runtime: &str,
        command: &[OsString],
        patience: Patience,
    ) -> Result<Self, NotServing> {
        let mut process = Process::spawn(name, runtime, command).map_err(|problem| NotServing {
            problem: problem.into(),
            stderr: String::new(),
            process: None,
        })?;
        let lines = Lines::of(process.take_stdout());
        match ready(&mut process, &lines, patience) {
            Ok(ready) => Ok(Self { process, lines, ready, patience }),
            Err(problem) => {
                let record = process.kill(None);
                // All of it has come by now.
                Err(NotServing { problem, stderr: process.stderr(), process: Some(Box::new(record)) })
            }
        }
    }

    /// What the server said.
    #[must_use]
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.ready.port).into()
    }

    /// How it has ended, if it has: it should not before [`Server::stop`].
    pub fn ended(&mut self) -> Option<String> {
        if self.lines.flooded() {
            return Some("it flooded its output".to_owned());
        }
        self.process.ended(Duration::ZERO).map(|how| format!("it ended with {how}"))
    }

    /// Ends the server: closes its stdin, then asks its group to terminate, then kills it, each within its bound.
    #[must_use]
    pub fn stop(mut self) -> ProcessRecord {
        let Patience { leave, terminate, .. } = self.patience;
        self.process.stop(leave, terminate, Some(self.ready.port))
    }
}

fn ready(process: &mut Process, lines: &Lines, patience: Patience) -> Result<Ready, StartError> {
    let line = match lines.first(Instant::now() + patience.ready) {
        Ok(line) => line,
        Err(output::NoLine::TooLate) => {
            let seconds = patience.ready.as_secs_f64();
            return Err(StartError::Silent { seconds });
        }
        Err(output::NoLine::TooLong) => return Err(StartError::Flood),
        Err(output::NoLine::Ended) => {
            let ended = process
                .ended(Duration::from_secs(1))
                .map_or_else(|| "its output ended".to_owned(), |how| format!("it ended with {how}"));
            return Err(StartError::Ended { ended });
        }
    };
    let wrong = |problem: String| StartError::Other { line: shown(&line), problem };
    let ready: Ready = serde_json::from_slice(&line).map_err(|e| wrong(e.to_string()))?;
    if ready.ready && ready.port != 0 {
        Ok(ready)
    } else {
        Err(wrong("it is not ready, or has no port".to_owned()))
    }
}

/// A server that does not serve.
#[derive(Debug, thiserror::Error)]
#[error("{problem}{stderr}")]
pub struct NotServing {
    /// Why. It is the same each time.
    pub problem: StartError,
    /// The end of its stderr, safe to show. It may be another each time, and belongs into no claim.
    pub stderr: String,
    /// What became of its process, if there was one.
    pub process: Option<Box<ProcessRecord>>,
}

/// Why a server does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no process.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It said nothing in time.
    #[error("expected a ready line within {seconds} s, saw none")]
    Silent {
        /// How long was waited.
        seconds: f64,
    },
    /// It ended, or closed its stdout, before it was ready.
    #[error("expected a ready line, {ended}")]
    Ended {
        /// How.
        ended: String,
    },
    /// It printed too much.
    #[error("expected a ready line, saw {} bytes without one", output::LINE_MAX)]
    Flood,
    /// It printed something else.
    #[error("expected a ready line, saw {line}: {problem}")]
    Other {
        /// What it printed, safe to show.
        line: String,
        /// What is wrong with it.
        problem: String,
    },
}

#[cfg(test)]
mod tests;
