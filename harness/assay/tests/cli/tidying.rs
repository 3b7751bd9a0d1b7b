//! `tidy` on a project of its own, whole and broken.

use crate::program::{copy, project, run_in};
use std::fs;

#[test]
fn generated_files_are_written_and_broken_rules_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    copy(&project(), root);
    let drifted = run_in(root, ["tidy"]);
    assert_eq!(drifted.code, Some(1));
    assert!(
        drifted.stderr.contains("fixtures/schema/case.schema.json: expected the types' schema"),
        "{}",
        drifted.stderr
    );
    assert!(drifted.stderr.contains("tidy --write"), "{}", drifted.stderr);

    let written = run_in(root, ["tidy", "--write"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert_eq!(run_in(root, ["tidy"]).code, Some(0));

    fs::write(
        root.join("README.md"),
        "Run `cargo xtask frobnicate`.\n```console\n$ mcp-assay explain sse/bom\n```\n",
    )
    .expect("a file");
    let broken = run_in(root, ["tidy"]);
    assert_eq!(broken.code, Some(1));
    assert!(broken.stderr.contains("README.md:1: expected a command that exists, saw"), "{}", broken.stderr);
    assert!(broken.stderr.contains("1 findings"), "{}", broken.stderr);
}

#[test]
fn a_clause_with_a_check_is_not_unchecked() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    copy(&project(), root);
    let clauses = root.join("fixtures/clauses/sse.toml");
    let text = fs::read_to_string(&clauses).expect("clauses");
    fs::write(&clauses, text + "unchecked = \"nobody can\"\n").expect("clauses");
    let told = run_in(root, ["tidy", "--write"]);
    assert_eq!(told.code, Some(1));
    assert!(
        told.stderr.contains("fixtures/cases/sse/comment.toml:22: expected checks of clauses"),
        "{}",
        told.stderr
    );
}

#[test]
fn a_case_that_cannot_be_read_is_a_mistake_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    copy(&project(), root);
    assert_eq!(run_in(root, ["tidy", "--write"]).code, Some(0));
    let case = "#:schema ../../schema/case.schema.json\ntitel = \"a\"\n";
    fs::write(root.join("fixtures/cases/sse/bad.toml"), case).expect("a case");
    let told = run_in(root, ["tidy"]);
    assert_eq!(told.code, Some(2));
    assert!(told.stderr.contains("fixtures/cases/sse/bad.toml:2:1"), "{}", told.stderr);
}
