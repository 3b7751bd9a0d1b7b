//! `serve`: up for any client, gone when told.
#![cfg(unix)]

use crate::program::{PROGRAM, project};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a command may take that should take a moment: it is then killed, and the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    // Gone already is what was wanted.
    let _ = kill_process(pid, signal);
}

#[test]
fn a_client_is_served_and_logged_until_the_interrupt() {
    let mut child = Command::new(PROGRAM)
        .arg("--root")
        .arg(project())
        .args(["serve", "sse/comment"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
    let mut stderr = child.stderr.take().expect("stderr");
    let mut told = String::new();
    let address = loop {
        let start = told.len();
        assert!(stdout.read_line(&mut told).expect("UTF-8") > 0, "it ended early: {told}");
        if let Some(rest) = told[start..].strip_prefix("serving at http://") {
            break rest.split('/').next().expect("an address").to_owned();
        }
    };
    assert!(told.contains("call `echo` with {\"text\":\"first\"}"), "{told}");

    let body =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}"#;
    let mut client = TcpStream::connect(&address).expect("it listens");
    client.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    write!(
        client,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer s3cret\r\nx-note: \u{202e}gone\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it reads");
    let mut reply = Vec::new();
    while !String::from_utf8_lossy(&reply).contains("snow 雪") {
        let mut part = [0; 512];
        let read = client.read(&mut part).expect("a reply in time");
        assert!(read > 0, "the reply breaks off: {reply:?}");
        reply.extend_from_slice(&part[..read]);
    }

    // The case holds the connection open, and so does this client: the peer goes all the same.
    let pid = child.id();
    signal(&child, Signal::INT);
    let (done, waited) = mpsc::channel::<()>();
    let watchdog = thread::spawn(move || {
        if waited.recv_timeout(PATIENCE).is_err()
            && let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
        {
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    let mut log = String::new();
    stderr.read_to_string(&mut log).expect("UTF-8");
    stdout.read_to_string(&mut told).expect("UTF-8");
    let status = child.wait().expect("it ends");
    let _ = done.send(());
    watchdog.join().expect("the watchdog");
    drop(client);

    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("tools/call, answered by case:0"), "{log}");
    assert!(log.contains("authorization: (not shown)") && !log.contains("s3cret"), "{log}");
    assert!(log.contains("\\u{202e}gone") && !log.contains('\u{202e}'), "{log}");
    assert!(log.contains("reply to request 1"), "{log}");
    assert!(told.contains("pass         one-call: expected exactly 1 of: tools/call; 1 sent"), "{told}");
    assert!(told.contains("2 of 3 checks not judged"), "{told}");
}

/// A peer of `case` that listens, its address, and its stdout.
#[expect(clippy::zombie_processes, reason = "whoever is given the child ends it and waits for it")]
fn serving(case: &str) -> (Child, String, BufReader<ChildStdout>) {
    let mut child = Command::new(PROGRAM)
        .arg("--root")
        .arg(project())
        .args(["serve", case])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
    loop {
        let mut told = String::new();
        assert!(stdout.read_line(&mut told).expect("UTF-8") > 0, "it ended early");
        if let Some(rest) = told.strip_prefix("serving at http://") {
            let address = rest.split('/').next().expect("an address").to_owned();
            return (child, address, stdout);
        }
    }
}

/// How the process ends after an interrupt; one that takes too long is killed.
fn interrupted(mut child: Child) -> Option<i32> {
    signal(&child, Signal::INT);
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(status) = child.try_wait().expect("it is our child") {
            return status.code();
        }
        thread::sleep(Duration::from_millis(20));
    }
    signal(&child, Signal::KILL);
    child.wait().expect("it is killed").code()
}

#[test]
fn a_flood_of_requests_is_judged_in_time() {
    let (child, address, mut stdout) = serving("sse/comment");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let request =
        format!("POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let client = TcpStream::connect(&address).expect("it listens");
    let mut writing = client.try_clone().expect("two hands");
    // More than is recorded: the peer closes, and then nothing can be written any more.
    let writer =
        thread::spawn(move || (0..600).all(|_| writing.write_all(request.repeat(100).as_bytes()).is_ok()));
    let mut reading = client;
    reading.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    let mut space = vec![0; 1 << 16];
    while reading.read(&mut space).is_ok_and(|read| read > 0) {}
    let _all = writer.join().expect("it writes");
    assert_eq!(interrupted(child), Some(0));
    let mut told = String::new();
    stdout.read_to_string(&mut told).expect("UTF-8");
    assert!(told.contains("error        one-call") && told.contains("saw more"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn large_bodies_are_not_kept_as_more_than_they_are() {
    let (child, address, _stdout) = serving("sse/comment");
    let body = format!("[{}0]", "0,".repeat(8_000_000));
    for _ in 0..4 {
        let mut client = TcpStream::connect(&address).expect("it listens");
        client.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        write!(
            client,
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it reads");
        let mut reply = [0; 12];
        client.read_exact(&mut reply).expect("a reply in time");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells");
    let kibibytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(kibibytes < 400 << 10, "{kibibytes} KiB");
    assert_eq!(interrupted(child), Some(0));
}
