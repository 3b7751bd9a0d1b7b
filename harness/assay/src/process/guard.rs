//! The small re-exec between the harness and a process it starts, so that the process cannot outlive the harness.
//!
//! On Linux the harness starts itself again with a word of its own; that process asks for a signal at its parent's
//! death, opens a session of its own and becomes the program. The request survives becoming another program, and no
//! unsafe code is needed for it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

/// The first argument that makes the program a guard.
const WORD: &str = "guard-process";

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Becomes the program that `line` (the process's own arguments) names, if the process was started as a guard.
/// Returns only if it was not, or if that fails. From then on servers are guarded by this program.
#[must_use]
pub fn take_over(line: &[OsString]) -> Option<ExitCode> {
    if line.get(1).map(OsString::as_os_str) == Some(OsStr::new(WORD)) {
        return Some(become_program(line.get(2..).unwrap_or_default()));
    }
    if cfg!(target_os = "linux")
        && let Ok(program) = std::env::current_exe()
    {
        let _already_known = PROGRAM.set(program);
    }
    None
}

/// Whether processes are guarded.
pub(super) fn is_set() -> bool {
    PROGRAM.get().is_some()
}

/// The command for a program with its arguments, guarded where this process can; and whether it is.
pub(super) fn command(words: &[OsString]) -> Option<(Command, bool)> {
    let (program, arguments) = words.split_first()?;
    let Some(guard) = PROGRAM.get() else {
        let mut command = Command::new(program);
        command.args(arguments);
        return Some((command, false));
    };
    Some((guarded(guard, words), true))
}

fn guarded(guard: &Path, words: &[OsString]) -> Command {
    let mut command = Command::new(guard);
    command.arg(WORD).arg(std::process::id().to_string()).args(words);
    command
}

#[cfg(target_os = "linux")]
fn become_program(words: &[OsString]) -> ExitCode {
    use std::os::unix::process::CommandExt as _;
    let [parent, program, arguments @ ..] = words else { return ExitCode::from(2) };
    if rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).is_err() {
        return ExitCode::from(2);
    }
    // The parent may have gone before the request.
    let is_parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().to_string());
    if is_parent.as_deref().map(OsStr::new) != Some(parent) {
        return ExitCode::from(2);
    }
    // What the program starts can enter no group of another session, so that the harness's own children are told apart.
    if rustix::process::setsid().is_err() {
        return ExitCode::from(2);
    }
    let problem = Command::new(program).args(arguments).exec();
    eprintln!("{}: {problem}", program.display());
    ExitCode::from(127)
}

#[cfg(not(target_os = "linux"))]
fn become_program(_words: &[OsString]) -> ExitCode {
    ExitCode::from(2)
}
