//! For machines: whatever becomes of a command, `--format json` ends stdout with one object.

use crate::program::{project, run, run_in};
use serde_json::Value;
use std::path::Path;

/// Every command that has a result for machines, asked for what is not there.
const NOTHING_THERE: [&[&str]; 14] = [
    &["conformance", "--profile", "nosuch"],
    &["conformance", "--deadline-scale", "0"],
    &["coverage", "--policy", "nosuch"],
    &["explain", "no/such"],
    &["explain", "conformance"],
    &["serve", "no/such"],
    &["replay", "no/such/run/claims/sse/comment.json"],
    &["receipts", "verify", "no/such"],
    &["receipts", "verify"],
    &["receipts", "diff", "no/such", "none"],
    &["receipts", "show", "no/such"],
    &["receipts", "show", "conformance"],
    &["bench"],
    &["mutants"],
];

/// The object of a command that ended with 2: its exit, and the problem that was told on stderr.
fn refused(root: &Path, args: &[&str]) -> Value {
    let ended = run_in(root, args);
    assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), 1, "{args:?}: {}", ended.stdout);
    let object = ended.json();
    assert_eq!(object["exit"], 2, "{args:?}: {object}");
    let problem = object["problem"].as_str().unwrap_or_default();
    assert!(!problem.is_empty(), "{args:?}: {object}");
    let told = ended.stderr.split_whitespace().collect::<String>();
    let start: String = problem.split_whitespace().collect::<String>().chars().take(20).collect();
    assert!(told.contains(&start), "{args:?}: {problem} is not in {}", ended.stderr);
    object
}

#[test]
fn what_is_not_there_is_told_in_one_object() {
    for args in NOTHING_THERE {
        let line: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
        let object = refused(&project(), &line);
        assert_eq!(object.get("profiles").is_some(), args[0] == "conformance", "{args:?}: {object}");
    }
}

#[test]
fn a_project_that_is_none_is_told_in_one_object() {
    for args in [
        &["conformance"][..],
        &["profiles"],
        &["coverage", "--policy", "exagent"],
        &["replay", "a"],
        &["receipts", "verify"],
        &["bench"],
        &["mutants"],
        &["driver", "check", "--format=json", "true"],
    ] {
        let json = if args.contains(&"--format=json") { &[][..] } else { &["--format", "json"] };
        let line = [args, json].concat();
        let object = refused(Path::new("no/such/root"), &line);
        assert!(object["problem"].as_str().is_some_and(|problem| problem.contains("--root")), "{object}");
    }
}

#[test]
fn a_line_that_cannot_be_read_is_told_in_one_object() {
    for (args, profiles) in [
        (&["profiles", "--nosuch", "--format", "json"][..], false),
        (&["driver", "check", "--format", "json"], false),
        (&["tidy", "--format", "json"], false),
        (&["bench", "--only", "nosuch", "--format=json"], false),
        (&["explain", "conformance", "--nosuch", "--format=json"], false),
        (&["--root", "conformance", "explain", "--format=json"], false),
        (&["nosuch", "conformance", "--format=json"], false),
        (&["conformance", "--repeat", "0", "--format=json"], true),
        (&["--format", "json", "--strict", "conformance"], true),
        (&["--root=.", "conformance", "--nosuch", "explain", "--format=json"], true),
        (&["nosuch", "--format=json"], false),
    ] {
        let object = refused(&project(), args);
        assert_eq!(object.get("profiles").is_some(), profiles, "{args:?}: {object}");
    }
    let told = run(["profiles", "--nosuch"]);
    assert_eq!((told.code, told.stdout.as_str()), (Some(2), ""), "a person reads stderr");
}
