use std::fs;

use super::*;
use crate::clauses::Clauses;

const ROWS: &str = r#"
section = [{ prefix = "EX-SSE", title = "Streams" }, { prefix = "EX-CFG", title = "Configuration" }]

[[row]]
id = "EX-SSE-01"
policy = "exagent"
title = "Nothing after the terminal event counts"
client = "ok"
evidence = "T"

[[row]]
id = "EX-SSE-02"
policy = "exagent"
title = "Bytes count through the terminal event"
client = "ok"
evidence = "T"

[[row]]
id = "EX-CFG-01"
policy = "exagent"
title = "A limit is positive"
client = "refused"
evidence = "S"

[[row]]
id = "EX-CFG-02"
policy = "exagent"
title = "A pool has a name"
client = "refused"
evidence = "S"
excluded = "pools have no names here"
"#;

fn rows() -> PolicyRows {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("rows-exagent.toml"), ROWS).expect("written");
    let clause = "[[clause]]\nid='sse.a'\nrevisions=['2025-06-18']\nlevel='must'\nbasis='spec'\ntext='a'\nsource='b'\n";
    fs::write(folder.path().join("sse.toml"), clause).expect("written");
    let clauses = Clauses::load(folder.path(), "fixtures").expect("the files are right");
    clauses.policy("exagent").cloned().expect("its rows")
}

/// Coverage by checks (case, check, row) and by source files (path, text).
fn cover(checks: &[(&str, &str, &str)], sources: &[(&str, &str)]) -> Coverage {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in sources {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    let owned =
        |&(case, check, row): &(&str, &str, &str)| (case.to_owned(), check.to_owned(), row.to_owned());
    coverage(&rows(), checks.iter().map(owned), folder.path()).expect("readable")
}

/// The rows that a source file covers, with what covers them.
fn found(path: &str, text: &str) -> Vec<String> {
    let mut found = scan::Found::default();
    scan::file(path, text, &mut found);
    let covers = found.covers.into_iter().map(|(row, cover)| format!("{row} {cover}"));
    covers.chain(found.problems.iter().map(ToString::to_string)).collect()
}

#[test]
fn checks_tests_and_types_cover_rows() {
    let coverage = cover(
        &[
            ("sse/suffix", "delivered", "EX-SSE-01"),
            ("sse/suffix", "delivered", "EX-SSE-01"),
            ("a/b", "c", "SN-JS-01"),
        ],
        &[
            ("client/src/sse.rs", "/// Row EX-SSE-01.\n#[test]\nfn halts() {}\n"),
            (
                "client/src/limits.rs",
                "/// A limit.\n///\n/// ```compile_fail\n/// // Row EX-CFG-01.\n/// ```\npub struct Limit;",
            ),
        ],
    );
    let case = Cover::Case { case: "sse/suffix".into(), check: "delivered".into() };
    let test = Cover::Test { file: "client/src/sse.rs".into(), function: "halts".into() };
    let by_type = Cover::Type { file: "client/src/limits.rs".into(), item: "Limit".into() };
    assert_eq!(coverage.by["EX-SSE-01"], [case, test]);
    assert_eq!(coverage.by["EX-CFG-01"], [by_type]);
    assert_eq!((coverage.rows, coverage.covered), (4, 2));
    assert_eq!(coverage.uncovered, ["EX-SSE-02"]);
    assert_eq!(coverage.problems, []);
    assert!(!coverage.is_complete());
    insta::assert_snapshot!("table", coverage.render(&rows()));
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&coverage).expect("JSON"));
}

#[test]
fn what_covers_a_row_is_one_line_however_much_it_is() {
    let cases = ["a/a", "a/b", "a/c", "a/d"].map(|case| ("EX-SSE-01", case));
    let checks: Vec<_> = cases.iter().map(|(row, case)| (*case, "ends", *row)).collect();
    let more = [("a/a", "begins", "EX-SSE-01")];
    let tests: String = (0..5).map(|n| format!("/// Row EX-SSE-01.\n#[test]\nfn t{n}() {{}}\n")).collect();
    let coverage = cover(&[checks.as_slice(), &more].concat(), &[("src/lib.rs", &tests)]);
    let text = coverage.render(&rows());
    let line = "  EX-SSE-01  cases a/a (begins, ends), a/b (ends), a/c (ends), +1 more; \
                tests t0 in src/lib.rs, t1 in src/lib.rs, t2 in src/lib.rs, +2 more\n";
    assert!(text.contains(line), "{text}");
    assert_eq!(coverage.by["EX-SSE-01"].len(), 10, "JSON has all");
}

