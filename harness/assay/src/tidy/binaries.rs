//! Rules for what was built: a binary that is shipped cannot be told to break its rules.

use super::problem;
use crate::mutants::build::holds_marker;
use crate::receipt::Problem;
use std::path::{Path, PathBuf};

/// The release binary of the checkout at `root`, where it was built, and the binary that runs.
#[must_use]
pub fn built(root: &Path) -> Vec<PathBuf> {
    let name = format!("mcp-assay{}", std::env::consts::EXE_SUFFIX);
    let release = Some(root.join("target/release").join(name)).filter(|binary| binary.is_file());
    release.into_iter().chain(std::env::current_exe().ok()).collect()
}

/// Looks into each binary for the marker of a client that can be broken.
///
/// # Errors
/// A binary that cannot be read.
pub fn check(binaries: &[PathBuf]) -> Result<Vec<Problem>, Problem> {
    let mut broken = Vec::new();
    for binary in binaries {
        if holds_marker(binary).map_err(|error| Problem::io(binary, "read", &error))? {
            let expected = "a binary whose client cannot be told to break its rules";
            let remedy =
                "build it without the feature `mutants`, which `cargo xtask mutants` keeps in target/mutants";
            broken.push(problem(
                &binary.to_string_lossy(),
                None,
                expected,
                "the marker of one that can",
                remedy,
            ));
        }
    }
    Ok(broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::marker;

    #[test]
    fn a_binary_with_the_marker_is_found_out_and_this_one_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let (clean, marked) = (folder.path().join("clean"), folder.path().join("marked"));
        std::fs::write(&clean, b"\x7fELF plain").unwrap();
        std::fs::write(&marked, [b"\x7fELF", marker().as_bytes(), b"\0"].concat()).unwrap();
        let broken = check(&[clean, marked.clone()]).unwrap();
        let places: Vec<&str> = broken.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, [marked.to_str().unwrap()]);
        assert!(check(&[folder.path().join("none")]).is_err());
    }

    #[test]
    #[cfg(not(feature = "mutants"))]
    fn this_binary_cannot_be_broken() {
        assert_eq!(check(&[std::env::current_exe().unwrap()]).unwrap().len(), 0);
    }

    /// The text that is looked for is the one that the client holds.
    #[test]
    fn the_marker_is_the_clients() {
        // Read when the test runs: compiled in, it would be a marker in this binary.
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../client/src/switch.rs");
        let client = std::fs::read_to_string(path).unwrap();
        assert!(client.contains(&marker()));
    }
}
