use super::*;
use crate::receipt::catalog::Texts;
use crate::receipt::run::Summary;
use crate::receipt::testing::{head, summary};
use crate::receipt::writer::{CaseRun, RunWriter, VariantRun};
use crate::receipt::{OpenRun, diff, redact, verify};
use crate::returned::Returned;
use crate::timeline::{EventKind, Request};
use crate::variant::Wire;
use std::path::Path;
use std::sync::Arc;

const CASE: &str = r#"
title     = "A short answer"
revisions = ["2025-06-18"]

[vary]
slice = ["whole", "each-cut"]

[[peer]]
on    = "tools/call"
body  = [{ result = "snow" }]
slice = "$slice"

[[step]]
call = "echo"
as   = "first"

[[check]]
id     = "result-delivered"
clause = "sse.post.close-after"
level  = "must"
result = { of = "first", text = "snow" }
"#;

fn timeline(port: u16, returned: &str) -> Vec<Event> {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    let request = Request {
        conn: 1,
        number: 1,
        reused: false,
        method: "POST".into(),
        target: "/mcp".into(),
        headers: vec![
            ("host".into(), format!("127.0.0.1:{port}")),
            ("mcp-session-id".into(), format!("session-of-{port}")),
        ],
        head: format!("POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n").into(),
        body: body.into(),
        json: serde_json::from_str(body).ok(),
        rule: "case:0".into(),
    };
    let ended = |step: &str, text: Option<&str>| EventKind::StepEnded {
        step: step.into(),
        returned: Returned::Ok { text: text.map(str::to_owned), tools: None },
    };
    let kinds = [
        EventKind::StepBegan { step: "connect".into(), verb: "connect", client: "a".into() },
        ended("connect", None),
        EventKind::StepBegan { step: "first".into(), verb: "call_tool", client: "a".into() },
        EventKind::Accepted { conn: 1 },
        EventKind::Request(Arc::new(request)),
        ended("first", Some(returned)),
        EventKind::Teardown,
    ];
    kinds.into_iter().enumerate().map(|(at, kind)| Event { at_us: at as u64, kind }).collect()
}

/// Runs the case as the harness does: redact, judge, write.
fn run(out: &Path, port: u16, returned: &str) -> OpenRun {
    run_ending(out, port, returned, 1)
}

const PROFILE: &str = r#"
name      = "exagent"
title     = "A short answer"
client    = { builtin = "exagent" }
revisions = ["2025-06-18"]
cases     = ["json/*"]
[requires]
variants  = 3
"#;

/// The same with this exit in its manifest.
fn run_ending(out: &Path, port: u16, returned: &str, exit: u8) -> OpenRun {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let profile = ProfileFile::parse(Path::new("profiles/exagent.toml"), PROFILE).unwrap();
    let texts = Texts { profiles: profile.texts(), ..Texts::load(&root).unwrap() };
    let head = RunHead { profile_sha256: Digest(profile.digest), ..head() };
    let file =
        CaseFile::parse("json/short".parse().unwrap(), "fixtures/cases/json/short.toml", CASE).unwrap();
    let mut judge = CatalogJudge::default();
    let mut writer = RunWriter::begin(head, texts.clone(), out).unwrap();
    let mut variants = Vec::new();
    for slice in ["whole", "each-cut@1", "each-cut@2"] {
        let keys = vec![("slice".to_owned(), slice.to_owned())];
        let revision = crate::revision::Revision::V20250618;
        let variant = Variant { revision, server: None, keys, wire: Wire::Memory };
        let timeline = redact(timeline(port, returned), &[CASE]);
        judge.files.insert(file.id.clone(), file.clone());
        judge.exchanges = true;
        judge.clauses =
            Clauses::from_texts(texts.clauses.iter().map(|(n, t)| (n.as_str(), t.as_str()))).unwrap();
        let Judged { checks, exchange } = judge.judge(&file.id, &variant, &timeline).unwrap();
        variants.push(VariantRun { variant, timeline, checks, exchange, seconds: 0.0 });
    }
    writer.case(&CaseRun::new(&file, variants)).unwrap();
    let summary = Summary { exit, ..summary() };
    OpenRun::open(&writer.finish(summary).unwrap().path).unwrap()
}

