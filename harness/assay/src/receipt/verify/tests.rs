use super::*;
use crate::receipt::canonical;
use crate::receipt::fold;
use crate::receipt::merkle;
use crate::receipt::run::{FileRecord, Run};
use crate::receipt::store::TimelineWriter;
use crate::receipt::testing::{Judge, STORY, head, summary, write};
use crate::receipt::writer::{CaseRun, RunWriter, VariantRun};
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};

const CLAIM: &str = "claims/sse/crlf.json";
const OBSERVATION: &str = "observations/sse/crlf.json";
const TIMELINES: &str = "timelines/sse/crlf.jsonl.gz";

fn edit(path: &Path, change: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, change(bytes)).unwrap();
}

fn edit_json(path: &Path, change: impl FnOnce(&mut Value)) {
    edit(path, |bytes| {
        let mut value = serde_json::from_slice(&bytes).unwrap();
        change(&mut value);
        canonical::to_bytes(&value, "x").unwrap()
    });
}

/// Makes the manifest, the observations' pointers and the roots fit the files again: what a forger would do.
fn forge(run: &Path) {
    let bytes = |path: &str| fs::read(run.join(path)).unwrap();
    let digest = |path: &str| json!(FileRecord::of(&bytes(path)).sha256);
    let mut manifest: Run = serde_json::from_slice(&bytes("run.json")).unwrap();
    for record in &mut manifest.cases {
        let [claim, observation, timelines] = [
            format!("claims/{}.json", record.case),
            format!("observations/{}.json", record.case),
            format!("timelines/{}.jsonl.gz", record.case),
        ];
        edit_json(&run.join(&observation), |value| {
            value["claim"] = digest(&claim);
            value["timelines"] = digest(&timelines);
        });
        record.claim = FileRecord::of(&bytes(&claim));
        record.observation = FileRecord::of(&bytes(&observation));
        record.timelines = FileRecord::of(&bytes(&timelines));
    }
    let root = |kind: &str| {
        let leaf = |case: &str| merkle::leaf(&bytes(&format!("{kind}/{case}.json")));
        merkle::root(&manifest.cases.iter().map(|record| leaf(&record.case)).collect::<Vec<_>>())
    };
    (manifest.claims.root, manifest.observations.root) = (root("claims"), root("observations"));
    (manifest.claims.size, manifest.observations.size) =
        (manifest.cases.len() as u64, manifest.cases.len() as u64);
    manifest.catalog = FileRecord::of(&bytes("catalog.json"));
    fs::write(run.join("run.json"), canonical::to_bytes(&manifest, "run.json").unwrap()).unwrap();
}

fn edit_timelines(run: &Path, from: &str, to: &str) {
    edit(&run.join(TIMELINES), |bytes| {
        let mut text = String::new();
        GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.replace(from, to).as_bytes()).unwrap();
        gzip.finish().unwrap()
    });
}

fn replace(path: &Path, from: &str, to: &str) {
    edit(path, |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        text.replacen(from, to, 1).into_bytes()
    });
}

