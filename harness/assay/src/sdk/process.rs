//! A server's process: started so that it cannot outlive the harness, read with bounds, and gone afterwards.
//!
//! It has a process group, a home and a temporary folder of its own, and of the environment nothing but `PATH`. On
//! Linux it gets a signal should the harness die, and what it leaves behind becomes the harness's own children, which
//! is how a grandchild in another session is found.

mod output;
mod strays;

use super::guard;
use crate::receipt::observation::ProcessRecord;
use crate::source::escape;
use output::{Lines, Tail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

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
        Self { ready: seconds(60), leave: seconds(3), terminate: seconds(2) }
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
    ready: Ready,
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
        let mut process = Process::spawn(name, runtime, command, patience)
            .map_err(|problem| NotServing { problem, process: None })?;
        match process.ready() {
            Ok(ready) => Ok(Self { process, ready }),
            Err(problem) => {
                let record = process.kill(None);
                Err(NotServing { problem, process: Some(Box::new(record)) })
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
        self.process.ended()
    }

    /// Ends the server: closes its stdin, then asks its group to terminate, then kills it, each within its bound.
    #[must_use]
    pub fn stop(mut self) -> ProcessRecord {
        self.process.stop(Some(self.ready.port))
    }
}

#[derive(Debug)]
struct Process {
    name: String,
    runtime: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines,
    stderr: Tail,
    patience: Patience,
    isolation: Vec<String>,
    /// Stands in the environment of the process and all it starts.
    token: String,
    gone: Option<ExitStatus>,
    _home: TempDir,
}

impl Process {
    fn spawn(name: &str, runtime: &str, words: &[OsString], patience: Patience) -> Result<Self, StartError> {
        use std::os::unix::process::CommandExt as _;
        let failed = |source: io::Error| StartError::Spawn { source };
        let home = tempfile::Builder::new().prefix("mcp-assay-").tempdir().map_err(failed)?;
        let token = home.path().to_string_lossy().into_owned();
        let (mut command, guarded) = guard::command(words).ok_or(StartError::NoCommand)?;
        let subreaper = strays::adopt();
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs([("HOME", &token), ("TMPDIR", &token), (strays::MARK, &token)])
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().map_err(failed)?;
        let mut isolation = vec!["process group", "scrubbed environment", "private home"];
        isolation.extend(guarded.then_some("parent-death signal"));
        isolation.extend(subreaper.then_some("subreaper"));
        Ok(Self {
            name: name.to_owned(),
            runtime: runtime.to_owned(),
            stdin: child.stdin.take(),
            lines: Lines::of(child.stdout.take()),
            stderr: Tail::of(child.stderr.take()),
            child,
            patience,
            isolation: isolation.into_iter().map(str::to_owned).collect(),
            token,
            gone: None,
            _home: home,
        })
    }

    fn ready(&mut self) -> Result<Ready, StartError> {
        let until = Instant::now() + self.patience.ready;
        let line = match self.lines.first(until) {
            Ok(line) => line,
            Err(output::NoLine::TooLate) => {
                let seconds = self.patience.ready.as_secs_f64();
                return Err(StartError::Silent { seconds, stderr: self.stderr.shown() });
            }
            Err(output::NoLine::TooLong) => return Err(StartError::Flood),
            Err(output::NoLine::Ended) => {
                let ended = self.wait(Duration::from_secs(1)).map_or_else(
                    || "its output ended".to_owned(),
                    |status| format!("it ended with {}", describe(status)),
                );
                return Err(StartError::Ended { ended, stderr: self.stderr.shown() });
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

    fn ended(&mut self) -> Option<String> {
        if self.lines.flooded() {
            return Some("it flooded its output".to_owned());
        }
        self.wait(Duration::ZERO).map(|status| format!("it ended with {}", describe(status)))
    }

    fn stop(&mut self, port: Option<u16>) -> ProcessRecord {
        drop(self.stdin.take());
        if self.wait(self.patience.leave).is_none() {
            self.signal(rustix::process::Signal::TERM);
            if self.wait(self.patience.terminate).is_none() {
                return self.kill(port);
            }
            return self.record(true, port);
        }
        self.record(false, port)
    }

    fn kill(&mut self, port: Option<u16>) -> ProcessRecord {
        drop(self.stdin.take());
        let killed = self.gone.is_none() && self.wait(Duration::ZERO).is_none();
        self.signal(rustix::process::Signal::KILL);
        // SIGKILL cannot be ignored; only a process that hangs in the kernel stays.
        let _gone = self.wait(Duration::from_secs(5));
        self.record(killed, port)
    }

    fn record(&mut self, killed: bool, port: Option<u16>) -> ProcessRecord {
        // Others of its group, and those that left it.
        self.signal(rustix::process::Signal::KILL);
        strays::reap(&self.token, self.child.id());
        ProcessRecord {
            name: self.name.clone(),
            runtime: self.runtime.clone(),
            pid: self.child.id(),
            port,
            ended: self.gone.map_or_else(|| "still there".to_owned(), describe),
            killed,
            port_refused: port.map(refuses),
            isolation: self.isolation.clone(),
        }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        // The group has the leader's id; it may be gone as a whole.
        let group = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let _gone = group.map(|group| rustix::process::kill_process_group(group, signal));
    }

    /// Waits until the process has ended, at most this long.
    fn wait(&mut self, at_most: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + at_most;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                self.gone = Some(status);
            }
            if self.gone.is_some() || Instant::now() >= until {
                return self.gone;
            }
            sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.gone.is_none() {
            let _record = self.kill(None);
        }
    }
}

/// Whether nobody takes a connection at this port any more.
fn refuses(port: u16) -> bool {
    let address = (Ipv4Addr::LOCALHOST, port).into();
    let refused = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    refused.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(200)).unwrap_or_default());
    escape(&text).into_owned()
}

/// A server that does not serve.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct NotServing {
    /// Why.
    pub problem: StartError,
    /// What became of its process, if there was one.
    pub process: Option<Box<ProcessRecord>>,
}

/// Why a server does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The command is empty.
    #[error("expected a start command, it is empty")]
    NoCommand,
    /// The system does not start it.
    #[error("cannot be started: {source}")]
    Spawn {
        /// What the system said.
        source: io::Error,
    },
    /// It said nothing in time.
    #[error("expected a ready line within {seconds} s, saw none{stderr}")]
    Silent {
        /// How long was waited.
        seconds: f64,
        /// The end of its stderr, safe to show.
        stderr: String,
    },
    /// It ended, or closed its stdout, before it was ready.
    #[error("expected a ready line, {ended}{stderr}")]
    Ended {
        /// How.
        ended: String,
        /// The end of its stderr, safe to show.
        stderr: String,
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
