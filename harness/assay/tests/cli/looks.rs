//! Commands that only look.

use crate::program::{copy, project, run, run_in};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of this repository.
fn own_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

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
        (vec!["conformance", "--tier", "nightly"], "expected smoke, pr or full"),
        (vec!["conformance", "--tier", "pr"], "the profile tiny declares no such tier; it has smoke, full"),
        (vec!["conformance", "--tier", "smoke", "--accept"], "expected a whole run, saw --tier smoke"),
        (vec!["conformence"], "conformance"),
        (vec!["mutants"], "in a checkout of the project this command builds one that can"),
        (vec!["explain", "sse/\u{1b}[2J"], "\\x1b[2J"),
        (vec!["pro\u{1b}[2J\nfiles"], "'pro\\x1b[2J\\nfiles'"),
        (vec!["profiles", "--format", "\u{9b}2J"], "'\\x9b2J'"),
        (vec!["profiles", "--\u{1b}[31m"], "--\\x1b[31m"),
    ] {
        let ended = run(&args);
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(help), "{args:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains(['\u{1b}', '\u{9b}']), "{args:?}");
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
    assert_eq!(
        (json["profiles"][0]["tier"].as_str(), &json["profiles"][0]["estimate_seconds"]),
        (Some("full"), &1.into())
    );
    let none = run(["conformance", "--list", "--filter", "nothing/*", "--format", "json"]);
    assert_eq!((none.code, none.json()["exit"].as_u64()), (Some(3), Some(3)));
    let why = "nothing would run: cases in the profile tiny: 3; --filter nothing/* leaves none";
    assert!(none.stderr.contains(why), "{}", none.stderr);
}

