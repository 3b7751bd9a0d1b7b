//! Commands that only look.

use crate::program::{copy, project, run, run_in};
use std::fs;
use std::path::Path;

#[test]
fn explain_shows_what_goes_over_the_wire_and_what_is_expected() {
    let ended = run(["explain", "sse/comment#comment=long"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    insta::assert_snapshot!(ended.stdout);
}

#[test]
fn explain_takes_a_case_by_its_file_and_a_variant_by_its_id() {
    let id = "revision=2025-06-18;comment=short;slice=at-marks;wire=memory";
    let ended = run(["explain".to_owned(), format!("fixtures/cases/sse/comment.toml#{id}")]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains(&format!("shown      {id}\n")), "{}", ended.stdout);
}

#[test]
fn names_that_are_almost_right_get_help() {
    for (args, help) in [
        (vec!["explain", "sse/coment"], "did you mean `sse/comment`?"),
        (vec!["explain", "sse/comment#coment=long"], "did you mean `comment`?"),
        (vec!["explain", "sse/comment#comment=lonk"], "did you mean `long`?"),
        (vec!["explain", "sse/comment", "--revision", "2025-11-25"], "expected 2025-06-18"),
        (vec!["serve", "sse/coment"], "did you mean `sse/comment`?"),
        (vec!["coverage", "--policy", "exagnet"], "did you mean `exagent`?"),
        (vec!["conformance", "--profile", "tinny"], "did you mean `tiny`?"),
        (vec!["conformence"], "conformance"),
        (vec!["mutants"], "in a checkout, `cargo xtask mutants` builds one that can"),
        (vec!["explain", "sse/\u{1b}[2J"], "\\x1b[2J"),
    ] {
        let ended = run(&args);
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(help), "{args:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains('\u{1b}'), "{args:?}");
        assert_eq!(ended.stdout, "", "{args:?}");
    }
}

#[test]
fn the_list_says_what_would_run() {
    let ended = run(["conformance", "--list"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    insta::assert_snapshot!(ended.stdout);
    let json = run(["conformance", "--list", "--filter", "sse/comment", "--format", "json"]).json();
    assert_eq!(json["profiles"][0]["cases"][0]["id"], "sse/comment");
    assert_eq!(json["profiles"][0]["cases"][0]["on"][0]["combinations"], 4);
    assert_eq!(json["exit"], 0);
    let none = run(["conformance", "--list", "--filter", "nothing/*", "--format", "json"]);
    assert_eq!((none.code, none.json()["exit"].as_u64()), (Some(3), Some(3)));
}

#[test]
fn profiles_say_what_they_need() {
    let ended = run(["profiles"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    insta::assert_snapshot!(ended.stdout);
    let json = run(["profiles", "--format", "json"]).json();
    let tiny = &json["profiles"][0];
    assert_eq!((tiny["name"].as_str(), tiny["needs"].as_str()), (Some("tiny"), Some("Rust only")));
    assert_eq!((tiny["here"].as_bool(), tiny["default"].as_bool()), (Some(true), Some(true)));
}

#[test]
fn coverage_ends_in_one_object() {
    let json = run(["coverage", "--policy", "exagent", "--format", "json"]).json();
    assert_eq!((json["rows"].as_u64(), json["covered"].as_u64()), (Some(1), Some(1)));
    let by = serde_json::json!([{ "case": { "case": "sse/comment", "check": "socket-released" } }]);
    assert_eq!(json["by"]["EX-SSE-01"], by);
}

#[test]
fn coverage_says_what_covers_a_row_and_a_row_that_nothing_covers_is_exit_1() {
    let covered = run(["coverage", "--policy", "exagent"]);
    assert_eq!(covered.code, Some(0), "{}", covered.stderr);
    assert!(
        covered.stdout.contains("\n  EX-SSE-01  case sse/comment (socket-released)\n"),
        "{}",
        covered.stdout
    );

    let folder = tempfile::tempdir().expect("a folder");
    copy(&project(), folder.path());
    let rows = folder.path().join("fixtures/clauses/rows-exagent.toml");
    let text = fs::read_to_string(&rows).expect("rows");
    let row = "[[row]]\nid = 'EX-SSE-02'\npolicy = 'exagent'\ntitle = 'b'\nclient = 'c'\nevidence = 'T'\n";
    fs::write(&rows, format!("{text}\n{row}")).expect("a row more");
    let uncovered = run_in(folder.path(), ["coverage", "--policy", "exagent", "--format", "json"]);
    assert_eq!(uncovered.code, Some(1), "{}", uncovered.stderr);
    assert_eq!(uncovered.json()["uncovered"], serde_json::json!(["EX-SSE-02"]));
}

#[test]
fn every_row_of_exagent_is_covered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ended = run_in(&root, ["coverage", "--policy", "exagent"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn help_is_no_mistake() {
    let ended = run(["--help"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(ended.stdout);
    assert_eq!(run(["conformance", "--repeat", "0"]).code, Some(2));
}
