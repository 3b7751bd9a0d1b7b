//! Runs and what can be done with their receipts.

use crate::program::{Ended, copy, project, run, run_in};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A run of some cases on the small project.
struct Run {
    out: TempDir,
    ended: Ended,
}

impl Run {
    fn of(filters: &[&str], more: &[&str]) -> Self {
        let out = tempfile::tempdir().expect("a folder");
        let mut args: Vec<String> = ["conformance", "--format", "json", "--out"].map(str::to_owned).to_vec();
        args.push(out.path().display().to_string());
        for filter in filters {
            args.extend(["--filter".to_owned(), (*filter).to_owned()]);
        }
        args.extend(more.iter().map(|arg| (*arg).to_owned()));
        let ended = run(args);
        Self { out, ended }
    }

    fn folders(&self) -> Vec<PathBuf> {
        let profile = self.out.path().join("tiny");
        let mut folders: Vec<PathBuf> = fs::read_dir(profile)
            .expect("runs")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'))
            .collect();
        folders.sort();
        folders
    }

    /// The only run.
    fn folder(&self) -> PathBuf {
        let folders = self.folders();
        assert_eq!(folders.len(), 1, "{:?}", self.ended);
        folders[0].clone()
    }

    fn claim(&self, case: &str) -> String {
        self.folder().join(format!("claims/{case}.json")).display().to_string()
    }
}

#[test]
fn a_run_can_be_verified_shown_compared_and_replayed() {
    let ran = Run::of(&["sse/comment"], &[]);
    assert_eq!((ran.ended.code, ran.ended.json()["exit"].as_u64()), (Some(0), Some(0)), "{:?}", ran.ended);
    let none = serde_json::json!({ "made": 0, "proven": 0 });
    assert_eq!(ran.ended.json()["profiles"][0]["cuts"], none, "nothing is cut on TCP here");
    let folder = ran.folder();
    let text = folder.display().to_string();

    let verified = run(["receipts", "verify", &text, "--format", "json"]);
    assert_eq!(verified.code, Some(0), "{}", verified.stderr);
    assert_eq!(verified.json()["runs"][0]["verified"], true);
    assert_eq!(verified.json()["runs"][0]["report"]["variants"], 4);

    let same = run(["receipts", "diff", &text, &text, "--format", "json"]);
    assert_eq!((same.code, same.json()["same"].as_bool()), (Some(0), Some(true)), "{}", same.stderr);

    let shown = run(["receipts", "show", &text, "--format", "json"]);
    assert_eq!((shown.code, shown.json()["run"]["head"]["profile"].as_str()), (Some(0), Some("tiny")));
    let out = ran.out.path().display().to_string();
    let words = ["mcp-assay", "--root", &project().display().to_string(), "conformance", "--format", "json"]
        .map(str::to_owned)
        .into_iter()
        .chain(["--out", &out, "--filter", "sse/comment"].map(str::to_owned));
    assert_eq!(shown.json()["run"]["head"]["command"], serde_json::json!(words.collect::<Vec<_>>()));
    let case = run(["receipts", "show", &text, "sse/comment"]);
    assert!(case.stdout.contains("comment={long|short}"), "{}", case.stdout);
    assert_eq!(run(["receipts", "show", &text, "sse/coment"]).code, Some(2));

    for judge in [&[][..], &["--judge"]] {
        let claim = ran.claim("sse/comment");
        let args = ["replay", &claim, "--format", "json"].into_iter().chain(judge.iter().copied());
        let replayed = run(args);
        assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
        let json = replayed.json();
        let variants = json["variants"].as_array().expect("variants");
        // One of each group: the socket is looked at in whole variants only.
        assert_eq!(variants.len(), 2, "{json}");
        assert!(variants.iter().all(|variant| variant["same"] == true), "{json}");
    }
    let one = "#revision=2025-06-18;comment=long;slice=at-marks;wire=memory";
    let replayed = run(["replay".to_owned(), ran.claim("sse/comment") + one]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    assert!(
        replayed.stdout.starts_with(&format!("same       sse/comment{one}: run again")),
        "{}",
        replayed.stdout
    );
    // Who names one variant sees all of it: each request, not only those around a failure.
    let requests = ["initialize", "notifications/initialized", "tools/call"];
    assert!(requests.iter().all(|on| replayed.stdout.contains(on)), "{}", replayed.stdout);
}

#[test]
fn a_broken_should_is_told_in_a_line_and_is_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&project(), folder.path());
    let case = "title = 'Calls twice'\nrevisions = ['2025-06-18']\n[vary]\ntext = ['snow', 'rain']\n\
                [[step]]\ncall = 'echo'\nas = 'first'\nargs = { text = '$text' }\n\
                [[check]]\nid = 'twice'\nclause = 'sse.comment'\nlevel = 'should'\n\
                count = { of = { on = 'tools/call' }, is = 2 }\n";
    fs::write(folder.path().join("fixtures/cases/sse/noted.toml"), case).expect("a case");
    let noted = |more: &[&str]| {
        let args = ["conformance", "--filter", "sse/noted"].iter().chain(more);
        run_in(folder.path(), args)
    };
    let json = noted(&["--format", "json"]);
    assert_eq!(json.code, Some(0), "{}", json.stderr);
    let note = &json.json()["profiles"][0]["notes"][0];
    assert_eq!((note["case"].as_str(), note["check"].as_str()), (Some("sse/noted"), Some("twice")));
    assert_eq!((note["level"].as_str(), note["clause"].as_str()), (Some("should"), Some("sse.comment")));
    assert_eq!(note["variants"], json.json()["profiles"][0]["checks"]["note"], "{note}");
    let human = noted(&[]);
    let line = format!(
        "  note: sse/noted twice (should, sse.comment): expected {}; saw {} ({} variants)\n",
        note["expected"].as_str().unwrap_or_default(),
        note["actual"].as_str().unwrap_or_default(),
        note["variants"]
    );
    assert!(human.stdout.contains(&line), "{line}{}", human.stdout);
    assert_eq!(noted(&["--strict"]).code, Some(1));
}

