//! One test a misdeed.

use crate::bad::WORD;
use crate::stage::{Project, bare_root};
use libtest_mimic::{Failed, Trial};
use mcp_assay::driver::check::check;
use mcp_assay::driver::process::{Caps, Launch, ProcessClient};
use mcp_assay::exit::Exit;
use mcp_assay::receipt::observation::{Observation, ProcessRecord};
use mcp_assay::receipt::open::OpenRun;
use mcp_assay::receipt::run::Identity;
use mcp_assay::receipt::writer::RunDir;
use mcp_assay::run::Choice;
use mcp_assay::verdict::Outcome;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A check of what the client did, one that an error would pass, and one that silence would pass.
const CASE: &str = "title = 'Three calls, each in a variant of its own'\nrevisions = ['2025-06-18']\n\
    [vary]\ntext = ['first', 'now', 'then']\n\
    [[step]]\ncall = 'echo'\nas = 'call'\nargs = { text = '$text' }\n\
    [[check]]\nid = 'result'\nclause = 'resp.client-both-types'\nwhen = { text = ['first', 'now', 'then'] }\n\
    result = { of = 'call' }\n\
    [[check]]\nid = 'error'\nclause = 'resp.client-both-types'\nwhen = { text = 'now' }\nerror = { of = 'call' }\n\
    [[check]]\nid = 'silence'\nclause = 'resp.client-both-types'\nwhen = { text = 'now' }\n\
    never = { on = 'tools/call' }\n";

const PROFILE: &str = "name = 't'\ntitle = 'A bad driver'\nclient = { process = 'exagent' }\n\
    revisions = ['2025-06-18']\ncases = ['mini/*']\n[wires]\nmemory = []\ntcp = ['*']\n";

/// What becomes of the variant with the misdeed.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// No check is decided, and the process is broken off with words that hold this.
    Undecided(&'static str),
    /// The verb has no answer by its deadline, though nobody kept the client from one.
    Silent,
    /// It is as if nothing had been.
    Unharmed,
}

const MISDEEDS: [(&str, Then); 23] = [
    ("hangs", Then::Silent),
    ("freezes", Then::Silent),
    ("freezes-at-end", Then::Undecided("expected ok to end within 0.3 s, saw nothing")),
    ("prints-garbage", Then::Undecided("saw Debugger attached.")),
    ("floods-stdout", Then::Undecided("expected lines of at most 8388608 bytes")),
    ("floods-stderr", Then::Undecided("bytes on stderr, saw more")),
    ("answers-twice", Then::Undecided("saw a second")),
    ("answers-another", Then::Undecided("saw one to 9000")),
    ("misspells", Then::Undecided("txt")),
    ("misnames-at-length", Then::Undecided("unknown field `xxx")),
    ("speaks-for-the-harness", Then::Undecided("the harness's own")),
    ("crashes", Then::Undecided("signal 6")),
    ("quits", Then::Undecided("exit 0")),
    ("closes-stdout", Then::Undecided("expected a reply")),
    ("forks", Then::Unharmed),
    ("daemonizes", Then::Unharmed),
    ("daemonizes-elsewhere", Then::Unharmed),
    ("leaves-its-group", Then::Unharmed),
    ("chains", Then::Unharmed),
    ("hops", Then::Unharmed),
    ("joins-the-harness", Then::Unharmed),
    ("eats-memory", Then::Undecided("bytes of memory")),
    ("ignores-eof", Then::Unharmed),
];

const NULL: [&str; 4] =
    ["null-does-nothing", "null-answers-ok", "null-all-unsupported", "null-dies-after-hello"];

pub(crate) fn tests() -> Vec<Trial> {
    let misdeeds = MISDEEDS.into_iter().map(|(deed, then)| Trial::test(deed, move || judged(deed, then)));
    let null = NULL
        .into_iter()
        .map(|deed| Trial::test(format!("{deed}-is-not-believed"), move || not_believed(deed)));
    let checks = [
        ("null-answers-ok", "expected the reply unsupported, saw ok"),
        ("null-all-unsupported", "smoke/polite"),
        ("null-dies-after-hello", "saw it end with exit 1"),
        ("ignores-eof", "the end of stdin: expected exit 0 within 3 s, saw signal 9"),
        ("none", ""),
    ];
    let checks = checks
        .into_iter()
        .map(|(deed, told)| Trial::test(format!("check-{deed}"), move || checked(deed, told)));
    misdeeds.chain(null).chain(checks).collect()
}

/// The command of a driver that will do this.
fn command(deed: &str, folder: &Path) -> Vec<OsString> {
    let program = std::env::current_exe().expect("the test program has a file");
    vec![program.into(), WORD.into(), deed.into(), folder.into()]
}

pub(crate) fn open(deed: &str, folder: &Path) -> Result<ProcessClient, String> {
    let caps = Caps {
        memory: 192 << 20,
        stderr: 1 << 20,
        leave: Duration::from_millis(if deed == "ignores-eof" { 50 } else { 5_000 }),
        terminate: Duration::from_millis(50),
        end: if deed == "freezes-at-end" { Duration::from_millis(300) } else { Caps::default().end },
        ..Caps::default()
    };
    let launch = Launch {
        name: deed.to_owned(),
        runtime: String::new(),
        command: command(deed, folder),
        caps,
        stop: Arc::default(),
    };
    ProcessClient::open(launch, Identity::unpinned("", ""), true)
}

