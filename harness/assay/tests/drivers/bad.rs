//! A driver that does what a driver must not: it drives the built-in client, until a call asks for it "now".

use mcp_assay::driver::builtin::BuiltinClient;
use mcp_assay::driver::serve::serve;
use serde_json::{Value, json};
use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead as _, BufReader, Write as _, pipe, stderr, stdin, stdout};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio, exit};
use std::sync::OnceLock;
use std::thread::{park, spawn};

/// The word that makes the test program a driver; the misdeed and a folder follow.
pub(crate) const WORD: &str = "drive";

/// How often a process that hands itself on does so, if nobody ends it: for some seconds.
const HOPS: u32 = 4_000;

/// How much it grows by, in bytes: far beyond what the case allows, and within what a driver may hold.
const GROWTH: usize = 96 << 20;

/// What is no growth worth the name.
const LITTLE: usize = 4 << 20;

/// How many entries the folder has when the chain of processes ends.
const CHAIN: usize = 24;

/// Does what the words after [`WORD`] say.
pub(crate) fn main(words: &[String]) -> io::Result<()> {
    let [deed, folder] = words else { panic!("expected a misdeed and a folder, saw {words:?}") };
    match deed.as_str() {
        "sleep" => forever(),
        "grown" => {
            let _grown = black_box(vec![1_u8; GROWTH]);
            say("grown")?;
            forever()
        }
        "daemon" => {
            let _session = rustix::process::setsid();
            child("sleep", folder)
        }
        "changed-daemon" => {
            let _session = rustix::process::setsid();
            changed("sleep", folder)
        }
        "chain" => {
            let _session = rustix::process::setsid();
            if fs::read_dir(folder)?.count() < CHAIN {
                changed("chain", folder)?;
            }
            forever()
        }
        "hop" => {
            let _session = rustix::process::setsid();
            let left = std::env::var("HOPS").ok().and_then(|hops| hops.parse::<u32>().ok());
            left.and_then(|left| left.checked_sub(1)).map_or(Ok(()), |left| hop(left, folder))
        }
        "intruder" => {
            let harness = std::env::var("HARNESS_GROUP").ok().and_then(|group| group.parse().ok());
            let _refused = rustix::process::setpgid(None, harness.and_then(rustix::process::Pid::from_raw));
            forever()
        }
        "ignores-eof" => ignores_eof(),
        null if null.starts_with("null-") => null_client(null),
        _ => wrapped(deed, folder),
    }
}

/// Drives the built-in client, but for the calls with the text "now".
fn wrapped(deed: &str, folder: &str) -> io::Result<()> {
    let (requests, mut passed_on) = pipe()?;
    let client = BuiltinClient::named("exagent").expect("the policy is known");
    let served = spawn(move || serve(&client, requests, stdout()));
    let mut asked = false;
    for line in stdin().lock().lines() {
        let line = line?;
        let request: Value = serde_json::from_str(&line)?;
        asked |= request["arguments"]["text"] == "now";
        if deed == "freezes-at-end" {
            if asked && request["verb"] == "end" {
                forever();
            }
            writeln!(passed_on, "{line}")?;
        } else if request["arguments"]["text"] == "now" {
            misdeed(deed, folder, &request["seq"])?;
        } else {
            writeln!(passed_on, "{line}")?;
        }
    }
    drop(passed_on);
    served.join().expect("the driver does not panic")
}

