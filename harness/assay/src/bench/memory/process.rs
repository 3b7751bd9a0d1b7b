//! The client as a process of its own: it speaks the driver protocol, and the system tells its size.

use crate::process::memory;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long a reply may take. A call's own deadline is shorter.
const PATIENCE: Duration = Duration::from_secs(180);

/// The client's deadline for a call, in milliseconds.
const TIMEOUT: u64 = 120_000;

/// Its deadline for a control reply, which must wait for a connection where calls hold them all.
const CONTROL_TIMEOUT: u64 = 200;

/// A driver process. Dropped, it is killed.
pub(super) struct Client {
    child: Child,
    stdin: ChildStdin,
    replies: Receiver<String>,
    seq: u64,
}

impl Client {
    /// Starts this program again as a driver.
    pub(super) fn start() -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
        let mut command = Command::new(program);
        command.arg("driver").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|e| format!("cannot start the driver: {e}"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("expected pipes to the driver".to_owned());
        };
        let (lines, replies) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout).lines();
            while let Some(Ok(line)) = stdout.next() {
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, stdin, replies, seq: 0 })
    }

    /// Connects a client with this response limit.
    pub(super) fn connect(&mut self, url: &str, max_response_bytes: usize) -> Result<(), String> {
        let limits = json!({
            "timeout": TIMEOUT, "control_timeout": CONTROL_TIMEOUT, "max_response_bytes": max_response_bytes,
        });
        self.ask(json!({
            "verb": "connect", "client": "a", "url": url, "headers": [],
            "protocol_version": "2025-06-18", "limits": limits,
        }))?;
        let reply = self.reply()?;
        if reply["reply"] == "ok" { Ok(()) } else { Err(format!("the driver does not connect: {reply}")) }
    }

    /// Calls a tool so many times at once, and waits until every call has its outcome; how many reached a deadline.
    pub(super) fn calls(&mut self, tool: &str, calls: usize) -> Result<usize, String> {
        for _ in 0..calls {
            self.ask(json!({ "verb": "call_tool", "client": "a", "tool": tool, "arguments": {} }))?;
        }
        let mut late = 0;
        for _ in 0..calls {
            late += usize::from(self.reply()?["kind"] == "timeout");
        }
        Ok(late)
    }

    /// Forgets the highest resident size so far, where the system lets it; the highest from now on starts here.
    pub(super) fn reset_peak(&mut self) -> Result<u64, String> {
        // Refused, the highest size so far stays: growth is then counted from there, which hides nothing above it.
        let _refused = memory::forget_peak(self.child.id());
        self.peak()
    }

    /// The highest resident size, in bytes.
    pub(super) fn peak(&self) -> Result<u64, String> {
        let pid = self.child.id();
        memory::peak(pid).ok_or_else(|| format!("expected a line VmHWM in /proc/{pid}/status"))
    }

    fn ask(&mut self, mut request: Value) -> Result<(), String> {
        self.seq += 1;
        request["seq"] = self.seq.into();
        let line = format!("{request}\n");
        self.stdin.write_all(line.as_bytes()).map_err(|e| format!("the driver is gone: {e}"))
    }

    fn reply(&self) -> Result<Value, String> {
        let line = self.replies.recv_timeout(PATIENCE).map_err(|e| format!("no reply of the driver: {e}"))?;
        serde_json::from_str(&line).map_err(|e| format!("expected a reply of the driver: {e}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}
