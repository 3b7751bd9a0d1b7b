//! Runs the binary on a small project of its own.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The binary under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-assay");

/// The small project that most tests look at. Nothing writes into it.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/project")
}

/// A command that ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The object on stdout's last line.
    pub(crate) fn json(&self) -> Value {
        let last = self.stdout.lines().last().expect("stdout has a last line");
        let object: Value = serde_json::from_str(last).expect("the last line is JSON");
        assert!(object.is_object(), "{last}");
        object
    }
}

/// Runs a command line on the small project.
pub(crate) fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ended {
    run_in(&project(), args)
}

/// Runs a command line on a project.
pub(crate) fn run_in<S: AsRef<OsStr>>(root: &Path, args: impl IntoIterator<Item = S>) -> Ended {
    let output = Command::new(PROGRAM)
        .arg("--root")
        .arg(root)
        .args(args)
        .env("NO_COLOR", "1")
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Copies a folder with all below it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to copy") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copied file");
        }
    }
}
