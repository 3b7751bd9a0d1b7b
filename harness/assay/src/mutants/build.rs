//! Building the binary whose client can be broken, in a target folder of its own, and running it.

use super::marker;
use crate::exit::Exit;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The target folder, below the root: what is built here never mixes with what is shipped.
pub const TARGET: &str = "target/mutants";

/// How much of a binary is looked at at once, bytes.
const BLOCK: usize = 1 << 20;

/// Whether there is something to build below `root`.
#[must_use]
pub fn is_checkout(root: &Path) -> bool {
    root.join("harness/assay/Cargo.toml").is_file()
}

/// Builds the binary of the checkout at `root` and says where it is. cargo is silent, and takes minutes the first time.
///
/// # Errors
/// cargo is missing or fails; the binary is not where it should be, or is not the one that can be broken.
pub fn build(root: &Path) -> Result<PathBuf, String> {
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
    Ok(binary)
}

/// Runs a binary on the checkout at `root` with these words, the program's own name left out.
///
/// # Errors
/// It cannot be started.
pub fn run(binary: &Path, root: &Path, words: &[OsString]) -> Result<Exit, String> {
    let mut command = Command::new(binary);
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
/// It is no regular file, or cannot be read.
pub fn holds_marker(file: &Path) -> io::Result<bool> {
    // Asked before it is opened: opening a pipe would wait for its other end.
    if !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    finds(File::open(file)?, marker().as_bytes())
}

/// Whether a text comes in what is read. Only a block of it is held.
fn finds(mut from: impl Read, text: &[u8]) -> io::Result<bool> {
    let overlap = text.len().saturating_sub(1);
    let mut held = Vec::with_capacity(BLOCK + overlap);
    loop {
        let kept = held.len().saturating_sub(overlap);
        held.drain(..kept);
        if from.by_ref().take(BLOCK as u64).read_to_end(&mut held)? == 0 {
            return Ok(false);
        }
        if memchr::memmem::find(&held, text).is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, finds, holds_marker};
    use std::io::Read as _;
    use std::path::Path;

    #[test]
    fn a_text_is_found_wherever_it_stands() {
        for at in [0, BLOCK - 7, BLOCK - 3, BLOCK, 2 * BLOCK - 1] {
            let mut bytes = vec![b'.'; 2 * BLOCK + 100];
            bytes[at..at + 7].copy_from_slice(b"the one");
            assert!(finds(bytes.as_slice(), b"the one").unwrap(), "{at}");
            assert!(!finds(bytes.as_slice(), b"the two").unwrap(), "{at}");
        }
        assert!(!finds(std::io::empty().take(9), b"x").unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_unread() {
        for path in ["/dev/zero", "/"] {
            let problem = holds_marker(Path::new(path)).unwrap_err().to_string();
            assert_eq!(problem, "it is no regular file");
        }
    }
}