fn misdeed(deed: &str, folder: &str, seq: &Value) -> io::Result<()> {
    let ok = || say(&json!({ "seq": seq, "reply": "ok", "text": "now" }).to_string());
    match deed {
        "hangs" => Ok(()),
        // Reads nothing any more, and answers nothing.
        "freezes" => forever(),
        "prints-garbage" => say("Debugger attached."),
        "floods-stdout" => loop {
            stdout().write_all(&[b'x'; 1 << 16])?;
        },
        "floods-stderr" => loop {
            stderr().write_all(&[b'x'; 1 << 16])?;
        },
        "answers-twice" => {
            ok()?;
            ok()
        }
        "answers-another" => say(r#"{"seq":9000,"reply":"ok"}"#),
        "misnames-at-length" => {
            let name = "x".repeat(1 << 20);
            say(&json!({ "seq": seq, "reply": "ok", name: "now" }).to_string())
        }
        "misspells" => say(&json!({ "seq": seq, "reply": "ok", "txt": "now" }).to_string()),
        "speaks-for-the-harness" => {
            say(&json!({ "seq": seq, "reply": "error", "kind": "driver", "message": "m" }).to_string())
        }
        "crashes" => std::process::abort(),
        "quits" => exit(0),
        "closes-stdout" => {
            say("")?;
            forever()
        }
        "forks" => {
            child("sleep", folder)?;
            ok()
        }
        "daemonizes" => {
            child("daemon", folder)?;
            ok()
        }
        "daemonizes-elsewhere" => {
            changed("changed-daemon", folder)?;
            ok()
        }
        "leaves-its-group" => {
            begin(command("sleep", folder)?.env_clear().env("FOO", "1").process_group(0), folder)?;
            ok()
        }
        "chains" => {
            changed("chain", folder)?;
            ok()
        }
        "hops" => {
            hop(HOPS, folder)?;
            ok()
        }
        "joins-the-harness" => {
            let harness = rustix::process::getppid().and_then(|pid| rustix::process::getpgid(Some(pid)).ok());
            let harness = harness.map_or(0, |group| group.as_raw_nonzero().get());
            begin(
                command("intruder", folder)?.env_clear().env("HARNESS_GROUP", harness.to_string()),
                folder,
            )?;
            ok()
        }
        "grows-once" => {
            static GROWN: OnceLock<Vec<u8>> = OnceLock::new();
            GROWN.get_or_init(|| vec![1; GROWTH]);
            ok()
        }
        "grows-and-shrinks" => {
            drop(black_box(vec![1_u8; GROWTH]));
            ok()
        }
        "grows-below" => {
            let mut below = command("grown", folder)?.stdout(Stdio::piped()).spawn()?;
            fs::write(format!("{folder}/{}.pid", below.id()), "")?;
            // It says so once it has grown.
            let mut line = String::new();
            BufReader::new(below.stdout.take().expect("a pipe")).read_line(&mut line)?;
            ok()
        }
        "takes-little" => {
            drop(black_box(vec![1_u8; LITTLE]));
            ok()
        }
        "eats-memory" => {
            let mut eaten: Vec<Vec<u8>> = Vec::new();
            loop {
                eaten.push(vec![1; 1 << 20]);
            }
        }
        _ => panic!("no misdeed {deed}"),
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut stdout = stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

/// Starts this program again, which outlives this process if nobody ends it; its id goes to a file.
fn child(deed: &str, folder: &str) -> io::Result<()> {
    begin(&mut command(deed, folder)?, folder)
}

/// The same with nothing of this process's environment.
fn changed(deed: &str, folder: &str) -> io::Result<()> {
    begin(command(deed, folder)?.env_clear().env("FOO", "1"), folder)
}

/// Hands itself on to a process that will soon do the same, in a session of its own.
fn hop(left: u32, folder: &str) -> io::Result<()> {
    command("hop", folder)?.env_clear().env("HOPS", left.to_string()).spawn().map(drop)
}

fn command(deed: &str, folder: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([WORD, deed, folder]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

fn begin(command: &mut Command, folder: &str) -> io::Result<()> {
    let child = command.spawn()?;
    fs::write(format!("{folder}/{}.pid", child.id()), "")
}

/// Serves as it should, and stays when it should go.
fn ignores_eof() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _entered = runtime.enter();
    // Whoever listens for the signal is not ended by it.
    let _heard = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let client = BuiltinClient::named("exagent").expect("the policy is known");
    serve(&client, stdin(), stdout())?;
    forever()
}

/// A client that shows nothing, after an honest hello.
fn null_client(deed: &str) -> io::Result<()> {
    for line in stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let seq = &request["seq"];
        let reply = match (request["verb"].as_str(), deed) {
            (Some("hello"), _) => json!({
                "seq": seq, "reply": "ok", "name": deed, "version": "1", "language": "rust", "runtime": "none",
                "revisions": ["2025-06-18"], "verbs": ["connect", "list_tools", "call_tool"], "limits": [],
                "issues": "https://example.invalid/issues",
            }),
            (Some("end"), _) | (_, "null-answers-ok") => json!({ "seq": seq, "reply": "ok" }),
            (_, "null-all-unsupported") => json!({ "seq": seq, "reply": "unsupported", "message": "no" }),
            (_, "null-dies-after-hello") => exit(1),
            _ => continue,
        };
        say(&reply.to_string())?;
    }
    Ok(())
}

fn forever() -> ! {
    loop {
        park();
    }
}
