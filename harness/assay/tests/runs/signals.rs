//! A harness that is told to end while a driver keeps it waiting: it ends, and nothing that the driver began outlives it.

use crate::stage::{bare_root, own_root};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Leaves one process in a session of its own, and says nothing; the files hold their ids.
const SILENT: &str = "#!/bin/sh\nsetsid sh -c 'echo $$ > \"$0.new\"; mv \"$0.new\" \"$0\"; exec sleep 1000' \"$1\" &\n\
                      exec sleep 1000\n";

/// Waits until the driver has begun its other process; that one's id.
fn begun(file: &Path, child: &mut Child) -> u32 {
    let began = Instant::now();
    loop {
        if let Ok(text) = fs::read_to_string(file) {
            return text.trim().parse().unwrap();
        }
        assert_eq!(child.try_wait().unwrap(), None, "it ended before the driver began");
        assert!(began.elapsed() < Duration::from_secs(120), "the driver does not begin");
        sleep(Duration::from_millis(2));
    }
}

fn signal(child: &Child) {
    kill_process(Pid::from_child(child), Signal::TERM).unwrap();
}

fn alive(pid: u32) -> bool {
    // One that has ended and was not reaped is gone, too.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn driver_check_ends_at_once_with_all_that_the_driver_began() {
    let folder = tempfile::tempdir().unwrap();
    let (program, file) = (folder.path().join("silent.sh"), folder.path().join("pid"));
    fs::write(&program, SILENT).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-assay"))
        .args(["driver", "check", "--root"])
        .arg(own_root())
        .args(["--", "sh"])
        .args([&program, &file])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let left = begun(&file, &mut child);
    assert!(alive(left));
    signal(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!alive(left), "process {left} has survived");
}

#[test]
fn a_run_does_not_wait_for_a_hello_once_it_is_told_to_stop() {
    let root = bare_root();
    let folder = root.path().join("fixtures/drivers/silent");
    fs::create_dir_all(&folder).unwrap();
    let file = root.path().join("pid");
    let script = SILENT.replace("\"$1\"", &format!("\"{}\"", file.display()));
    fs::write(folder.join("silent.sh"), script).unwrap();
    for file in ["package.json", "package-lock.json"] {
        fs::write(folder.join(file), "{}").unwrap();
    }
    fs::write(
        folder.join("driver.toml"),
        "name = 'silent'\npackage = 'silent'\nversion = '1.0.0'\nruntime = 'node'\nminimum = '1.0'\n\
         start = ['{runtime}', '{dir}/silent.sh']\n",
    )
    .unwrap();
    fs::write(
        root.path().join("profiles/t.toml"),
        "name = 't'\ntitle = 'A silent driver'\nclient = { driver = 'silent' }\nrevisions = ['2025-06-18']\n\
         cases = ['smoke/*']\n[wires]\nmemory = []\ntcp = ['*']\n",
    )
    .unwrap();
    let bin = root.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, script) in [
        ("node", "#!/bin/sh\n[ \"$1\" = --version ] && echo v99.0.0 && exit\nexec sh \"$@\"\n"),
        ("npm", "#!/bin/sh\nmkdir -p node_modules\n"),
    ] {
        use std::os::unix::fs::PermissionsExt as _;
        fs::write(bin.join(name), script).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-assay"))
        .args(["conformance", "--profile", "t", "--root"])
        .arg(root.path())
        .env("PATH", path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let left = begun(&file, &mut child);
    let told = Instant::now();
    signal(&child);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    // A hello may take 60 s.
    assert!(told.elapsed() < Duration::from_secs(45), "{:?}", told.elapsed());
    assert!(!alive(left), "process {left} has survived");
}
