<<<<<<< HEAD
<<<<<<< HEAD
<<<<<<< HEAD

=======
use super::*;
use crate::receipt::show;
use crate::receipt::testing::{Judge, STORY, Story, head, open};

const LATER: Story<'static> = &[
    (
        "sse/bom",
        "title = \"bom\"",
        &[
            ("revision=2025-06-18;slice=each-cut@1..4;wire={memory|tcp}", "hello", "snow"),
            ("revision=2025-06-18;slice=each-cut@5;wire={memory|tcp}", "hello", "hail"),
            ("revision=2025-06-18;slice=each-cut@6..8;wire={memory|tcp}", "good morning", "snow"),
            ("revision=2025-06-18;slice={at-marks|whole};wire={memory|tcp}", "hello", "snow"),
        ],
    ),
    (
        "sse/crlf",
        "title = \"crlf, with more\"",
        &[("revision=2025-06-18;slice={every-3|whole};wire=memory", "hello", "hail")],
    ),
    ("sse/new", "title = \"new\"", &[("revision=2025-06-18;wire=memory", "hello", "\u{1b}[31msnow")]),
];

#[test]
fn changes_are_explained_in_sentences() {
    let out = tempfile::tempdir().unwrap();
    let (from, to) = (open(out.path(), head(), STORY), open(out.path(), head(), LATER));
    let mut diff = runs(&from, &to, Some(&mut Judge::default())).unwrap();
    (diff.from, diff.to) = ("A".into(), "B".into());
    insta::assert_snapshot!(diff);
    insta::assert_snapshot!(serde_json::to_string_pretty(&diff).unwrap());
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let out = tempfile::tempdir().unwrap();
    let run = open(out.path(), head(), STORY);
    let diff = runs(&run, &run, None).unwrap();
    assert_eq!((diff.same, diff.cases.len()), (3, 0));
    assert!(diff.to_string().ends_with("say the same in all of 3 cases.\n"));
}

#[test]
fn runs_and_cases_show_as_text() {
    let out = tempfile::tempdir().unwrap();
    let run = open(out.path(), head(), LATER);
    let cases: Vec<String> = run.claims.values().map(show::case).collect();
    let observations = run.run.observations.root.to_string();
    let text = show::text(&run) + "\n" + &cases.join("\n");
    insta::assert_snapshot!(text.replace(&observations, "<observations>"));
}
>>>>>>> receipts
=======

>>>>>>> loader
=======

>>>>>>> client-engine
