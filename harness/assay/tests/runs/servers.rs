//! Servers that break, from the process to the exit: what they do is never held against the client.
//!
//! A server's process is a shell script. It says that it serves at a port of this test, which answers for it, and which
//! tells it by a file when the time has come to misbehave.

use crate::stage::bare_root;
use mcp_assay::receipt::claim::Judged;
use mcp_assay::receipt::open::OpenRun;
use mcp_assay::variant::Variant;
use mcp_assay::verdict::{CheckResult, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;

/// What a server of the test does.
struct Part {
    mode: &'static str,
    /// What its process does after its ready line (`$ready`); `$go` appears with the first call.
    script: &'static str,
    /// Whether it stops answering with the first call.
    quits: bool,
    /// What the run says of its variants; none if all is well.
    told: Option<&'static str>,
}

const PARTS: [Part; 6] = [
    Part { mode: "sound", script: "echo $ready; cat", quits: false, told: None },
    Part {
        mode: "stubborn",
        script: "trap '' TERM; echo $ready; while :; do sleep 1000; done",
        quits: false,
        told: None,
    },
    Part {
        mode: "stillborn",
        script: "echo no such mode >&2; exit 3",
        quits: false,
        told: Some("the server fake-stillborn: expected a ready line, it ended with exit 3"),
    },
    Part {
        mode: "mortal",
        script: "echo $ready; until [ -e $go ]; do sleep 0.01; done; exit 7",
        quits: true,
        told: Some("expected the server fake-mortal to go on serving, it ended with exit 7"),
    },
    Part {
        mode: "flooding",
        script: "echo $ready; until [ -e $go ]; do sleep 0.01; done; exec cat /dev/zero",
        quits: true,
        told: Some("expected the server fake-flooding to go on serving, it flooded its output"),
    },
    Part {
        mode: "deaf",
        script: "echo $ready; cat",
        quits: true,
        told: Some("the server's admin route journal?since=4294967295: expected an answer"),
    },
];

const CASE: &str = "title = 'Two calls'\nrevisions = ['2025-06-18']\nservers = {}\n[vary]\ntext = ['snow', 'rain']\n\
    [[step]]\ncall = 'echo'\nas = 'first'\nargs = { text = '$text' }\n\
    [[check]]\nid = 'c'\nclause = 'resp.client-both-types'\nresult = { of = 'first', text = '$text' }\n";

#[test]
fn a_server_that_breaks_is_an_error_of_the_harness_and_no_process_survives() {
    let root = bare_root();
    let folder = root.path();
    let out = tempfile::tempdir().unwrap();
    lay_out(folder);
    for part in &PARTS {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        fs::write(folder.join(part.mode), listener.local_addr().unwrap().port().to_string()).unwrap();
        let (go, quits) = (folder.join(format!("{}.go", part.mode)), part.quits);
        // It ends with its part, or with this test.
        thread::spawn(move || answer(&listener, &go, quits));
    }
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let ended = Command::new(env!("CARGO_BIN_EXE_mcp-assay"))
        .args(["conformance", "--profile", "t", "--format", "json", "--jobs", "6", "--root"])
        .arg(folder)
        .arg("--out")
        .arg(out.path())
        .env("PATH", &path)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{told}");
    let stdout = String::from_utf8(ended.stdout).unwrap();
    let report: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    // Two texts on each server: those that did not run any more are there too.
    assert_eq!(report["profiles"][0]["variants"], 12, "{told}");
    let lines = report["profiles"][0]["unexpected"].to_string();
    // A line of its own: it is no case's.
    assert!(lines.contains("\"the server fake-stubborn: expected it to end within 5 s"), "{lines}");
    // What it printed is told, and stands in no claim.
    assert!(lines.contains("no such mode") && told.contains("no such mode"), "{lines}");
    let judged = judged(out.path());
    for Part { mode, told, .. } in &PARTS {
        let variants: Vec<_> =
            judged.iter().filter(|(variant, _)| variant.contains(&format!("fake-{mode}"))).collect();
        assert_eq!(variants.len(), 2, "{mode}: {judged:#?}");
        for (variant, check) in variants {
            let outcome = if told.is_none() { Outcome::Pass } else { Outcome::Error };
            assert_eq!(check.outcome, outcome, "{variant}: {check:?}");
            assert!(check.actual.contains(told.unwrap_or_default()), "{variant}: {check:?}");
            assert!(!check.actual.contains("no such mode"), "{variant}: {check:?}");
        }
        let pid = fs::read_to_string(folder.join(format!("{mode}.pid"))).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "{mode}: process {pid} has survived");
    }
    replays(folder, out.path(), &path);
}

