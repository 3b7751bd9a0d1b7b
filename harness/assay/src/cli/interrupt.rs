//! Ctrl-C and a polite kill: the run stops taking work, and leaves no half run behind.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that the first SIGINT or SIGTERM sets, from now on. A second one ends the process at once.
///
/// # Errors
/// The system refuses the handler or its thread.
pub(super) fn flag() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let shared = flag.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Set up before the run begins and kept between signals, so that none is missed.
    let mut signals = {
        let _inside = runtime.enter();
        Signals::new()?
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async move {
            while signals.arrived().await {
                if shared.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
                tell!("stopping after the variants in flight; once more ends at once");
            }
        });
    })?;
    Ok(flag)
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal; false if none can come any more.
    async fn arrived(&mut self) -> bool {
        tokio::select! {
            signal = self.interrupt.recv() => signal.is_some(),
            signal = self.terminate.recv() => signal.is_some(),
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next Ctrl-C; false if none can come any more.
    async fn arrived(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}

/// Waits for SIGINT or SIGTERM (elsewhere: Ctrl-C).
///
/// # Errors
/// The system refuses the handler.
pub(super) async fn arrived() -> io::Result<()> {
    Signals::new()?.arrived().await;
    Ok(())
}