#[test]
fn coverage_is_complete_when_nothing_is_uncovered() {
    let checks = [("a/b", "c", "EX-SSE-01"), ("a/b", "d", "EX-SSE-02"), ("a/b", "e", "EX-CFG-01")];
    let coverage = cover(&checks, &[]);
    assert!(coverage.is_complete());
    assert_eq!(coverage.rows, coverage.covered + coverage.excluded.len());
    assert!(!coverage.render(&rows()).contains("problems"));
    assert!(!cover(&checks[1..], &[]).is_complete());
}

#[test]
fn an_excluded_or_unknown_row_that_is_covered_is_a_problem() {
    let checks = [("a/b", "c", "EX-CFG-02"), ("a/b", "d", "EX-SSE-77"), ("a/b", "e", "EX-XX-01")];
    let source = "/// Row EX-CFG-02.\n#[test]\nfn named() {}\n/// Rows EX-SSE-01 to EX-SSE-02.\n#[test]\nfn range() {}\n";
    let coverage = cover(&checks, &[("src/lib.rs", source)]);
    assert_eq!((coverage.covered, coverage.excluded.len(), coverage.uncovered.len()), (0, 1, 3));
    assert_eq!(coverage.problems.len(), 5);
    assert!(!coverage.is_complete());
    insta::assert_snapshot!("problems", coverage.render(&rows()));
}

#[test]
fn a_source_of_any_size_is_not_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = fs::File::create(folder.path().join("huge.rs")).expect("made");
    file.set_len(17 << 20).expect("a hole");
    let error = coverage(&rows(), [], folder.path()).expect_err("too large");
    assert!(error.to_string().contains("huge.rs: expected a file of at most 16777216 bytes"), "{error}");
}

#[test]
fn only_rust_files_of_the_project_are_searched() {
    let text = "/// Row EX-SSE-01.\n#[test]\nfn t() {}\n";
    let elsewhere = ["target/a.rs", "x/.git/a.rs", "fixtures/servers/a.rs", "node_modules/a.rs", "src/a.txt"];
    let sources: Vec<_> = elsewhere.into_iter().map(|name| (name, text)).collect();
    assert_eq!(cover(&[], &sources).covered, 0);
    assert_eq!(cover(&[], &[("x/src/deep/a.rs", text)]).covered, 1);
    assert!(coverage(&rows(), [], "no/such/folder").is_err());
}

#[test]
fn rows_attach_to_the_test_right_below() {
    insta::assert_snapshot!("tests", found("src/a.rs", include_str!("samples/tests.rs.txt")).join("\n"));
}

#[test]
fn rows_attach_to_doc_tests_that_must_not_compile() {
    let text = include_str!("samples/types.rs.txt");
    insta::assert_snapshot!("types", found("client/src/limits.rs", text).join("\n"));
    for path in ["client/tests/a.rs", "client/src/a/tests.rs", "client/src/main.rs", "client/src/bin/a.rs"] {
        assert_eq!(found(path, text), [""; 0], "rustdoc runs no doc tests of {path}");
    }
}

proptest::proptest! {
    /// Sources need not be valid Rust.
    #[test]
    fn any_text_can_be_searched(parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..24)) {
        let text = parts.concat();
        for token in lexer::tokens(&text) {
            if let lexer::Token::OuterDoc(doc) | lexer::Token::InnerDoc(doc) = token {
                proptest::prop_assert_eq!(text.lines().nth(doc.line - 1).map(|line| line.ends_with(doc.text)), Some(true));
            }
        }
        for entry in found("src/a.rs", &text) {
            proptest::prop_assert!(entry.starts_with("EX-SSE-01 ") || entry.starts_with("src/a.rs:"), "{entry}");
        }
    }
}

/// What can be put together wrongly.
const PARTS: &[&str] = &[
    "/// Row EX-SSE-01.\n",
    "/// Rows EX-SSE-01,\n",
    "/// ```compile_fail\n",
    "/// ~~~\n",
    "///\n",
    "//! ```compile_fail\n",
    "#[test]",
    "#![test]",
    "#[",
    "]",
    "[",
    "fn ",
    "a",
    "pub(",
    ")",
    "{",
    "\n",
    "\"",
    "\\",
    "'",
    "r#",
    "br##\"",
    "\"#",
    "/*",
    "*/",
    "/",
    "*",
    "雪",
    " ",
    "b'",
    "//",
];