#[test]
fn a_tier_is_listed_as_the_part_it_is() {
    let ended = run(["conformance", "--list", "--tier", "smoke"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("tiny, tier smoke: Two small cases\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("  all                 2 cases "), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("  about 1 s, by the pace that the profile states\n"), "{}", ended.stdout);
    let json = run(["conformance", "--list", "--tier", "smoke", "--format", "json"]).json();
    assert_eq!(json["profiles"][0]["tier"], "smoke");
}

#[test]
fn profiles_say_what_they_need() {
    let ended = run(["profiles"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    insta::assert_snapshot!(ended.stdout);
    let json = run(["profiles", "--format", "json"]).json();
    let tiny = &json["profiles"][0];
    assert_eq!((tiny["name"].as_str(), tiny["needs"].as_str()), (Some("tiny"), Some("Rust only")));
    assert_eq!(tiny["tiers"], serde_json::json!([{ "name": "smoke", "seconds": 30 }]));
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
    let ended = run_in(&own_root(), ["coverage", "--policy", "exagent"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_case_for_sdk_servers_is_explained_without_one() {
    let root = own_root();
    let case = "sdk-suffix/faults#slice=every-3;then=hold;suffix=invalid-utf8";
    let ended = run_in(&root, ["explain", case, "--format", "json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let json = ended.json();
    let text = json["text"].as_str().expect("text");
    for wanted in [
        "  servers    ts1-stateful-sse, ",
        "  shown      revision=2025-06-18;slice=every-3;then=hold;suffix=invalid-utf8;wire=tcp\n",
        "The client is made to\n",
        "What the tap does to the server's answers\n  the answer to tools/call, each\n",
        "    is gathered and written in parts: every-3 over the body\n",
        "    2 bytes are put in, after all that the server wrote\n      0000  \\xff\\n\n",
        "    then body and connection are left open, until the client closes it\n",
        "What is expected\n",
        "EX-SSE-08",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(!text.contains("built-in client here") && !text.contains("does not bind"), "{text}");
    assert!(json["servers"].as_array().is_some_and(|servers| servers.len() > 1), "{json}");
    let withheld = run_in(&root, ["explain", "sdk-bounds/control-workers"]);
    assert!(
        withheld.stdout.contains("    is taken from the server and not passed on; "),
        "{}",
        withheld.stdout
    );
    assert!(!withheld.stdout.contains("goes on as the server has it"), "{}", withheld.stdout);
    for (args, help) in [
        (["explain", "sdk-suffix/faults#server=ts1-stateful-json"], "does not fit"),
        (["explain", "sdk-suffix/faults#wire=memory"], "SDK servers are on TCP"),
        (["serve", "sdk-suffix/faults"], "`explain sdk-suffix/faults` shows the case"),
    ] {
        let refused = run_in(&root, args);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(help), "{args:?}: {}", refused.stderr);
    }
}

#[test]
fn a_revision_that_the_built_in_client_does_not_speak_is_explained_without_it() {
    let ended = run_in(&own_root(), ["explain", "resume/after-end", "--format", "json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let text = ended.json()["text"].as_str().expect("text").to_owned();
    for wanted in [
        "  shown      revision=2025-11-25;framing=chunked;then=continue;first=priming;wire=memory\n",
        "The wire is not shown: the built-in client speaks 2025-06-18, not 2025-11-25.\n\
         `serve resume/after-end` keeps the scripted peer up for a client that does.\n",
        "  answer-delivered (should, every client; sse.poll.client-reconnect)\n",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(!text.contains("built-in client here"), "what it refuses is no verdict: {text}");
}

#[test]
fn profiles_name_all_their_servers() {
    let ended = run_in(&own_root(), ["profiles"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stdout.contains("(cut,"), "{}", ended.stdout);
    assert!(ended.stdout.contains("ts1-stateful-sse, ts1-stateful-json, "), "{}", ended.stdout);
}

#[test]
fn a_list_says_where_more_would_run_than_it_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&project(), folder.path());
    let case = folder.path().join("fixtures/cases/sse/comment.toml");
    let text = fs::read_to_string(&case).expect("a case");
    fs::write(&case, text.replace("[\"whole\", ", "[\"whole\", \"each-cut\", ")).expect("a case");
    let listed = run_in(folder.path(), ["conformance", "--list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    for line in [
        "    2025-06-18 memory at least      6 variants (each-cut counted once)\n",
        "  smoke               1 cases               1 variants\n",
        "  all                 3 cases at least      8 variants\n",
    ] {
        assert!(listed.stdout.contains(line), "{line}{}", listed.stdout);
    }
    let json = run_in(folder.path(), ["conformance", "--list", "--format", "json"]).json();
    assert_eq!(json["profiles"][0]["at_least"], true);
    assert_eq!(json["profiles"][0]["families"]["smoke"]["at_least"], false);
}

#[test]
fn a_program_that_cannot_be_started_is_a_mistake_of_the_caller() {
    for program in ["no/such/driver", "no-such-driver-anywhere", "Cargo.toml/"] {
        let ended = run(["driver", "check", "--format", "json", program, "--flag"]);
        assert_eq!(ended.code, Some(2), "{program}: {}", ended.stderr);
        let json = ended.json();
        let problem = json["problem"].as_str().unwrap_or_default();
        assert!(problem.contains("expected a program to start") && problem.contains(program), "{json}");
    }
}

#[test]
fn a_missing_key_is_told_with_what_is_expected() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&project(), folder.path());
    let profile = folder.path().join("profiles/tiny.toml");
    let text = fs::read_to_string(&profile).expect("a profile");
    let wrong = text.replacen("\n[tiers.smoke]", "exclude = [{ cases = 'sse/wrong' }]\n[tiers.smoke]", 1);
    fs::write(&profile, wrong).expect("a profile");
    let ended = run_in(folder.path(), ["conformance"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let told = &ended.stderr;
    assert!(
        told.contains("tiny.toml:8:12") && told.contains("expected the key `reason` in this table"),
        "{told}"
    );
}

#[test]
fn help_is_no_mistake() {
    let ended = run(["--help"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(ended.stdout);
    assert_eq!(run(["conformance", "--repeat", "0"]).code, Some(2));
}