#[test]
fn a_stored_run_is_judged_again_by_its_own_texts() {
    let out = tempfile::tempdir().unwrap();
    let run = run(out.path(), 40001, "snow");
    let report = verify(&run.path, &mut CatalogJudge::default()).unwrap();
    assert_eq!((report.cases, report.variants, report.checks), (1, 3, 3));
    let checks = &run.run.counts.checks;
    assert_eq!(checks.get(&crate::verdict::Outcome::Pass), Some(&3), "{checks:?}");
}

#[test]
fn a_run_cannot_end_better_than_its_results() {
    let out = tempfile::tempdir().unwrap();
    let problems = |returned: &str, exit: u8| {
        let run = run_ending(out.path(), 40001, returned, exit);
        match verify(&run.path, &mut CatalogJudge::default()) {
            Ok(report) => format!("exit {}", report.exit),
            Err(problems) => problems[0].to_string(),
        }
    };
    assert_eq!(problems("snow", 0), "exit 0");
    assert_eq!(problems("snow", 3), "exit 3");
    assert_eq!(problems("rain", 1), "exit 1");
    for exit in [0, 3] {
        let told = problems("rain", exit);
        assert!(told.contains("expected exit 1 (reconciled), since json/short result-delivered"), "{told}");
    }
}

#[test]
fn the_profile_is_the_one_that_ran() {
    let out = tempfile::tempdir().unwrap();
    let run = run(out.path(), 40001, "snow");
    let open = |change: &dyn Fn(&mut Catalog)| {
        let mut catalog = run.catalog().unwrap();
        change(&mut catalog);
        CatalogJudge::default().open(&run.run.head, &catalog).map_err(|problems| problems[0].to_string())
    };
    assert_eq!(open(&|_| {}), Ok(()));
    let other = |catalog: &mut Catalog| {
        catalog.texts.profiles.insert("exagent".into(), PROFILE.replace("variants  = 3", "variants = 2"));
    };
    assert!(open(&other).unwrap_err().contains("the text of the profile exagent"));
    assert!(open(&|catalog| catalog.texts.profiles.clear()).unwrap_err().contains("no text of this profile"));
}

#[test]
fn ports_and_session_ids_do_not_reach_the_claim() {
    let out = tempfile::tempdir().unwrap();
    let (a, b) = (run(out.path(), 40001, "snow"), run(out.path(), 50002, "snow"));
    assert_eq!(a.run.claims.root, b.run.claims.root);
    let text =
        format!("{:?}", a.timeline(&"json/short".parse().unwrap(), &read("slice=whole")).unwrap().unwrap());
    assert!(text.contains("<port:1>") && !text.contains("40001"), "{text}");
}

#[test]
fn another_answer_shows_as_another_exchange() {
    let out = tempfile::tempdir().unwrap();
    let (a, b) = (run(out.path(), 40001, "snow"), run(out.path(), 40001, "rain"));
    let text = diff::runs(&a, &b, Some(&mut CatalogJudge::default())).unwrap().to_string();
    assert!(text.contains("check result-delivered is fail and was pass, in 3 variants"), "{text}");
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    assert!(lines.iter().any(|line| line.starts_with('-') && line.contains("snow")), "{text}");
    assert!(lines.iter().any(|line| line.starts_with('+') && line.contains("rain")), "{text}");
}

#[test]
fn texts_that_cannot_be_read_are_problems() {
    let out = tempfile::tempdir().unwrap();
    let run = run(out.path(), 40001, "snow");
    let mut catalog = run.catalog().unwrap();
    catalog.cases.values_mut().for_each(|case| case.text.push_str("\nunknown = 1\n"));
    catalog.cases.insert("../up".into(), catalog.cases["json/short"].clone());
    catalog.texts.clauses.clear();
    let problems = CatalogJudge::default().open(&run.run.head, &catalog).unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:#?}");
    let variant = read("slice=every-3");
    let mut judge = CatalogJudge::default();
    judge.open(&run.run.head, &run.catalog().unwrap()).unwrap();
    assert!(judge.judge(&"json/short".parse().unwrap(), &variant, &[]).is_err());
    assert!(judge.judge(&"json/long".parse().unwrap(), &variant, &[]).is_err());
}

fn read(keys: &str) -> Variant {
    crate::receipt::fold::read_id(&format!("revision=2025-06-18;{keys};wire=memory")).unwrap()
}
