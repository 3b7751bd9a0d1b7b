//! Building the binary whose client can be broken, in a target folder of its own, and running it.

use super::marker;
use crate::exit::Exit;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The target folder, below the root: what is built here never mixes with what is shipped.
pub const TARGET: &str = "target/mutants";

/// Builds the binary of the checkout at `root` and runs it with these words, the program's own name left out.
///
/// # Errors
/// cargo is missing or fails; the binary is not where it should be, or is not the one that can be broken.
pub fn run(root: &Path, words: &[OsString]) -> Result<Exit, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = root.join(TARGET);
    let mut build = Command::new(cargo);
    build.current_dir(root).args(["build", "--release", "--quiet", "--locked", "--package", "mcp-assay"]);
    build.args(["--features", "mutants", "--target-dir"]).arg(&target);
    // stdout is for the result.
    let built = build.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let built = built.map_err(|error| format!("cannot start cargo: {error}"))?;
    if !built.success() {
        return Err(format!("expected cargo to build the binary that can be broken, it ended with {built}"));
    }
    let binary = target.join("release").join(format!("mcp-assay{}", std::env::consts::EXE_SUFFIX));
    let marked =
        holds_marker(&binary).map_err(|error| format!("cannot read {}: {error}", binary.display()))?;
    if !marked {
        return Err(format!(
            "expected {} to hold the marker of a client that can be broken, it does not: what tidy looks for shows \
             nothing",
            binary.display()
        ));
    }
    let mut command = Command::new(&binary);
    if !words.iter().any(|word| word.to_string_lossy().starts_with("--root")) {
        command.arg("--root").arg(root);
    }
    let ended = command.args(words).status();
    let ended = ended.map_err(|error| format!("cannot start {}: {error}", binary.display()))?;
    Ok(match ended.code() {
        Some(0) => Exit::AsExpected,
        Some(1) => Exit::Unexpected,
        Some(2) => Exit::Usage,
        _ => Exit::Incomplete,
    })
}

/// Whether a file holds the marker of a client that can be told to break its rules.
///
/// # Errors
/// The file cannot be read.
pub fn holds_marker(file: &Path) -> io::Result<bool> {
    let bytes = std::fs::read(file)?;
    Ok(memchr::memmem::find(&bytes, marker().as_bytes()).is_some())
}
