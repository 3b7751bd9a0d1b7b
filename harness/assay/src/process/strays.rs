//! What a process leaves behind: children of its own that outlived it, in whichever group or session.

/// Stands in the environment of every process the harness starts, with a value of its own.
pub(super) const MARK: &str = "MCP_ASSAY_PROCESS";

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, reap};

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{adopt, reap};

#[cfg(target_os = "linux")]
mod linux {
    use super::MARK;
    use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};
    use std::fs;

    /// Makes orphans below this process its own children. Whether that is so.
    pub(in super::super) fn adopt() -> bool {
        set_child_subreaper(Some(rustix::process::getpid())).is_ok()
    }

    /// Kills and reaps the children of this process that carry the token, but for the one that std waits for.
    pub(in super::super) fn reap(token: &str, own: u32) {
        let mark = format!("{MARK}={token}");
        let session = seat(std::process::id()).map(|seat| seat.session);
        // Killing a child may make its own children ours; a few rounds are more than any of our servers need.
        for _ in 0..8 {
            let mut any = false;
            for child in children().into_iter().filter(|pid| *pid != own) {
                let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) else { continue };
                let environ = fs::read(format!("/proc/{child}/environ")).unwrap_or_default();
                let carries = environ.split(|b| *b == 0).any(|entry| entry == mark.as_bytes());
                // What has ended, or is just about to, carries nothing any more. It is no child that std waits for if
                // it stands in the process's group, or in a session that we never opened.
                let ended = || {
                    seat(child).is_some_and(|seat| {
                        environ.is_empty()
                            && (seat.group == own || session.is_some_and(|ours| ours != seat.session))
                    })
                };
                if carries || ended() {
                    any = true;
                    let _gone = kill_process(pid, Signal::KILL);
                    let _reaped = waitpid(Some(pid), WaitOptions::empty());
                }
            }
            if !any {
                return;
            }
        }
    }

    /// Where a process stands among the others.
    struct Seat {
        parent: u32,
        group: u32,
        session: u32,
    }

    fn seat(pid: u32) -> Option<Seat> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before may hold anything, brackets too.
        let mut words = stat.rsplit_once(')')?.1.split_whitespace().skip(1).map(str::parse);
        let mut next = || words.next()?.ok();
        Some(Seat { parent: next()?, group: next()?, session: next()? })
    }

    /// All children of this process. They are looked for by their parent: the lists of children that stand with each
    /// thread leave some out while threads and children come and go.
    fn children() -> Vec<u32> {
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter(|pid| seat(*pid).is_some_and(|seat| seat.parent == std::process::id())).collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    /// Only Linux can.
    pub(in super::super) fn adopt() -> bool {
        false
    }

    /// Nothing can be found.
    pub(in super::super) fn reap(_token: &str, _own: u32) {}
}
