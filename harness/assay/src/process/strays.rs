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
    use std::path::Path;

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
                let carries = fs::read(format!("/proc/{child}/environ"))
                    .is_ok_and(|environ| environ.split(|b| *b == 0).any(|entry| entry == mark.as_bytes()));
                // What has ended carries nothing any more. It is no child that std waits for if it stands in the
                // process's group, or in a session that we never opened.
                let ended = || {
                    seat(child).is_some_and(|seat| {
                        seat.ended && (seat.group == own || session.is_some_and(|ours| ours != seat.session))
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
        /// It only waits to be reaped.
        ended: bool,
        group: u32,
        session: u32,
    }

    fn seat(pid: u32) -> Option<Seat> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before may hold anything, brackets too.
        let mut words = stat.rsplit_once(')')?.1.split_whitespace();
        let ended = words.next()? == "Z";
        let (_parent, group, session) = (words.next()?, words.next()?, words.next()?);
        Some(Seat { ended, group: group.parse().ok()?, session: session.parse().ok()? })
    }

    fn children() -> Vec<u32> {
        let Ok(threads) = fs::read_dir("/proc/self/task") else { return Vec::new() };
        let of = |thread: &Path| fs::read_to_string(thread.join("children")).unwrap_or_default();
        let lists: Vec<String> = threads.filter_map(|thread| Some(of(&thread.ok()?.path()))).collect();
        lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
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
