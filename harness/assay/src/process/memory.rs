//! How much memory a process and all below it hold.
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
    let mut total = of_one(pid)?;
    let mut open = children(pid);
    let mut seen = 0;
    while let Some(pid) = open.pop() {
        total = total.saturating_add(of_one(pid).unwrap_or(0));
        open.extend(children(pid));
        seen += 1;
        if seen >= DESCENDANTS_MAX {
            break;
        }
    }
    Some(total)
}

fn of_one(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let of = |thread: &Path| fs::read_to_string(thread.join("children")).unwrap_or_default();
    let lists: Vec<String> = threads.filter_map(|thread| Some(of(&thread.ok()?.path()))).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::resident;

    #[test]
    fn this_process_holds_something_and_a_missing_one_nothing() {
        let here = resident(std::process::id());
        assert!(here.is_some_and(|bytes| bytes > 100_000), "{here:?}");
        // Beyond the largest process id there can be.
        assert_eq!(resident(u32::MAX), None);
    }
}
