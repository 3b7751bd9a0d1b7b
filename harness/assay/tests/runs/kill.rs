//! A run that is stopped or killed in the middle leaves nothing that anybody could take for a run.

use crate::stage::own_root;
use mcp_assay::receipt::open::OpenRun;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts a run. That of a whole family takes far longer than it will be given.
fn start(out: &Path, filter: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_mcp-assay"))
        .args([
            "conformance",
            "--profile",
            "exagent",
            "--wire",
            "memory",
            "--size",
            "sample",
            "--format",
            "json",
            "--filter",
            filter,
        ])
        .arg("--root")
        .arg(own_root())
        .arg("--out")
        .arg(out)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn folders(out: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(out.join("exagent")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Waits until the run has written the claim of a case, so that it is in the middle.
fn in_the_middle(child: &mut Child, out: &Path) {
    let begun = Instant::now();
    while !folders(out).iter().any(|folder| folder.join("claims").is_dir()) {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended before it was in the middle");
        assert!(begun.elapsed() < Duration::from_secs(300), "the run writes nothing");
        sleep(Duration::from_millis(2));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_killed_run_is_no_run_and_the_next_one_clears_it_away() {
    let out = tempfile::tempdir().unwrap();
    let mut child = start(out.path(), "sse/*");
    in_the_middle(&mut child, out.path());
    signal(&child, Signal::KILL);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
    let left = folders(out.path());
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(OpenRun::open(&left[0]).is_err(), "{left:?}");
    assert!(!left[0].join("run.json").exists());

    let ended = start(out.path(), "smoke/*").wait().unwrap();
    assert_eq!(ended.code(), Some(0));
    let runs = folders(out.path());
    assert!(!left[0].exists() && runs.len() == 1, "{runs:?}");
    assert!(OpenRun::open(&runs[0]).is_ok());
}

#[test]
fn an_interrupted_run_ends_incomplete_and_leaves_nothing() {
    for stopped_by in [Signal::INT, Signal::TERM] {
        let out = tempfile::tempdir().unwrap();
        let mut child = start(out.path(), "sse/*");
        in_the_middle(&mut child, out.path());
        signal(&child, stopped_by);
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8(ended.stdout).unwrap();
        assert_eq!(ended.status.code(), Some(3), "{stopped_by:?}: {told}");
        assert!(told.contains("stopped before the end"), "{stopped_by:?}: {told}");
        assert_eq!(folders(out.path()), Vec::<PathBuf>::new(), "{stopped_by:?}");
    }
}
