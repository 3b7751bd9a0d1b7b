//! The exit, from the profile's file to the number, both ways: a small catalogue in which everything is known.

use crate::stage::{Project, bare_root};
use mcp_assay::driver::builtin::BuiltinClient;
use mcp_assay::report::Cuts;
use mcp_assay::run::Choice;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const HEAD: &str = "title = 'A small case'\nrevisions = ['2025-06-18']\n";
const CALL: &str = "[[step]]\ncall = 'echo'\nas = 'first'\nargs = { text = 'snow' }\n";

fn check(rest: &str) -> String {
    format!("[[check]]\nid = 'c'\nclause = 'resp.client-both-types'\n{rest}\n")
}

/// A project of four cases: one that holds, one that does not, one that says nothing, one that is wrong.
fn root() -> TempDir {
    let root = bare_root();
    let cases = root.path().join("fixtures/cases");
    let cut = "[vary]\nslice = ['whole', 'each-cut']\n[[peer]]\non = 'tools/list'\nslice = '$slice'\n\
               body = [{ result_json = { tools = [] } }]\n";
    for (name, body) in [
        ("good", format!("{HEAD}{CALL}{}", check("result = { of = 'first', text = 'snow' }"))),
        ("bad", format!("{HEAD}{CALL}{}", check("result = { of = 'first', text = 'rain' }"))),
        (
            "should",
            format!("{HEAD}{CALL}{}", check("level = 'should'\nresult = { of = 'first', text = 'rain' }")),
        ),
        (
            "silent",
            format!(
                "{HEAD}{CALL}{}",
                check("given = { seen = { on = 'ping' } }\nseen = { on = 'tools/call' }")
            ),
        ),
        ("wrong", format!("{HEAD}{cut}{CALL}{}", check("seen = { on = 'tools/call' }"))),
    ] {
        fs::write(cases.join("mini").join(format!("{name}.toml")), body).unwrap();
    }
    root
}

fn write_profile(root: &Path, cases: &str, rest: &str) {
    let text = format!(
        "name = 't'\ntitle = 'A small profile'\nclient = {{ builtin = 'exagent' }}\n\
         revisions = ['2025-06-18']\ncases = [{cases}]\n{rest}"
    );
    fs::write(root.join("profiles/t.toml"), text).unwrap();
}

fn deviation(case: &str, rest: &str) -> String {
    format!(
        "[[deviation]]\ncase = 'mini/{case}'\ncheck = 'c'\nrevision = '2025-06-18'\nreason = 'known'\n{rest}\n"
    )
}

fn expect(case: &str) -> String {
    format!(
        "[[expect]]\noutcome = 'unexercised'\ncase = 'mini/{case}'\ncheck = 'c'\nrevision = '2025-06-18'\n\
         reason = 'no ping'\n"
    )
}

