//! What a process leaves behind: children of its own that outlived it, in whichever group or session, and whatever
//! they made of their environment.
//!
//! The harness is a child subreaper, so they become its own children. All that it starts itself is told apart from
//! them: programs that std runs stand in the harness's own group and session, which what a guard started cannot enter
//! any more; and every [`Process`](super::Process) stands in a table while it lives.

/// Stands in the environment of every process the harness starts, with a value of its own.
pub(super) const MARK: &str = "MCP_ASSAY_PROCESS";

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, end_all, reap, spawn};

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{adopt, end_all, reap, spawn};

#[cfg(target_os = "linux")]
mod linux {
    use super::MARK;
    use crate::process::guard;
    use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};
    use std::collections::{BTreeMap, BTreeSet};
    use std::process::{Child, Command};
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread::sleep;
    use std::time::{Duration, Instant};
    use std::{fs, io};

    /// The live processes of the harness, each with its mark. Held while one is started, so that nothing takes a
    /// process for a stray that is just about to be entered.
    static LIVE: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());

    /// How long a killed process may take to end.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// How often is looked for strays: killing some may show others.
    const ROUNDS: usize = 64;

    fn live() -> MutexGuard<'static, BTreeMap<u32, String>> {
        // Whole entries are all that is ever written, so a poisoned table is still a true one.
        LIVE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes orphans below this process its own children. Whether that is so.
    pub(in super::super) fn adopt() -> bool {
        set_child_subreaper(Some(rustix::process::getpid())).is_ok()
    }

    /// Starts a process, which is live from then on.
    pub(in super::super) fn spawn(command: &mut Command, token: &str) -> io::Result<Child> {
        let mut live = live();
        let child = command.spawn()?;
        live.insert(child.id(), token.to_owned());
        Ok(child)
    }

    /// Kills and reaps everything below the harness, and starts nothing any more: the harness is about to end.
    pub(in super::super) fn end_all() {
        // Held for good: a process that is started now would outlive us.
        let live = live();
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let processes = processes();
            let mut below = with_descendants(&[std::process::id()], &processes);
            below.remove(&std::process::id());
            if below.is_empty() {
                break;
            }
            for pid in below.into_iter().filter_map(raw) {
                let _gone = kill_process(pid, Signal::KILL);
                // Those that are no children of ours become it, and are reaped in a later round.
                let _reaped = waitpid(Some(pid), WaitOptions::NOHANG);
            }
            sleep(Duration::from_millis(1));
        }
        std::mem::forget(live);
    }

    /// Kills and reaps what a process has left behind. It is live no more if it has `ended`, as it should have.
    pub(in super::super) fn reap(token: &str, own: u32, ended: bool) {
        let mut live = live();
        let mut stuck = BTreeSet::new();
        for _ in 0..ROUNDS {
            let processes = processes();
            let strays: Vec<u32> = processes
                .iter()
                .filter(|(_, seat)| seat.parent == std::process::id())
                .filter(|(pid, seat)| !live.contains_key(pid) && is_stray(**pid, seat, own, token, &live))
                .map(|(pid, _)| *pid)
                .filter(|pid| !stuck.contains(pid))
                .collect();
            if strays.is_empty() {
                break;
            }
            // All below them too, else a chain of them would take a round for each.
            for pid in with_descendants(&strays, &processes) {
                let _gone = raw(pid).map(|pid| kill_process(pid, Signal::KILL));
            }
            stuck.extend(strays.into_iter().filter(|pid| raw(*pid).is_some_and(|pid| !is_reaped(pid))));
        }
        if ended && live.get(&own).is_some_and(|mark| mark == token) {
            live.remove(&own);
        }
    }

    /// Waits for the end of a child that was killed. One that hangs in the kernel does not end, and is left.
    fn is_reaped(pid: Pid) -> bool {
        let until = Instant::now() + PATIENCE;
        while let Ok(None) = waitpid(Some(pid), WaitOptions::NOHANG) {
            if Instant::now() >= until {
                return false;
            }
            sleep(Duration::from_millis(1));
        }
        true
    }

    /// Whether a child of the harness that is in no table was left behind: by the process `own`, or by one that has
    /// gone before it.
    fn is_stray(pid: u32, seat: &Seat, own: u32, token: &str, live: &BTreeMap<u32, String>) -> bool {
        let leads = |leader: u32| leader == seat.group || leader == seat.session;
        if leads(own) {
            return true;
        }
        // What another live process started is that one's, for now.
        let marked = mark_of(pid);
        if marked.as_deref() == Some(token) {
            return true;
        }
        if live.keys().any(|leader| leads(*leader)) || live.values().any(|mark| marked.as_ref() == Some(mark))
        {
            return false;
        }
        // Without a guard there is no session to tell them by; then only the harness's group is its own.
        let here = seat_of(std::process::id());
        here.is_some_and(|here| here.session != seat.session || !guard::is_set() && here.group != seat.group)
    }

    /// The value of [`MARK`] in a process's environment, as it was when its program began.
    fn mark_of(pid: u32) -> Option<String> {
        let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mark = environ.split(|byte| *byte == 0).find_map(|entry| {
            let value = entry.strip_prefix(MARK.as_bytes())?;
            value.strip_prefix(b"=")
        });
        mark.map(|mark| String::from_utf8_lossy(mark).into_owned())
    }

    fn with_descendants(roots: &[u32], processes: &BTreeMap<u32, Seat>) -> BTreeSet<u32> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (pid, seat) in processes {
            children.entry(seat.parent).or_default().push(*pid);
        }
        let (mut found, mut open) = (BTreeSet::new(), roots.to_vec());
        while let Some(pid) = open.pop() {
            if found.insert(pid) {
                open.extend(children.get(&pid).into_iter().flatten());
            }
        }
        found
    }

    fn raw(pid: u32) -> Option<Pid> {
        i32::try_from(pid).ok().and_then(Pid::from_raw)
    }

    /// Where a process stands among the others.
    struct Seat {
        parent: u32,
        group: u32,
        session: u32,
    }

    fn seat_of(pid: u32) -> Option<Seat> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before may hold anything, brackets too.
        let mut words = stat.rsplit_once(')')?.1.split_whitespace().skip(1).map(str::parse);
        let mut next = || words.next()?.ok();
        Some(Seat { parent: next()?, group: next()?, session: next()? })
    }

    /// All processes. Children are looked for by their parent: the lists of children that stand with each thread leave
    /// some out while threads and children come and go.
    fn processes() -> BTreeMap<u32, Seat> {
        let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid| Some((pid, seat_of(pid)?))).collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::io;
    use std::process::{Child, Command};

    /// Only Linux can.
    pub(in super::super) fn adopt() -> bool {
        false
    }

    /// Starts a process.
    pub(in super::super) fn spawn(command: &mut Command, _token: &str) -> io::Result<Child> {
        command.spawn()
    }

    /// Nothing can be found.
    pub(in super::super) fn reap(_token: &str, _own: u32, _ended: bool) {}

    /// Nothing can be found.
    pub(in super::super) fn end_all() {}
}