#[test]
fn a_red_run_is_red_and_replays_with_its_failure() {
    let ran = Run::of(&["sse/wrong"], &[]);
    assert_eq!((ran.ended.code, ran.ended.json()["exit"].as_u64()), (Some(1), Some(1)));
    assert_eq!(ran.ended.json()["profiles"][0]["checks"]["fail"], 1);
    let replayed = run(["replay", &ran.claim("sse/wrong")]);
    // It is what was recorded, which was a failure.
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    assert!(replayed.stdout.contains("FAIL sse/wrong#"), "{}", replayed.stdout);
    assert!(replayed.stdout.contains("  replay    mcp-assay replay "), "{}", replayed.stdout);
}

#[test]
fn a_run_of_a_tier_says_so_and_compares_what_ran() {
    let ran = Run::of(&[], &["--tier", "smoke"]);
    assert_eq!(ran.ended.code, Some(0), "the case that is red is not of it: {}", ran.ended.stderr);
    let profile = &ran.ended.json()["profiles"][0];
    assert_eq!((profile["tier"].as_str(), profile["cases"].as_u64()), (Some("smoke"), Some(2)));
    assert!(ran.ended.stderr.contains("tiny, tier smoke: 2 cases, about 1 s\n"), "{}", ran.ended.stderr);
    let folder = ran.folder().display().to_string();
    let run_json = &run(["receipts", "show", &folder, "--format", "json"]).json()["run"];
    let scope = &run_json["head"]["scope"];
    assert_eq!((scope["tier"].as_str(), scope["size"].as_str()), (Some("smoke"), Some("sample")), "{scope}");
    assert_eq!(scope["partial"], serde_json::json!(["tier smoke"]));
    let not_qualified = run_json["summary"]["not_qualified"].to_string();
    assert!(not_qualified.contains("only what was chosen by tier smoke ran"), "{not_qualified}");
    assert_eq!(run(["receipts", "verify", &folder]).code, Some(0));
    let whole = Run::of(&[], &[]);
    let shown = run(["receipts", "show", &whole.folder().display().to_string(), "--format", "json"]).json();
    assert_eq!(shown["run"]["head"]["scope"].get("tier"), None);
}

#[test]
fn nothing_run_names_what_left_nothing() {
    let ran = Run::of(&["sse/comment"], &["--wire", "tcp"]);
    assert_eq!(ran.ended.code, Some(3), "{}", ran.ended.stderr);
    let unexpected = ran.ended.json()["profiles"][0]["unexpected"].to_string();
    assert!(unexpected.contains("cases in the profile tiny: 3; --wire tcp leaves none"), "{unexpected}");
}

#[test]
fn runs_that_differ_are_told_apart() {
    let (green, red) = (Run::of(&["sse/comment"], &[]), Run::of(&["sse/wrong"], &[]));
    let ended = run([
        "receipts".to_owned(),
        "diff".to_owned(),
        green.folder().display().to_string(),
        red.folder().display().to_string(),
    ]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.contains("sse/comment\n  is gone.") && ended.stdout.contains("sse/wrong\n  is new"));
    let name = green.folder().file_name().expect("a name").to_string_lossy().into_owned();
    let first = format!("Note: {name} is a partial run (filter): what it lacks was not chosen.\n");
    assert!(ended.stdout.starts_with(&first), "{}", ended.stdout);
}

#[test]
fn a_run_that_was_touched_is_refused() {
    let ran = Run::of(&["sse/wrong"], &[]);
    let claim = ran.claim("sse/wrong");
    let text = fs::read_to_string(&claim).expect("a claim");
    fs::write(&claim, text.replace("\"fail\"", "\"pass\"")).expect("a touched claim");
    let folder = ran.folder().display().to_string();
    let verified = run(["receipts", "verify", &folder, "--format", "json"]);
    assert_eq!((verified.code, verified.json()["exit"].as_u64()), (Some(1), Some(1)));
    assert_eq!(verified.json()["runs"][0]["verified"], false);
    assert!(verified.stderr.contains("claims/sse/wrong.json"), "{}", verified.stderr);
    assert_eq!(run(["replay", &claim]).code, Some(1));
    assert_eq!(run(["receipts", "show", &folder]).code, Some(1));
}