fn project() -> (TempDir, Project) {
    project_of(CASE)
}

/// A project with this one case.
pub(crate) fn project_of(case: &str) -> (TempDir, Project) {
    let root = bare_root();
    fs::write(root.path().join("fixtures/cases/mini/calls.toml"), case).expect("the case is written");
    fs::write(root.path().join("profiles/t.toml"), PROFILE).expect("the profile is written");
    let project = Project::open(root.path(), "t");
    (root, project)
}

fn judged(deed: &str, then: Then) -> Result<(), Failed> {
    let (root, project) = project();
    let client = open(deed, root.path())?;
    let (ended, heard) = project.run_heard(&client, &Choice::all(1), false);
    let run = ended.run.as_ref().ok_or_else(|| format!("nothing was run: {heard:?}"))?;
    let (outcomes, processes) = read(run)?;
    let outcome = |text: &str, check: &str| outcomes.get(&(text.to_owned(), check.to_owned())).copied();
    // The variants before and after are judged as ever.
    assert_eq!(outcome("first", "result"), Some(Outcome::Pass), "{outcomes:?}");
    assert_eq!(outcome("then", "result"), Some(Outcome::Pass), "{outcomes:?}");
    let now = ["result", "error", "silence"].map(|check| outcome("now", check));
    match then {
        Then::Undecided(told) => {
            assert_eq!(now, [Some(Outcome::Inconclusive); 3]);
            assert_eq!(ended.exit, Exit::Incomplete);
            let faults: Vec<&str> = processes.iter().filter_map(|process| process.fault.as_deref()).collect();
            assert!(faults.len() == 1 && faults[0].contains(told), "{faults:?}");
            assert!(faults[0].len() < 8_192, "{}", faults[0].len());
        }
        Then::Silent => {
            // As with any client that does nothing.
            assert_eq!(now[0], Some(Outcome::Fail));
            assert_eq!(ended.exit, Exit::Unexpected);
        }
        Then::Unharmed => {
            assert!(now[0].is_some_and(|outcome| outcome == Outcome::Pass), "{outcomes:?}");
        }
    }
    gone(root.path(), &processes)
}

/// Outcomes by the variant's text and the check's id.
pub(crate) type Outcomes = BTreeMap<(String, String), Outcome>;

/// The outcome of each check, and what became of the processes.
pub(crate) fn read(run: &RunDir) -> Result<(Outcomes, Vec<ProcessRecord>), Failed> {
    let open = OpenRun::open(&run.path).map_err(|problems| format!("{problems:?}"))?;
    let (case, claim) = open.claims.iter().next().ok_or("no claim")?;
    let mut outcomes = Outcomes::new();
    for (variant, judged) in claim.judged("the claim").map_err(|problem| problem.to_string())? {
        for check in judged.checks {
            let text = variant.key("text").unwrap_or_default().to_owned();
            outcomes.insert((text, check.id), check.outcome);
        }
    }
    let path = run.path.join(format!("observations/{case}.json"));
    let observation =
        Observation::read(&fs::read(path)?, "t", case).map_err(|problem| problem.to_string())?;
    Ok((outcomes, observation.processes))
}

/// No process is left, neither a driver's nor a child's of one.
pub(crate) fn gone(folder: &Path, processes: &[ProcessRecord]) -> Result<(), Failed> {
    let mut pids: Vec<String> = processes.iter().map(|process| process.pid.to_string()).collect();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        pids.extend(name.strip_suffix(".pid").map(str::to_owned));
    }
    // What handed itself on left no file with its id, but stands there with the folder among its words.
    let words = folder.as_os_str().as_encoded_bytes();
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path();
        let of_it = |line: Vec<u8>| line.windows(words.len()).any(|window| window == words);
        if fs::read(path.join("cmdline")).is_ok_and(of_it) {
            return Err(format!("{} has survived", path.display()).into());
        }
    }
    for pid in pids {
        let path = format!("/proc/{pid}");
        if Path::new(&path).exists() {
            return Err(format!("process {pid} has survived").into());
        }
    }
    Ok(())
}

fn not_believed(deed: &str) -> Result<(), Failed> {
    let (root, project) = project();
    let client = open(deed, root.path())?;
    let (ended, heard) = project.run_heard(&client, &Choice::all(1), false);
    assert_eq!((ended.exit, ended.report.variants), (Exit::Incomplete, 0), "{heard:?}");
    assert!(heard.iter().any(|told| told.contains("smoke/polite")), "{heard:?}");
    gone(root.path(), &[])
}

fn checked(deed: &str, told: &str) -> Result<(), Failed> {
    let (root, project) = project();
    let checked = check(&command(deed, root.path()), &project.catalogue, &project.texts)?;
    let problems = checked.problems.join("\n");
    assert!(problems.contains(told), "{problems}");
    assert_eq!(problems.is_empty(), told.is_empty(), "{problems}");
    assert!(checked.hello.is_some());
    Ok(())
}
