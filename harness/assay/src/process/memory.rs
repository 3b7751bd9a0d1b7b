//! How much memory a process and all below it hold, and how much they held at most.
//!
//! A limit by the system (RLIMIT_AS) would count what is merely mapped, and programs that map far more than they use
//! (Node.js) would not even start.

use std::fs;
use std::path::Path;

/// The most processes that are looked at below one.
const DESCENDANTS_MAX: usize = 1_000;

/// The resident memory of a process and all its descendants, in bytes. None where the system does not tell, or the
/// process is gone.
#[must_use]
pub fn resident(pid: u32) -> Option<u64> {
    let own = figure(pid, "VmRSS:")?;
    let below = descendants(pid).into_iter().filter_map(|pid| figure(pid, "VmRSS:"));
    Some(below.fold(own, u64::saturating_add))
}

/// The highest resident size that a process has had, in bytes: of all below it and itself, the highest that any one
/// of them has had. It counts from the last [`forget_peak`]. None where the system does not tell, or the process is
/// gone.
///
/// A driver may be a launcher with the client in a process below it. What several processes hold is not added up: their
/// peaks may lie at different times, and no sum of them was ever held.
#[must_use]
pub fn peak(pid: u32) -> Option<u64> {
    let own = figure(pid, "VmHWM:")?;
    let below = descendants(pid).into_iter().filter_map(|pid| figure(pid, "VmHWM:"));
    Some(below.fold(own, u64::max))
}

/// Makes the highest resident size of a process, and of each below it, the present one. False where the system does
/// not do that, or the process is gone.
///
/// Where the system only says that it has, the highest size so far stays: then [`peak`] is never too small, and what
/// grows from one call of it to the next has truly grown.
pub fn forget_peak(pid: u32) -> bool {
    let forget = |pid: u32| fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok();
    // A descendant that has ended meanwhile has no peak either.
    let _gone = descendants(pid).into_iter().map(forget).count();
    forget(pid)
}

/// A figure of `/proc/PID/status`, in bytes.
fn figure(pid: u32, name: &str) -> Option<u64> {
    figure_in(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, name)
}

fn figure_in(status: &str, name: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// All processes below one, as far as they are looked at.
fn descendants(pid: u32) -> Vec<u32> {
    let mut found = children(pid);
    let mut looked_at = 0;
    while let Some(pid) = found.get(looked_at).copied()
        && looked_at < DESCENDANTS_MAX
    {
        found.extend(children(pid));
        looked_at += 1;
    }
    found.truncate(DESCENDANTS_MAX);
    found
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let of = |thread: &Path| fs::read_to_string(thread.join("children")).unwrap_or_default();
    let lists: Vec<String> = threads.filter_map(|thread| Some(of(&thread.ok()?.path()))).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_holds_something_and_a_missing_one_nothing() {
        let here = resident(std::process::id());
        assert!(here.is_some_and(|bytes| bytes > 100_000), "{here:?}");
        // Beyond the largest process id there can be.
        assert_eq!((resident(u32::MAX), peak(u32::MAX)), (None, None));
        assert!(!forget_peak(u32::MAX));
    }

    #[test]
    fn the_system_counts_in_units_of_1024_bytes() {
        let status = "VmPeak:\t  9 kB\nVmHWM:\t   12 kB\nVmRSS:\t 8 kB\n";
        assert_eq!(figure_in(status, "VmHWM:"), Some(12_288));
        assert_eq!(figure_in(status, "VmRSS:"), Some(8_192));
        assert_eq!(figure_in("VmPeak:\t  9 kB\n", "VmHWM:"), None);
    }

    #[test]
    fn a_peak_is_seen_although_it_is_over() {
        const TAKEN: usize = 96 << 20;
        let here = std::process::id();
        assert!(forget_peak(here));
        drop(std::hint::black_box(vec![1_u8; TAKEN]));
        // Other tests in this process only add to it.
        assert!(peak(here).is_some_and(|bytes| bytes >= u64::try_from(TAKEN).unwrap()));
    }
}
