//! `serve`: up for any client, gone when told.
#![cfg(unix)]

use crate::program::{PROGRAM, project};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

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