/// A variant on a server runs again on that server, is judged again without it, and is refused where the checkout has
/// another one.
fn replays(folder: &Path, out: &Path, path: &str) {
    let run = fs::read_dir(out.join("t")).unwrap().next().unwrap().unwrap().path();
    let claim = run.join("claims/mini/calls.json").display().to_string();
    let replay = |mode: &str, more: &[&str]| {
        let variant = format!("{claim}#revision=2025-06-18;server=fake-{mode};text=snow;wire=tcp");
        let ended = Command::new(env!("CARGO_BIN_EXE_mcp-assay"))
            .args(["replay", &variant, "--format", "json", "--root"])
            .arg(folder)
            .args(more)
            .env("PATH", path)
            .output()
            .unwrap();
        let stdout = String::from_utf8(ended.stdout).unwrap();
        let report: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
        (ended.status.code(), report, String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let (code, report, told) = replay("sound", &[]);
    assert_eq!((code, &report["variants"][0]["same"]), (Some(0), &json!(true)), "{told}");
    let pid = fs::read_to_string(folder.join("sound.pid")).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "process {pid} has survived");
    let (code, report, told) = replay("stubborn", &[]);
    assert_eq!((code, &report["variants"][0]["same"]), (Some(0), &json!(true)), "{told}");
    assert!(told.contains("the server fake-stubborn: expected it to end within 5 s"), "{told}");
    let (code, report, told) = replay("stillborn", &["--judge"]);
    assert_eq!((code, &report["variants"][0]["same"]), (Some(0), &json!(true)), "{told}");
    let (code, report, told) = replay("stillborn", &[]);
    assert_eq!(code, Some(2), "{told}");
    let problem = report["problem"].as_str().unwrap_or_default();
    assert!(problem.contains("expected a ready line") && problem.contains("--judge"), "{report}");
    fs::write(folder.join("fixtures/servers/fake/package-lock.json"), "{ }").unwrap();
    let (code, report, told) = replay("sound", &[]);
    assert_eq!(code, Some(2), "{told}");
    let problem = report["problem"].as_str().unwrap_or_default();
    assert!(problem.contains("another version or lock") && problem.contains("--judge"), "{report}");
}

/// A profile on six servers, and a Node.js and an npm for them.
fn lay_out(root: &Path) {
    let servers: Vec<String> = PARTS.iter().map(|part| format!("'fake-{}'", part.mode)).collect();
    let profile = format!(
        "name = 't'\ntitle = 'Six servers'\nclient = {{ builtin = 'exagent' }}\nrevisions = ['2025-06-18']\n\
         cases = ['mini/calls']\n[peer]\nservers = [{}]\n",
        servers.join(", ")
    );
    let era = "eras = [{ revisions = ['2025-06-18'], session = false, answers = 'json' }]";
    let modes: String =
        PARTS.iter().map(|part| format!("[[server.mode]]\nname = '{}'\n{era}\n", part.mode)).collect();
    let list = format!(
        "[[server]]\nname = 'fake'\npackage = 'fake'\nversion = '1.0.0'\nruntime = 'node'\nminimum = '20'\n\
         dir = 'fake'\nstart = ['{{runtime}}', '{{dir}}/server.sh', '{{mode}}']\n{modes}"
    );
    let home = root.display();
    let arms: String = PARTS.iter().map(|part| format!("{}) {};;\n", part.mode, part.script)).collect();
    let server = format!(
        "echo $$ > {home}/$1.pid\nread -r port < {home}/$1\ngo={home}/$1.go\n\
         ready='{{\"ready\":true,\"name\":\"fake\",\"mode\":\"'$1'\",\"port\":'$port',\"url\":\"u\",\"pid\":1,\"versions\":{{}}}}'\n\
         case $1 in\n{arms}esac\n"
    );
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    write("profiles/t.toml", &profile);
    write("fixtures/cases/mini/calls.toml", CASE);
    write("fixtures/servers/servers.toml", &list);
    write("fixtures/servers/fake/server.sh", &server);
    write("fixtures/servers/fake/package.json", "{}");
    write("fixtures/servers/fake/package-lock.json", "{}");
    let node = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo v20.0.0; exit; fi\nexec sh \"$@\"\n";
    for (name, text) in [("bin/node", node), ("bin/npm", "#!/bin/sh\nmkdir node_modules\n")] {
        fs::set_permissions(write(name, text), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Answers for a server, one request a connection.
fn answer(listener: &TcpListener, go: &Path, quits: bool) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let Some((line, body)) = request(&stream) else { continue };
        let id = &body["id"];
        let result = match body["method"].as_str() {
            None if line.starts_with("GET /admin/journal") => json!({ "next": 0, "entries": [] }),
            Some("initialize") => json!({ "jsonrpc": "2.0", "id": id, "result": {
                "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                "serverInfo": { "name": "fake", "version": "1" },
            } }),
            Some("tools/list") => json!({ "jsonrpc": "2.0", "id": id, "result": {
                "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }],
            } }),
            Some("tools/call") => {
                fs::write(go, "").unwrap();
                if quits {
                    return;
                }
                let text = &body["params"]["arguments"]["text"];
                json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
            }
            _ => Value::Null,
        };
        let (status, content) =
            if result.is_null() { ("202 Accepted", String::new()) } else { ("200 OK", result.to_string()) };
        // Who asked may have gone.
        let _gone = write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{content}",
            content.len()
        );
    }
}

/// A request's first line, and its body where that is JSON.
fn request(stream: &TcpStream) -> Option<(String, Value)> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, serde_json::from_slice(&body).unwrap_or_default()))
}

/// What the run's claim says of its one check, for each server and text.
fn judged(out: &Path) -> BTreeMap<String, CheckResult> {
    let run = fs::read_dir(out.join("t")).unwrap().next().unwrap().unwrap().path();
    let run = OpenRun::open(&run).unwrap_or_else(|problems| panic!("{problems:?}"));
    let claim = run.claims.values().next().unwrap();
    let judged = claim.judged("the claim").unwrap();
    let checks = |(variant, judged): (Variant, Judged)| {
        let [check] = judged.checks.try_into().unwrap();
        (variant.to_string(), check)
    };
    judged.into_iter().map(checks).collect()
}