#[test]
fn what_is_not_there_is_a_mistake_of_the_caller() {
    for args in [
        vec!["receipts", "verify", "no/such/run"],
        vec!["receipts", "verify"],
        vec!["receipts", "show", "no/such/run"],
        vec!["receipts", "diff", "accepted", "no/such/run"],
        vec!["replay", "no/such/run/claims/sse/comment.json"],
        vec!["replay", "no/such/run"],
    ] {
        let ended = run(&args);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{args:?}: {}", ended.stderr);
        assert!(!ended.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn repetitions_must_agree_and_a_failure_ends_them() {
    let twice = Run::of(&["sse/comment"], &["--repeat", "2"]);
    assert_eq!(twice.ended.code, Some(0), "{}", twice.ended.stderr);
    let json = twice.ended.json();
    assert_eq!(json["profiles"][0]["claims_root"], json["profiles"][1]["claims_root"]);
    assert_eq!(twice.folders().len(), 2);
    let root = json["profiles"][0]["claims_root"].as_str().expect("a root");
    assert!(
        twice.ended.stderr.ends_with(&format!("tiny: 2 runs, one claims root: {root}\n")),
        "{}",
        twice.ended.stderr
    );
    let until = Run::of(&["sse/wrong"], &["--until-failure"]);
    assert_eq!(until.ended.code, Some(1), "{}", until.ended.stderr);
    assert_eq!(until.ended.json()["profiles"].as_array().map(Vec::len), Some(1));
}

#[test]
fn accepted_claims_are_compared_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    copy(&project(), root);
    let accepted = run_in(root, ["conformance", "--accept"]);
    assert_eq!(accepted.code, Some(1), "one case is red, accepted or not: {}", accepted.stderr);
    assert!(root.join("receipts/accepted/tiny/sse/comment.json").is_file());

    // Without a name: the newest run of each profile.
    let verified = run_in(root, ["receipts", "verify", "--format", "json"]).json();
    assert_eq!(verified["exit"], 0);
    let run = root.join(verified["runs"][0]["run"].as_str().expect("a run"));
    let diff = |run: &Path| {
        run_in(root, ["receipts", "diff", "accepted", &run.display().to_string(), "--format", "json"])
    };
    assert_eq!(diff(&run).code, Some(0));

    let claim = root.join("receipts/accepted/tiny/sse/wrong.json");
    let text = fs::read_to_string(&claim).expect("an accepted claim");
    fs::write(&claim, text.replace("\"fail\"", "\"pass\"")).expect("another claim");
    let differs = diff(&run);
    assert_eq!(differs.code, Some(1), "{}", differs.stderr);
    assert_eq!(differs.json()["diff"]["cases"][0]["case"], "sse/wrong");

    // The run that comes next is held against it, says so, and says how to see it.
    let again = run_in(root, ["conformance", "--format", "json"]);
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    let unexpected = again.json()["profiles"][0]["unexpected"].to_string();
    assert!(unexpected.contains("differs from the accepted claims"), "{unexpected}");
    assert!(again.stderr.contains("/claims/CASE.json#VARIANT'` runs a variant again"), "{}", again.stderr);

    // The commands can be copied, whatever the folder is called.
    let out = root.join("it's here");
    let odd = run_in(root, ["conformance", "--out", &out.display().to_string()]);
    let folder = format!("{}/tiny/", out.display()).replace('\'', "'\\''");
    for command in ["`mcp-assay receipts show '", "`mcp-assay replay '"] {
        assert!(odd.stderr.contains(&format!("{command}{folder}")), "{command}: {}", odd.stderr);
    }
    assert!(odd.stderr.contains("  again     mcp-assay conformance --profile tiny "), "{}", odd.stderr);
}

#[test]
fn what_a_run_is_held_against_is_looked_at_before_it_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    copy(&project(), root);
    let twin = run_in(root, ["conformance", "--twin"]);
    assert_eq!(twin.code, Some(2), "{}", twin.stderr);
    assert!(twin.stderr.contains("it has no twin"), "{}", twin.stderr);
    fs::create_dir_all(root.join("receipts/accepted/tiny/sse")).expect("a folder");
    fs::write(root.join("receipts/accepted/tiny/sse/comment.json"), "{").expect("a broken claim");
    let broken = run_in(root, ["conformance"]);
    assert_eq!(broken.code, Some(2), "{}", broken.stderr);
    assert!(broken.stderr.contains("comment.json"), "{}", broken.stderr);
    assert!(!root.join("receipts/runs").exists(), "nothing was run");
}
