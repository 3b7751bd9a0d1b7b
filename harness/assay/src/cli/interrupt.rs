//! Ctrl-C and a polite kill: the run stops taking work, and leaves no half run behind.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that the first SIGINT or SIGTERM sets. A second one ends the process at once.
///
/// # Errors
/// The system refuses the handler its runtime.
pub(super) fn flag() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let shared = flag.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async move {
            while arrived().await.is_ok() {
                if shared.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
                eprintln!("stopping after the variants in flight; once more ends at once");
            }
        });
    })?;
    Ok(flag)
}

/// Waits for SIGINT or SIGTERM.
///
/// # Errors
/// The system refuses the handler.
#[cfg(unix)]
pub(super) async fn arrived() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

/// Waits for Ctrl-C.
///
/// # Errors
/// The system refuses the handler.
#[cfg(not(unix))]
pub(super) async fn arrived() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