fn flip(run: &Path) {
    replace(&run.join(CLAIM), r#""outcome":"fail""#, r#""outcome":"pass""#);
}

fn drop_case(run: &Path) {
    for file in [CLAIM, OBSERVATION, TIMELINES] {
        fs::remove_file(run.join(file)).unwrap();
    }
}

fn link(run: &Path, path: &str) {
    let outside = run.parent().unwrap().join("outside");
    fs::rename(run.join(path), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, run.join(path)).unwrap();
}

/// A tamper, and whether the forger makes everything else fit again.
type Tamper = (&'static str, fn(&Path), bool);

const TAMPERS: &[Tamper] = &[
    ("a byte of a claim", |run| replace(&run.join(CLAIM), "sse/crlf", "sse/crlg"), false),
    ("a verdict flipped", flip, false),
    ("a verdict flipped, forged", flip, true),
    (
        "a check taken out, forged",
        |run| edit_json(&run.join(CLAIM), |v| v["groups"][0]["checks"] = json!([])),
        true,
    ),
    (
        "an exchange changed, forged",
        |run| edit_json(&run.join(CLAIM), |v| v["groups"][0]["exchange"] = json!("00")),
        true,
    ),
    (
        "a variant claimed that did not run, forged",
        |run| {
            edit_json(&run.join(CLAIM), |v| {
                v["groups"][0]["variants"] =
                    json!(["revision=2025-06-18;slice={every-3|every-4|whole};wire=memory"]);
                v["groups"][0]["count"] = json!(3);
            });
        },
        true,
    ),
    (
        "a count that is wrong, forged",
        |run| edit_json(&run.join(CLAIM), |v| v["groups"][0]["count"] = json!(3)),
        true,
    ),
    (
        "a fold in another spelling, forged",
        |run| {
            edit_json(&run.join(CLAIM), |v| {
                v["groups"][0]["variants"] = json!(["revision=2025-06-18;slice={whole|every-3};wire=memory"]);
            });
        },
        true,
    ),
    ("an unknown member, forged", |run| edit_json(&run.join(CLAIM), |v| v["note"] = json!("x")), true),
    ("a duplicate key, forged", |run| replace(&run.join(CLAIM), "{", r#"{"case":"sse/crlf","#), true),
    ("a trailing newline, forged", |run| edit(&run.join(CLAIM), |b| [b.as_slice(), b"\n"].concat()), true),
    (
        "two claims swapped, forged",
        |run| {
            let other = run.join("claims/sse/bom.json");
            let (a, b) = (fs::read(run.join(CLAIM)).unwrap(), fs::read(&other).unwrap());
            fs::write(run.join(CLAIM), b).unwrap();
            fs::write(other, a).unwrap();
        },
        true,
    ),
    (
        "another client in a claim, forged",
        |run| edit_json(&run.join(CLAIM), |v| v["client"]["version"] = json!("9.9.9")),
        true,
    ),
    ("the files of a case dropped", drop_case, false),
    (
        "a case dropped, forged",
        |run| {
            drop_case(run);
            edit_json(&run.join("run.json"), |v| {
                v["cases"].as_array_mut().unwrap().retain(|c| c["case"] != "sse/crlf");
            });
        },
        true,
    ),
    (
        "a case dropped from everywhere, forged",
        |run| {
            drop_case(run);
            edit_json(&run.join("run.json"), |v| {
                v["cases"].as_array_mut().unwrap().retain(|c| c["case"] != "sse/crlf");
            });
            edit_json(&run.join("catalog.json"), |v| {
                _ = v["cases"].as_object_mut().unwrap().remove("sse/crlf");
            });
        },
        true,
    ),
    ("an extra file", |run| fs::write(run.join("claims/sse/extra.json"), "{}").unwrap(), false),
    ("an extra folder", |run| fs::create_dir(run.join("claims/more")).unwrap(), false),
    ("a claim behind a link", |run| link(run, CLAIM), false),
    ("the folder of claims behind a link", |run| link(run, "claims"), false),
    ("timelines cut short", |run| edit(&run.join(TIMELINES), |b| b[..b.len() / 2].to_vec()), false),
    ("timelines cut short, forged", |run| edit(&run.join(TIMELINES), |b| b[..b.len() / 2].to_vec()), true),
    ("timelines that say something else, forged", |run| edit_timelines(run, "\"rain\"", "\"snow\""), true),
    (
        "a variant dropped from the timelines, forged",
        |run| {
            let variant = fold::read_id("revision=2025-06-18;slice=whole;wire=memory").unwrap();
            let mut writer = TimelineWriter::new("exagent", &"sse/crlf".parse().unwrap()).unwrap();
            writer.variant(&variant, &[]).unwrap();
            fs::write(run.join(TIMELINES), writer.finish().unwrap()).unwrap();
        },
        true,
    ),
    ("a proven cut that was not, forged", |run| edit_timelines(run, "\"proven\":1", "\"proven\":0"), true),
    (
        "an observation counts more, forged",
        |run| edit_json(&run.join(OBSERVATION), |v| v["counted"]["cuts"] = json!(99)),
        true,
    ),
    (
        "an observation of another claim",
        |run| {
            edit_json(&run.join(OBSERVATION), |v| v["claim"] = json!("0".repeat(64)));
            let record = json!(FileRecord::of(&fs::read(run.join(OBSERVATION)).unwrap()));
            edit_json(&run.join("run.json"), |v| v["cases"][2]["observation"] = record);
        },
        false,
    ),
    (
        "a case's text changed, forged",
        |run| {
            edit_json(&run.join("catalog.json"), |v| {
                v["cases"]["sse/crlf"]["text"] = json!("title = \"other\"");
            });
        },
        true,
    ),
    (
        "a root changed",
        |run| edit_json(&run.join("run.json"), |v| v["claims"]["root"] = json!("0".repeat(64))),
        false,
    ),
    (
        "counts changed",
        |run| edit_json(&run.join("run.json"), |v| v["counts"]["checks"]["fail"] = json!(0)),
        false,
    ),
    (
        "variants of a case changed",
        |run| edit_json(&run.join("run.json"), |v| v["cases"][2]["variants"] = json!(7)),
        false,
    ),
    (
        "cases in another order, forged",
        |run| edit_json(&run.join("run.json"), |v| v["cases"].as_array_mut().unwrap().reverse()),
        true,
    ),
    (
        "the profile relabelled",
        |run| edit_json(&run.join("run.json"), |v| v["head"]["profile"] = json!("conduit")),
        false,
    ),
    (
        "a profile that leaves the folder",
        |run| edit_json(&run.join("run.json"), |v| v["head"]["profile"] = json!("../x")),
        false,
    ),
    (
        "a case id that leaves the folder",
        |run| edit_json(&run.join("run.json"), |v| v["cases"][2]["case"] = json!("../../etc/passwd")),
        false,
    ),
    (
        "sources that changed during the run",
        |run| edit_json(&run.join("run.json"), |v| v["summary"]["sources_after"] = json!("0".repeat(64))),
        false,
    ),
    ("the manifest cut short", |run| edit(&run.join("run.json"), |b| b[..b.len() - 1].to_vec()), false),
    ("the manifest missing", |run| fs::remove_file(run.join("run.json")).unwrap(), false),
    (
        "the manifest of another format",
        |run| edit_json(&run.join("run.json"), |v| v["schema"] = json!("mcp-assay/run/v9")),
        false,
    ),
    (
        "a seed that moves the cursor",
        |run| edit_json(&run.join("run.json"), |v| v["head"]["seed"] = json!("7\u{1b}[2J")),
        false,
    ),
    (
        "a start that is no time",
        |run| edit_json(&run.join("run.json"), |v| v["head"]["started"] = json!("2026-11-30T13:28:58Z\n")),
        false,
    ),
    (
        "an exit that no run has",
        |run| edit_json(&run.join("run.json"), |v| v["summary"]["exit"] = json!(7)),
        false,
    ),
    (
        "a tier whose run is called whole",
        |run| edit_json(&run.join("run.json"), |v| v["head"]["scope"]["tier"] = json!("smoke")),
        false,
    ),
    (
        "a whole run called one of a tier",
        |run| edit_json(&run.join("run.json"), |v| v["head"]["scope"]["partial"] = json!(["tier pr"])),
        false,
    ),
    ("no case at all", |run| edit_json(&run.join("run.json"), |v| v["cases"] = json!([])), false),
];

#[test]
fn a_run_verifies_as_it_was_written() {
    let out = tempfile::tempdir().unwrap();
    let run = write(out.path(), head(), STORY);
    let report = verify(&run.path, &mut Judge::default()).unwrap();
    // The observations point at compressed files, whose bytes are the compressor's to choose.
    insta::assert_snapshot!(
        report.sentence().replace(&report.observations_root.to_string(), "<observations>")
    );
    assert_eq!(report.claims_root, run.run.claims.root);
}

#[test]
fn the_helper_that_forges_leaves_a_true_run_true() {
    let out = tempfile::tempdir().unwrap();
    let run = write(out.path(), head(), STORY);
    let before = fs::read(run.path.join("run.json")).unwrap();
    forge(&run.path);
    assert_eq!(fs::read(run.path.join("run.json")).unwrap(), before);
}

#[test]
fn every_tamper_is_found_and_named() {
    let mut text = String::new();
    for (name, tamper, forged) in TAMPERS {
        let out = tempfile::tempdir().unwrap();
        let run = write(out.path(), head(), STORY).path;
        // Of compressed bytes, the snapshot holds no size and no position.
        let whole = fs::metadata(run.join(TIMELINES)).unwrap().len();
        let (half, size) = (whole / 2, |bytes: &u64| format!("{bytes} bytes"));
        tamper(&run);
        if *forged {
            forge(&run);
        }
        let problems = verify(&run, &mut Judge::default()).expect_err(name);
        text += &format!("{name}\n");
        for problem in problems {
            let line = problem.to_string().replace(&out.path().display().to_string(), "<out>");
            let run = run.file_name().unwrap().to_str().unwrap();
            text += &format!(
                "  {}\n",
                line.replace(run, "<run>").replace(&size(&whole), "<size>").replace(&size(&half), "<half>")
            );
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_half_run_is_called_one() {
    let out = tempfile::tempdir().unwrap();
    let writer = RunWriter::begin(head(), Default::default(), out.path()).unwrap();
    let partial = fs::read_dir(out.path().join("exagent")).unwrap().next().unwrap().unwrap().path();
    let problems = verify(&partial, &mut Judge::default()).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].seen.starts_with("a half run"), "{}", problems[0]);
    drop(writer);
    assert!(!partial.exists());
}

#[test]
fn a_link_to_a_run_and_a_file_are_no_runs() {
    let out = tempfile::tempdir().unwrap();
    let run = write(out.path(), head(), STORY).path;
    let path = out.path().join("link");
    std::os::unix::fs::symlink(&run, &path).unwrap();
    assert_eq!(verify(&path, &mut Judge::default()).unwrap_err()[0].seen, "a link");
    assert_eq!(verify(&run.join("run.json"), &mut Judge::default()).unwrap_err()[0].seen, "a file");
    assert!(verify(&out.path().join("none"), &mut Judge::default()).is_err());
}

#[test]
fn claims_do_not_depend_on_the_order_of_arrival() {
    let out = tempfile::tempdir().unwrap();
    let first = write(out.path(), head(), STORY);
    let backwards: Vec<_> = STORY.iter().rev().copied().collect();
    let mut other = head();
    other.scope.jobs = 8;
    other.started = "2026-12-01T00:00:00Z".into();
    let second = write(out.path(), other, &backwards);
    assert_eq!(first.run.claims, second.run.claims);
    assert_ne!(first.path, second.path);
}

#[test]
fn a_writer_refuses_what_comes_twice_and_runs_of_nothing() {
    let out = tempfile::tempdir().unwrap();
    let case = "sse/bom".parse().unwrap();
    let variant = fold::read_id("revision=2025-06-18;wire=tcp").unwrap();
    let one = VariantRun { variant, timeline: vec![], checks: vec![], exchange: None, seconds: f64::NAN };
    let run =
        |variants| CaseRun { case: &case, digest: Digest::of(b""), text: "", variants, processes: vec![] };
    let mut writer = RunWriter::begin(head(), Default::default(), out.path()).unwrap();
    assert!(writer.case(&run(vec![one.clone(), one.clone()])).is_err());
    assert!(writer.case(&run(vec![])).is_err());
    writer.case(&run(vec![one.clone()])).unwrap();
    assert!(writer.case(&run(vec![one])).is_err());
    let empty = RunWriter::begin(head(), Default::default(), out.path()).unwrap();
    assert!(empty.finish(summary()).is_err());
    let mut bad = head();
    bad.profile = "../up".into();
    assert!(RunWriter::begin(bad, Default::default(), out.path()).is_err());
}