#[test]
fn each_exit_is_reached_and_only_for_its_reason() {
    let root = root();
    let client = BuiltinClient::named("exagent").unwrap();
    let actual = |text: &str| format!("actual = 'succeeded with text \"{text}\"'");
    for (what, cases, rest, strict, exit, told) in [
        ("as expected", "'mini/good'", String::new(), false, 0, ""),
        ("a failure", "'mini/*d'", String::new(), false, 1, "mini/bad c: failed"),
        ("a known failure", "'mini/*d'", deviation("bad", ""), false, 0, ""),
        ("as it is known", "'mini/bad'", deviation("bad", &actual("snow")), false, 0, ""),
        (
            "not as it is known",
            "'mini/bad'",
            deviation("bad", &actual("hail")),
            false,
            1,
            "mini/bad c: failed",
        ),
        ("a stale deviation", "'mini/good'", deviation("good", ""), false, 1, "but passed"),
        ("a stale one of some", "'mini/good'", deviation("good", "fails = 'some'"), false, 1, "none failed"),
        ("a note", "'mini/should'", String::new(), false, 0, ""),
        ("a strict note", "'mini/should'", String::new(), true, 1, "mini/should c: failed"),
        ("a listed should", "'mini/should'", deviation("should", ""), true, 0, ""),
        ("a gap", "'mini/silent'", String::new(), false, 3, "unexercised, and not listed so"),
        ("a gap that is listed", "'mini/silent'", expect("silent"), false, 0, ""),
        ("a list without its gap", "'mini/good'", expect("good"), false, 1, "it never came"),
        ("a floor", "'mini/good'", "[requires]\nmini = 2\n".to_owned(), false, 3, "variants of mini: 1 ran"),
        ("a floor that is reached", "'mini/good'", "[requires]\nmini = 1\n".to_owned(), false, 0, ""),
        ("a violation and a gap", "'mini/bad', 'mini/silent'", String::new(), false, 1, "unexercised"),
        ("a case that cuts nothing", "'mini/wrong'", String::new(), false, 2, "expected a reply that"),
    ] {
        write_profile(root.path(), cases, &rest);
        let project = Project::open(root.path(), "t");
        let (ended, _) = project.run_heard(&client, &Choice::all(1), strict);
        let unexpected = ended.report.unexpected.join("\n");
        assert_eq!(ended.exit.code(), exit, "{what}: {unexpected}");
        assert!(unexpected.contains(told), "{what}: {unexpected}");
        assert_eq!(unexpected.is_empty(), exit == 0, "{what}: {unexpected}");
        // Runs that end badly leave receipts too, wherever something was run.
        assert_eq!(ended.run.is_some(), ended.report.variants > 0, "{what}");
    }
}

#[test]
fn a_check_that_fails_often_hides_no_other() {
    let root = root();
    let rain =
        |id: &str| check("result = { of = 'first', text = 'rain' }").replace("'c'", &format!("'{id}'"));
    let call = CALL.replace("'snow'", "'$text'");
    let few = format!("{HEAD}[vary]\ntext = ['a', 'b', 'd', 'e', 'f', 'g']\n{call}{}", rain("only"));
    fs::write(root.path().join("fixtures/cases/mini/few.toml"), few).unwrap();
    let many: String = ["c1", "c2", "c3", "c4", "c5"].map(rain).concat();
    fs::write(root.path().join("fixtures/cases/mini/many.toml"), format!("{HEAD}{CALL}{many}")).unwrap();
    write_profile(root.path(), "'mini/few', 'mini/many'", "");
    let client = BuiltinClient::named("exagent").unwrap();
    let (ended, heard) = Project::open(root.path(), "t").run_heard(&client, &Choice::all(1), false);
    assert_eq!((ended.exit.code(), ended.report.checks.fail), (1, 11));
    let shown: Vec<&str> =
        heard.iter().filter_map(|text| text.split_once("check     ")?.1.split(' ').next()).collect();
    assert_eq!(shown, ["only", "c1", "c2", "c3", "c4"]);
}

#[test]
fn cuts_are_counted_on_tcp_alone() {
    let root = root();
    let cut = format!(
        "{HEAD}[[peer]]\non = 'tools/call'\nslice = 'at-marks'\nbody = [{{ result = 'snow' }}]\n{CALL}{}",
        check("result = { of = 'first', text = 'snow' }")
    );
    fs::write(root.path().join("fixtures/cases/mini/cut.toml"), cut).unwrap();
    let client = BuiltinClient::named("exagent").unwrap();
    let cuts = |wires: &str| {
        write_profile(root.path(), "'mini/cut'", wires);
        let (ended, _) = Project::open(root.path(), "t").run_heard(&client, &Choice::all(1), false);
        assert_eq!(ended.exit.code(), 0, "{:?}", ended.report.unexpected);
        ended.report.cuts
    };
    assert_eq!(cuts(""), Cuts::default());
    let tcp = cuts("[wires]\nmemory = ['*']\ntcp = ['mini']\n");
    assert!(tcp.made > 0 && tcp.proven <= tcp.made, "{tcp:?}");
}

