//! Ctrl-C and a polite kill: the run stops taking work, and leaves no half run behind.

use crate::process::end_all;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

/// A flag that the first SIGINT or SIGTERM sets, from now on. A second one ends the process at once.
///
/// # Errors
/// The system refuses the handler or its thread.
pub(super) fn flag() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let shared = flag.clone();
    on_first(move || {
        shared.store(true, Ordering::Relaxed);
        tell!("stopping after the variants in flight; once more ends at once");
    })?;
    Ok(flag)
}

/// Ends the process, and all that it started, at the first SIGINT or SIGTERM from now on.
///
/// # Errors
/// The system refuses the handler or its thread.
pub(super) fn ends() -> io::Result<()> {
    on_first(end)
}

/// Ends this process and all that it started.
fn end() {
    end_all();
    std::process::exit(130);
}

/// Told of the first SIGINT or SIGTERM from now on, by a thread of its own: whatever else the process is at, a second
/// one ends it at once.
///
/// # Errors
/// The system refuses the handler or its thread.
pub(super) fn first() -> io::Result<oneshot::Receiver<()>> {
    let (told, heard) = oneshot::channel();
    on_first(move || {
        let _gone = told.send(());
    })?;
    Ok(heard)
}

fn on_first(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Set up before the run begins and kept between signals, so that none is missed.
    let mut signals = {
        let _inside = runtime.enter();
        Signals::new()?
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async move {
            if signals.arrived().await {
                act();
            }
            if signals.arrived().await {
                end();
            }
        });
    })?;
    Ok(())
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
