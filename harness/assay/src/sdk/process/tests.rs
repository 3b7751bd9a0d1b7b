//! Servers that misbehave, played by the shell.

use super::{Patience, Server, StartError};
use std::ffi::OsString;
use std::net::TcpListener;
use std::time::{Duration, Instant};

fn patience() -> Patience {
    Patience {
        ready: Duration::from_secs(20),
        leave: Duration::from_secs(10),
        terminate: Duration::from_secs(10),
    }
}

fn sh(script: &str) -> Vec<OsString> {
    ["sh", "-c", script].map(OsString::from).to_vec()
}

/// A shell's ready line, with a port nobody listens on.
fn ready() -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!(
        "echo '{{\"ready\":true,\"name\":\"n\",\"mode\":\"m\",\"port\":{port},\"url\":\"u\",\"pid\":1,\"versions\":{{}}}}'"
    )
}

fn start(script: &str, patience: Patience) -> Result<Server, StartError> {
    Server::start("n-m", "sh", &sh(script), patience).map_err(|not| not.problem)
}

fn is_there(pid: &str) -> bool {
    // A zombie has no command line.
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

#[test]
fn a_server_that_keeps_the_contract_ends_with_its_stdin() {
    let server = start(&format!("{}; cat", ready()), patience()).unwrap();
    let record = server.stop();
    assert_eq!((record.ended.as_str(), record.killed, record.port_refused), ("exit 0", false, Some(true)));
    assert!(record.isolation.iter().any(|kept| kept == "process group"));
}

#[test]
fn a_server_that_ignores_the_end_of_stdin_is_terminated() {
    let patience = Patience { leave: Duration::from_millis(50), ..patience() };
    let server = start(&format!("{}; exec sleep 1000", ready()), patience).unwrap();
    let record = server.stop();
    assert_eq!((record.ended.as_str(), record.killed), ("signal 15", true));
}

#[test]
fn a_server_that_ignores_sigterm_too_is_killed() {
    let short = Duration::from_millis(50);
    let patience = Patience { leave: short, terminate: short, ..patience() };
    let server =
        start(&format!("trap '' TERM; {}; while :; do sleep 1000; done", ready()), patience).unwrap();
    let record = server.stop();
    assert_eq!((record.ended.as_str(), record.killed), ("signal 9", true));
}

#[test]
fn an_early_end_is_told_with_status_and_stderr() {
    let problem = Server::start("n", "sh", &sh("echo no such mode >&2; exit 3"), patience()).unwrap_err();
    assert_eq!(problem.problem.to_string(), "expected a ready line, it ended with exit 3");
    assert!(problem.to_string().contains("exit 3") && problem.stderr.contains("no such mode"), "{problem}");
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let patience = Patience { ready: Duration::from_millis(50), ..patience() };
    let problem = start("exec sleep 1000", patience).unwrap_err();
    assert!(matches!(problem, StartError::Silent { .. }), "{problem}");
}

#[test]
fn a_flood_without_a_line_is_given_up() {
    let problem = start("exec cat /dev/zero", patience()).unwrap_err();
    assert!(matches!(problem, StartError::Flood), "{problem}");
}

#[test]
fn a_flood_after_the_ready_line_is_noticed() {
    let mut server = start(&format!("{}; exec cat /dev/zero", ready()), patience()).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while server.ended().is_none() {
        assert!(Instant::now() < until, "the flood was not noticed");
        std::thread::yield_now();
    }
}

#[test]
fn another_line_is_shown_without_what_a_terminal_obeys() {
    let problem = start("printf 'hi\\033[2J\\n'; cat", patience()).unwrap_err();
    assert!(problem.to_string().contains("hi\\x1b[2J"), "{problem}");
}

#[test]
fn a_command_that_is_not_there_is_an_error() {
    let problem = Server::start("n", "r", &["/no/such/program".into()], patience()).unwrap_err().problem;
    assert!(matches!(problem, StartError::Spawn(_)), "{problem}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_grandchild_in_a_session_of_its_own_does_not_survive() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!(
        "setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000' & while [ ! -e {0} ]; do sleep 0.01; done; {1}; cat",
        file.display(),
        ready()
    );
    let server = start(&script, patience()).unwrap();
    let pid = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert!(is_there(&pid));
    let record = server.stop();
    assert_eq!(record.ended, "exit 0");
    assert!(!is_there(&pid), "process {pid} has survived");
}
