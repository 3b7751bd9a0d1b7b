<<<<<<< HEAD
<<<<<<< HEAD
<<<<<<< HEAD

=======
use super::*;
use crate::receipt::testing::{STORY, Story, head, open};

#[test]
fn accepted_claims_are_those_of_the_run_and_compare_equal() {
    let (out, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = open(out.path(), head(), STORY);
    let first = accept(root.path(), &run).unwrap();
    assert_eq!(first.written, ["json/depth", "sse/bom", "sse/crlf"]);
    assert_eq!(
        fs::read(root.path().join("exagent/sse/bom.json")).unwrap(),
        fs::read(run.path.join("claims/sse/bom.json")).unwrap()
    );
    let claims = load(root.path(), "exagent").unwrap();
    assert_eq!(claims, run.claims);
    assert!(compare(&claims, &run).unwrap().cases.is_empty());
    let second = accept(root.path(), &run).unwrap();
    assert_eq!((second.written.len(), second.unchanged), (0, 3));
}

#[test]
fn cases_that_are_gone_lose_their_file() {
    let (out, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    accept(root.path(), &open(out.path(), head(), STORY)).unwrap();
    let fewer = open(out.path(), head(), &STORY[..2]);
    let claims = load(root.path(), "exagent").unwrap();
    insta::assert_snapshot!(compare(&claims, &fewer).unwrap());
    assert_eq!(accept(root.path(), &fewer).unwrap().removed, ["json/depth"]);
    assert_eq!(load(root.path(), "exagent").unwrap().len(), 2);
}

#[test]
fn a_partial_run_compares_what_ran_and_is_not_accepted() {
    const PART: Story<'_> = &[
        (
            "sse/bom",
            "title = \"bom\"",
            &[("revision=2025-06-18;slice=each-cut@2..3;wire=memory", "hello", "snow")],
        ),
        ("sse/crlf", "title = \"crlf\"", &[("revision=2025-06-18;slice=whole;wire=memory", "hello", "snow")]),
    ];
    let (out, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    accept(root.path(), &open(out.path(), head(), STORY)).unwrap();
    let mut partial = head();
    partial.scope.partial = vec!["--filter sse/*".into(), "--size sample".into()];
    let run = open(out.path(), partial, PART);
    let diff = compare(&load(root.path(), "exagent").unwrap(), &run).unwrap();
    let problems = accept(root.path(), &run).unwrap_err();
    insta::assert_snapshot!(format!("{diff}\n{}", problems[0]));
}

#[test]
fn large_claims_are_named() {
    let checks: Vec<(String, String)> = (0..60)
        .map(|n| (format!("revision=2025-06-18;slice=at:{n};wire=memory"), format!("rain {n}")))
        .collect();
    let variants: Vec<(&str, &str, &str)> =
        checks.iter().map(|(v, r)| (v.as_str(), "hello", r.as_str())).collect();
    let (out, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let done = accept(root.path(), &open(out.path(), head(), &[("sse/large", "", &variants)])).unwrap();
    assert_eq!(done.oversize.len(), 1);
    assert!(
        done.oversize[0].to_string().starts_with("sse/large: expected claims of at most 4096 bytes, saw ")
    );
}

#[test]
fn what_is_no_accepted_claim_is_a_problem() {
    let (out, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(load(root.path(), "exagent").unwrap().is_empty());
    accept(root.path(), &open(out.path(), head(), STORY)).unwrap();
    let folder = root.path().join("exagent");
    fs::write(folder.join("notes.txt"), "x").unwrap();
    fs::write(folder.join("sse/UPPER.json"), "{}").unwrap();
    fs::create_dir(folder.join("sse/folder.json")).unwrap();
    std::os::unix::fs::symlink(folder.join("sse/bom.json"), folder.join("sse/link.json")).unwrap();
    fs::copy(folder.join("sse/bom.json"), folder.join("sse/crlf.json")).unwrap();
    let problems = load(root.path(), "exagent").unwrap_err();
    assert_eq!(problems.len(), 5, "{problems:#?}");
    assert!(load(root.path(), "../exagent").is_err());
}
>>>>>>> receipts
=======

>>>>>>> loader
=======

>>>>>>> client-engine
