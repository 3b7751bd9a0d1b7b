use std::fs;

use super::*;
use crate::verdict::Level;

const CLAUSE: &str = "[[clause]]\nid = 'sse.eol'\nrevisions = ['2025-06-18', '2025-11-25']\nlevel = 'must-not'\n\
                      basis = 'whatwg'\ntext = 'Lines end.'\nsource = 'WHATWG HTML'\n";
const ROW: &str = "[[section]]\nprefix = 'EX-SSE'\ntitle = 'Streams'\n\n[[row]]\nid = 'EX-SSE-01'\n\
                   policy = 'exagent'\ntitle = 'Lines end'\nclient = 'ok'\nevidence = 'T'\n";

/// The project's own clauses and rows.
fn own() -> Clauses {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clauses");
    Clauses::load(folder, "fixtures/clauses").unwrap_or_else(|error| panic!("{}", error.rendered()))
}

fn load(files: &[(&str, &str)]) -> Result<Clauses, SourceError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    Clauses::load(folder.path(), "fixtures/clauses")
}

fn failure(files: &[(&str, &str)]) -> String {
    load(files).expect_err("the files are wrong").to_string()
}

#[test]
fn the_projects_own_files_hold_every_client_bound_clause() {
    let clauses = own();
    let count = |revision| clauses.of(revision).count();
    assert_eq!((count(Revision::V20250618), count(Revision::V20251125)), (120, 133));
    let reinit = clauses.get("resp.404-session-reinit").expect("a known clause");
    assert_eq!((reinit.keyword.level(), reinit.group()), (Level::Must, "resp"));
    assert!(reinit.holds_in(Revision::V20250618) && !reinit.holds_in(Revision::V20260728));
    assert!(clauses.get("resp.404").is_none());
}

#[test]
fn the_projects_own_files_hold_every_row_of_exagent() {
    let clauses = own();
    let exagent = clauses.policy("exagent").expect("its rows");
    assert_eq!(exagent.rows().len(), 198);
    let excluded = exagent.rows().iter().filter(|row| row.excluded.is_some()).count();
    assert!(excluded <= 20, "{excluded} rows are excluded");
    let row = clauses.row("EX-SSE-01").expect("a known row");
    assert_eq!((row.evidence, row.policy.as_str()), (Evidence::Test, "exagent"));
    assert!(clauses.row("EX-SSE-99").is_none());
    assert!(exagent.claims("EX-SSE-99") && !exagent.claims("SN-CFG-01"));
}

#[test]
fn files_and_ids_are_looked_up() {
    let clauses =
        load(&[("sse.toml", CLAUSE), ("rows-exagent.toml", ROW), ("notes.md", "no clause")]).unwrap();
    assert_eq!(clauses.iter().count(), 1);
    assert_eq!(clauses.get("sse.eol").map(|clause| clause.keyword), Some(Keyword::MustNot));
    assert_eq!(clauses.policies().map(PolicyRows::policy).collect::<Vec<_>>(), ["exagent"]);
}

#[test]
fn mistakes_in_clauses_point_at_the_line() {
    let with = |from: &str, to: &str| {
        assert!(CLAUSE.contains(from), "{from} must be there to be replaced");
        failure(&[("sse.toml", &CLAUSE.replace(from, to))])
    };
    let twice = format!("{CLAUSE}\n{CLAUSE}");
    let found = [
        failure(&[("sse.toml", &twice)]),
        failure(&[("http.toml", CLAUSE)]),
        failure(&[]),
        with("sse.eol", "sse"),
        with("sse.eol", "sse.EOL"),
        with("'2025-06-18', ", "'2025-11-25', "),
        with("'2025-06-18', ", "'2025-06-19', "),
        with("must-not", "must not"),
        with("whatwg", "w3c"),
        with("Lines end.", " "),
        with("source =", "unchecked = ''\nsource ="),
        with("source =", "surce ="),
    ];
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn mistakes_in_rows_point_at_the_line() {
    let with = |from: &str, to: &str| {
        assert!(ROW.contains(from), "{from} must be there to be replaced");
        failure(&[("rows-exagent.toml", &ROW.replace(from, to)), ("sse.toml", CLAUSE)])
    };
    let again = ROW.split_once("[[row]]").map_or("", |(_, row)| row);
    let found = [
        failure(&[("rows-exagent.toml", &format!("{ROW}\n[[row]]{again}"))]),
        with("policy = 'exagent'", "policy = 'snodo'"),
        with("EX-SSE-01", "EX-SES-01"),
        with("EX-SSE-01", "EX-SSE-x1"),
        with("client = 'ok'\n", ""),
        with("evidence = 'T'", "evidence = 'T'\nexcluded = ''"),
        with("evidence = 'T'", "evidence = 'X'"),
        with("[[row]]", "[[section]]\nprefix = 'EX-SSE'\ntitle = 'b'\n[[row]]"),
    ];
    insta::assert_snapshot!(found.join("\n"));
}
