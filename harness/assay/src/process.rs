//! Processes of others: started so that they cannot outlive the harness, and gone afterwards.
//!
//! Each has a process group (behind a guard, a session), a home and a temporary folder of its own, and of the
//! environment nothing but `PATH`. On Linux it gets a signal should the harness die, and what it leaves behind becomes
//! the harness's own children, which is how a grandchild in another session is found. SDK servers and drivers are such
//! processes.

pub mod guard;
mod home;
pub mod memory;
mod output;
mod strays;

use crate::receipt::observation::ProcessRecord;
use crate::source::escape;
use home::Home;
use output::Tail;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the last lines of a process that has ended may take to come.
const LAST_LINES: Duration = Duration::from_secs(1);

/// A running process. Dropped without [`Process::stop`] it is killed.
#[derive(Debug)]
pub struct Process {
    name: String,
    runtime: String,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Tail,
    isolation: Vec<String>,
    /// Stands in the environment of the process and all it starts.
    token: String,
    gone: Option<ExitStatus>,
    _home: Home,
}

impl Process {
    /// Starts a program with its arguments. `name` and `runtime` are for the record.
    ///
    /// # Errors
    /// There is no program in `words`, or the system does not start it.
    pub fn spawn(name: &str, runtime: &str, words: &[OsString]) -> Result<Self, SpawnError> {
        use std::os::unix::process::CommandExt as _;
        let failed = |source: io::Error| SpawnError::System { source };
        let home = Home::new().map_err(failed)?;
        let token = home.path().to_string_lossy().into_owned();
        let (mut command, guarded) = guard::command(words).ok_or(SpawnError::NoCommand)?;
        let subreaper = strays::adopt();
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs([("HOME", &token), ("TMPDIR", &token), (strays::MARK, &token)])
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !guarded {
            // A guard opens a session, which is a group too, and which the leader of a group could not.
            command.process_group(0);
        }
        let mut child = strays::spawn(&mut command, &token).map_err(failed)?;
        let mut isolation = vec!["process group", "scrubbed environment", "private home"];
        isolation.extend(guarded.then_some("parent-death signal"));
        isolation.extend(subreaper.then_some("subreaper"));
        Ok(Self {
            name: name.to_owned(),
            runtime: runtime.to_owned(),
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: Tail::of(child.stderr.take()),
            child,
            isolation: isolation.into_iter().map(str::to_owned).collect(),
            token,
            gone: None,
            _home: home,
        })
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The writing end of its stdin. What is taken must be dropped before [`Process::stop`] can close it.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// The reading end of its stdout.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// The last lines of its stderr, each on a line of its own, safe to show; nothing if there are none. Of a process
    /// that has ended, all that it printed counts.
    #[must_use]
    pub fn stderr(&self) -> String {
        if self.gone.is_some() {
            self.stderr.wait(LAST_LINES);
        }
        self.stderr.shown()
    }

    /// How many bytes it has written to stderr.
    #[must_use]
    pub fn stderr_bytes(&self) -> u64 {
        self.stderr.total()
    }

    /// How it has ended, in words, if it has within this time.
    pub fn ended(&mut self, at_most: Duration) -> Option<String> {
        self.wait(at_most).map(describe)
    }

    /// Ends the process: closes its stdin, then asks its group to terminate, then kills it, each within its bound.
    /// Nothing of it is left afterwards.
    pub fn stop(&mut self, leave: Duration, terminate: Duration, port: Option<u16>) -> ProcessRecord {
        drop(self.stdin.take());
        if self.wait(leave).is_some() {
            return self.record(false, port);
        }
        self.signal(rustix::process::Signal::TERM);
        if self.wait(terminate).is_some() {
            return self.record(true, port);
        }
        self.kill(port)
    }

    /// Kills the process and all that belongs to it.
    pub fn kill(&mut self, port: Option<u16>) -> ProcessRecord {
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
        strays::reap(&self.token, self.child.id(), self.gone.is_some());
        ProcessRecord {
            name: self.name.clone(),
            runtime: self.runtime.clone(),
            pid: self.child.id(),
            port,
            ended: self.gone.map_or_else(|| "still there".to_owned(), describe),
            killed,
            fault: None,
            port_refused: port.map(refuses),
            isolation: self.isolation.clone(),
        }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        // The group has the leader's id; it may be gone as a whole.
        let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) else {
            return;
        };
        if rustix::process::kill_process_group(group, signal).is_err() && self.gone.is_none() {
            // The guard has not opened its session yet.
            let _gone = rustix::process::kill_process(group, signal);
        }
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

/// Why a process was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The command is empty.
    #[error("expected a start command, it is empty")]
    NoCommand,
    /// The system does not start it.
    #[error("cannot be started: {source}")]
    System {
        /// What the system said.
        source: io::Error,
    },
}

/// Ends every process below this one, whoever started it: for a harness that is about to end out of turn. No process
/// can be started afterwards.
pub fn end_all() {
    strays::end_all();
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

/// The beginning of what a process printed, safe to show on one line.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(200)).unwrap_or_default());
    escape(&text).into_owned()
}