#[test]
fn nothing_run_is_incomplete() {
    let root = root();
    write_profile(root.path(), "'mini/*'", "");
    let project = Project::open(root.path(), "t");
    let client = BuiltinClient::named("exagent").unwrap();
    let choice = Choice { filters: vec!["sse/".parse().unwrap()], ..Choice::all(1) };
    let (ended, _) = project.run_heard(&client, &choice, false);
    assert_eq!((ended.exit.code(), ended.run), (3, None));
    let [nothing, why] = ended.report.unexpected.as_slice() else { panic!("{:?}", ended.report.unexpected) };
    assert_eq!(nothing, "nothing was run, and nothing run is no success");
    assert!(
        why.starts_with("cases in the profile t: ") && why.ends_with("; --filter sse/* leaves none"),
        "{why}"
    );
}

#[test]
fn a_catalogue_without_the_smoke_case_lets_nobody_be_believed() {
    let root = root();
    fs::remove_file(root.path().join("fixtures/cases/smoke/polite.toml")).unwrap();
    write_profile(root.path(), "'mini/good'", "");
    let project = Project::open(root.path(), "t");
    let client = BuiltinClient::named("exagent").unwrap();
    let (ended, _) = project.run_heard(&client, &Choice::all(1), false);
    assert_eq!((ended.exit.code(), ended.report.variants), (3, 0));
    assert!(ended.report.unexpected.iter().any(|line| line.contains("expected the case smoke/polite")));
}

#[test]
fn the_process_ends_with_the_exit_and_prints_one_json_object_last() {
    let root = root();
    for (cases, rest, exit) in [
        ("'mini/good'", String::new(), 0),
        ("'mini/bad'", String::new(), 1),
        ("'mini/good'", deviation("gone", ""), 2),
        ("'mini/silent'", String::new(), 3),
    ] {
        write_profile(root.path(), cases, &rest);
        let ended = Command::new(env!("CARGO_BIN_EXE_mcp-assay"))
            .args(["conformance", "--profile", "t", "--format", "json", "--root"])
            .arg(root.path())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(exit), "{cases}: {told}");
        let stdout = String::from_utf8(ended.stdout).unwrap();
        let last: serde_json::Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
        assert_eq!(last["exit"], exit);
        if exit == 2 {
            assert!(told.contains("profiles/t.toml"), "{told}");
            assert_eq!(last["profiles"], serde_json::json!([]));
            assert!(last["problem"].as_str().is_some_and(|told| told.contains("`mini/gone`")), "{last}");
            continue;
        }
        assert_eq!(last["profiles"][0]["variants"], 1);
    }
}

#[test]
fn json_ends_the_output_where_nothing_could_be_run() {
    let root = root();
    let missing = root.path().join("missing").display().to_string();
    let json = |args: &[&str], exit| {
        let ended = Command::new(env!("CARGO_BIN_EXE_mcp-assay"))
            .args(["conformance", "--profile", "t", "--format", "json"])
            .args(args)
            .output()
            .unwrap();
        assert_eq!(ended.status.code(), Some(exit), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
        let stdout = String::from_utf8(ended.stdout).unwrap();
        serde_json::from_str::<serde_json::Value>(stdout.lines().last().unwrap()).unwrap()
    };
    let here = root.path().display().to_string();
    for (args, problem) in [
        (["--root", &missing, "--strict"], "expected fixtures/cases below"),
        (["--root", &here, "--bogus"], "unexpected argument '--bogus' found"),
        (["--root", &here, "--filter=["], "--filter: "),
        (["--root", &here, "--list"], "profiles/t.toml"),
    ] {
        let last = json(&args, 2);
        assert_eq!((&last["exit"], &last["profiles"]), (&2.into(), &serde_json::json!([])), "{args:?}");
        assert!(last["problem"].as_str().is_some_and(|told| told.contains(problem)), "{args:?}: {last}");
    }
    // Its folder of runs is a file: the profile is in order, and did not get to run.
    write_profile(root.path(), "'mini/good'", "[tiers.smoke]\nseconds = 30\ncases = ['mini/good']\n");
    let file = root.path().join("profiles/t.toml").display().to_string();
    let last = json(&["--root", &here, "--tier", "smoke", "--out", &file], 3);
    let profile = &last["profiles"][0];
    assert_eq!(
        (&last["exit"], &profile["name"], &profile["tier"]),
        (&3.into(), &"t".into(), &"smoke".into())
    );
    assert_eq!(profile["unexpected"].as_array().map(Vec::len), Some(1), "{last}");
}
