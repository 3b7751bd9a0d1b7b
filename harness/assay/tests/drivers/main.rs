//! Drivers that misbehave: what they are put to is judged, the rest goes on, and nothing of them survives.
//!
//! The test program is the bad driver, too: started with the word `drive` it drives.

#[cfg(target_os = "linux")]
mod bad;
#[cfg(target_os = "linux")]
mod growth;
#[cfg(target_os = "linux")]
mod misdeeds;
#[cfg(target_os = "linux")]
#[path = "../runs/stage.rs"]
mod stage;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use mcp_assay::process::guard;
    use std::process::ExitCode;
    let line: Vec<_> = std::env::args_os().collect();
    if let Some(ended) = guard::take_over(&line) {
        return ended;
    }
    let words: Vec<String> = line.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if words.get(1).is_some_and(|word| word == bad::WORD) {
        return match bad::main(&words[2..]) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let tests = misdeeds::tests().into_iter().chain(growth::tests()).collect();
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), tests).exit_code()
}

/// Only Linux tells what has survived.
#[cfg(not(target_os = "linux"))]
fn main() {}
