//! A bound on what a broken client may do to the command: time on the real clock, and memory.
//!
//! A variant has a clock of its own that jumps, so a client that waits costs nothing; one that spins or hoards is never
//! heard of again. A thread cannot be ended from outside, so the command ends, and says who did it.

use crate::exit::Exit;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The longest a variant may take on the real clock: thousands of times what one takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most memory the command may take, in KiB: many times what it takes.
const MEMORY_KIB: u64 = 4 << 20;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(500);

/// Watches over the variants in flight.
#[derive(Debug)]
pub struct Watchdog {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    client: String,
    next: u64,
    flying: BTreeMap<u64, (Instant, String)>,
}

/// A variant in flight. It has landed when this is dropped.
#[derive(Debug)]
pub struct Watched<'a> {
    watchdog: &'a Watchdog,
    number: u64,
}

impl Watchdog {
    /// A watchdog that ends the process, with [`Exit::Incomplete`], once a variant passes a bound. It looks as long
    /// as it lives.
    #[must_use]
    pub fn start() -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
        let weak = Arc::downgrade(&shared);
        thread::spawn(move || look(&weak));
        Self { shared }
    }

    /// Names the client that plays from now on.
    pub fn client(&self, name: &str) {
        name.clone_into(&mut self.lock().client);
    }

    /// Watches over a variant.
    pub fn watch(&self, name: impl FnOnce() -> String) -> Watched<'_> {
        let mut shared = self.lock();
        shared.next += 1;
        let number = shared.next;
        shared.flying.insert(number, (Instant::now(), name()));
        Watched { watchdog: self, number }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.watchdog.lock().flying.remove(&self.number);
    }
}

fn look(shared: &Weak<Mutex<Shared>>) {
    while let Some(shared) = shared.upgrade() {
        if let Some(problem) = problem(&shared, PATIENCE, MEMORY_KIB) {
            eprintln!("{problem}");
            std::process::exit(Exit::Incomplete.code().into());
        }
        drop(shared);
        thread::sleep(LOOK);
    }
}

/// Which bound is passed, by whom.
fn problem(shared: &Mutex<Shared>, patience: Duration, memory_kib: u64) -> Option<String> {
    let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let client = &shared.client;
    if let Some((_, variant)) = shared.flying.values().find(|(since, _)| since.elapsed() > patience) {
        return Some(format!(
            "{client}: expected {variant} to end within {patience:?}, it did not; a mutant that spins shows nothing: \
             break the rule in another way"
        ));
    }
    let resident = resident_kib()?;
    let variants: Vec<&str> = shared.flying.values().map(|(_, variant)| variant.as_str()).collect();
    (resident > memory_kib && !client.is_empty()).then(|| {
        let variants = variants.join(", ");
        format!("{client}: expected at most {memory_kib} KiB of memory, saw {resident} during {variants}")
    })
}

/// The process's resident memory; none where the system does not tell.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().trim_end_matches(" kB").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_that_does_not_end_is_named_with_its_client() {
        let watchdog = Watchdog { shared: Arc::default() };
        watchdog.client("spins");
        let watched = watchdog.watch(|| "sse/eol#x".to_owned());
        let told = problem(&watchdog.shared, Duration::ZERO, u64::MAX).unwrap();
        assert!(told.starts_with("spins: expected sse/eol#x to end"), "{told}");
        assert_eq!(problem(&watchdog.shared, Duration::from_secs(60), u64::MAX), None);
        drop(watched);
        assert_eq!(problem(&watchdog.shared, Duration::ZERO, u64::MAX), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn too_much_memory_is_told_with_its_client() {
        let watchdog = Watchdog { shared: Arc::default() };
        watchdog.client("hoards");
        let _watched = watchdog.watch(|| "sse/eol#x".to_owned());
        let told = problem(&watchdog.shared, Duration::from_secs(60), 0).unwrap();
        assert!(told.starts_with("hoards: expected at most 0 KiB of memory"), "{told}");
    }
}
