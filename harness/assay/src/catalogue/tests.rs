use super::*;
use crate::bench::memory::ALLOWANCE;
use crate::peer::Calls;
use crate::peer::compile::{Context, compile};
use crate::timeline::Request;
use bytes::Bytes;
use mcp_assay_client::Limits;
use std::fmt::Write as _;
use std::fs;

const CASE: &str = "title = 'Short'\nrevisions = ['2025-06-18']\n[[step]]\nlist = true\n[[check]]\nid = 'listed'\n\
                    clause = 'sse.eol'\nresult = { of = 'step-1' }\n";
const POLITE_PEER: &str = "title = 'Polite'\nrevisions = ['2025-06-18']\n[[peer]]\non = 'ping'\n";

fn load(files: &[(&str, &str)]) -> Result<Catalogue, Vec<SourceError>> {
    let folder = tempfile::tempdir().unwrap();
    let clause = "[[clause]]\nid = 'sse.eol'\nrevisions = ['2025-06-18']\nlevel = 'must'\nbasis = 'whatwg'\n\
                  text = 'Lines end.'\nsource = 'WHATWG HTML'\n";
    for (path, text) in [("fixtures/clauses/sse.toml", clause)].iter().chain(files) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Catalogue::load(folder.path())
}

#[test]
fn the_projects_own_catalogue_loads() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let catalogue = Catalogue::load(root).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(SourceError::rendered).collect::<String>());
    });
    for revision in [Revision::V20250618, Revision::V20251125] {
        let polite = &catalogue.polite[&revision];
        assert_eq!(polite.peer[0].on, "initialize");
        let answer = polite.peer[0].body.as_ref().unwrap()[0].result_json.as_ref().unwrap();
        assert_eq!(answer["protocolVersion"], revision.as_str());
    }
}

/// One call at a time takes the share of one request and one connection: that is what a case of the family may allow, and
/// less than the whole formula, so that whoever passes that is accused.
///
/// Row EX-MEM-01.
#[test]
fn the_growth_that_cases_allow_is_the_share_of_one_call_by_the_formula() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let catalogue = Catalogue::load(root).unwrap_or_else(|_| panic!("it loads"));
    let bytes = |limits: &Limits| u64::try_from(limits.memory_bound()).unwrap();
    let least = bytes(&Limits::default().max_pending(1).max_connections(1)) + ALLOWANCE;
    let most = bytes(&Limits::default());
    let checks = catalogue.cases.values().flat_map(|file| &file.case.check);
    let bound = checks.filter(|check| check.row.as_ref().is_some_and(|row| row.get_ref() == "EX-MEM-01"));
    let allowed: Vec<u64> = bound.filter_map(|check| Some(check.memory.as_ref()?.at_most)).collect();
    assert!(allowed.len() >= 5, "{allowed:?}");
    assert!(allowed.iter().all(|bytes| (least..most).contains(bytes)), "{least} {allowed:?} {most}");
}

#[test]
fn the_id_is_the_path() {
    let files = [
        ("fixtures/cases/polite/2025-06-18.toml", POLITE_PEER),
        ("fixtures/cases/a-b/x.toml", CASE),
        ("fixtures/cases/a/y.toml", CASE),
        ("fixtures/cases/a/.y.toml.swp", "not a case"),
    ];
    let catalogue = load(&files).unwrap();
    assert_eq!(catalogue.cases.keys().map(CaseId::as_str).collect::<Vec<_>>(), ["a-b/x", "a/y"]);
    assert_eq!(catalogue.areas(), ["a", "a-b"]);
    assert_eq!(catalogue.polite.len(), 1);
}

#[test]
fn mistakes_of_all_files_are_collected() {
    let files = [
        ("fixtures/cases/stray.toml", CASE),
        ("fixtures/cases/a/Upper.toml", CASE),
        ("fixtures/cases/a/notes.md", "no case"),
        ("fixtures/cases/a/deeper/x.toml", CASE),
        ("fixtures/cases/b/one.toml", "title = 1\n"),
        ("fixtures/cases/b/two.toml", "titel = 'x'\n"),
        ("fixtures/cases/b/three.toml", "title = 'x'\nrevisions = ['2025-06-18']\n"),
        ("fixtures/cases/polite/2025-06-19.toml", POLITE_PEER),
        ("fixtures/cases/polite/2025-11-25.toml", POLITE_PEER),
        ("fixtures/cases/polite/2025-06-18.toml", &format!("max_variants = 3\n{POLITE_PEER}hold = 'h1'\n")),
    ];
    let found: String = load(&files).unwrap_err().iter().map(SourceError::rendered).collect();
    insta::assert_snapshot!(found);
}

#[test]
fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let errors = Catalogue::load(folder.path()).unwrap_err();
    let paths: Vec<&Path> = errors.iter().map(SourceError::path).collect();
    assert_eq!(paths, [Path::new("fixtures/cases"), Path::new("fixtures/clauses")]);
}

#[test]
fn the_polite_peers_answer_as_a_server_does() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let catalogue = Catalogue::load(root).unwrap();
    let mut all = String::new();
    for (revision, polite) in &catalogue.polite {
        for rule in &polite.peer {
            let (method, json) = match rule.on.as_str() {
                "GET" | "DELETE" => (rule.on.as_str(), None),
                "reply" => ("POST", Some(serde_json::json!({ "jsonrpc": "2.0", "id": 1, "result": {} }))),
                on => {
                    let params =
                        serde_json::json!({ "name": "echo", "arguments": { "text": "snow \"雪\"" } });
                    let call =
                        serde_json::json!({ "jsonrpc": "2.0", "id": 7, "method": on, "params": params });
                    ("POST", Some(call))
                }
            };
            let request = Request {
                conn: 1,
                number: 1,
                reused: false,
                method: method.to_owned(),
                target: "/mcp".to_owned(),
                headers: Vec::new(),
                head: Bytes::new(),
                body: Bytes::new(),
                json,
                rule: String::new(),
            };
            assert_eq!(request.on(), rule.on);
            let context =
                Context { revision: *revision, seed: 1, limits: &BTreeMap::new(), calls: &Calls::default() };
            let reply = compile(rule, &request, &context).unwrap();
            writeln!(all, "# {revision} {}\n{}\n", rule.on, String::from_utf8_lossy(&reply.bytes).trim_end())
                .unwrap();
        }
    }
    insta::assert_snapshot!(all);
}
