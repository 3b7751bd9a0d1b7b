//! A small run and a judge for the tests of receipts: each variant calls `first` once, and the one check wants the
//! text `snow`.

use super::catalog::{Catalog, Texts};
use super::claim::{Client, EvidenceClass, Judged};
use super::fold;
use super::open::OpenRun;
use super::problem::Problem;
use super::run::{Identity, Offered, RunHead, Scope, Summary};
use super::verify::Rejudge;
use super::writer::{CaseRun, RunDir, RunWriter, VariantRun};
use crate::digest::Digest;
use crate::profile::{Profile, Tier};
use crate::returned::Returned;
use crate::revision::Revision;
use crate::timeline::{Event, EventKind, Reply, Request};
use crate::variant::{CaseId, Variant, Wire};
use crate::verdict::{CheckResult, Level, Outcome};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What a run is made of: for each case its text and, for each folded variant, what the client sent and returned.
pub(super) type Story<'a> = &'a [(&'a str, &'a str, &'a [(&'a str, &'a str, &'a str)])];

/// The run that most tests start from.
pub(super) const STORY: Story<'static> = &[
    (
        "sse/bom",
        "title = \"bom\"",
        &[
            ("revision=2025-06-18;slice=each-cut@1..9;wire={memory|tcp}", "hello", "snow"),
            ("revision=2025-06-18;slice=whole;wire={memory|tcp}", "hello", "snow"),
        ],
    ),
    (
        "sse/crlf",
        "title = \"crlf\"",
        &[("revision=2025-06-18;slice={every-3|whole};wire=memory", "hello", "rain")],
    ),
    ("json/depth", "title = \"depth\"", &[("revision=2025-06-18;wire=memory", "hello", "snow")]),
];

pub(super) fn head() -> RunHead {
    let identity = |name: &str| Identity {
        name: name.into(),
        version: "0.1.0".into(),
        sha256: None,
        lock_sha256: Some(Digest::of(name.as_bytes())),
        command: vec![],
    };
    RunHead {
        profile: "exagent".into(),
        profile_sha256: Digest::of(b"profile"),
        evidence: EvidenceClass::Scripted,
        client: Client { name: "mcp-assay-client".into(), version: "0.1.0".into() },
        policy: Some("exagent".into()),
        offers: Offered::default(),
        subject: identity("mcp-assay-client"),
        peers: vec![identity("scripted-peer")],
        harness: identity("mcp-assay"),
        catalogue: "1.0.0".into(),
        catalogue_sha256: Digest::of(b"catalogue"),
        sources_before: Digest::of(b"sources"),
        command: vec!["mcp-assay".into(), "conformance".into()],
        seed: u64::MAX.to_string(),
        scope: Scope {
            revisions: vec![Revision::V20250618],
            wires: vec![Wire::Memory, Wire::Tcp],
            size: "full".into(),
            jobs: 2,
            tier: Tier::Full,
            partial: vec![],
        },
        started: "2026-11-30T13:28:58Z".into(),
    }
}

pub(super) fn summary() -> Summary {
    Summary {
        sources_after: Digest::of(b"sources"),
        exit: 1,
        excluded: 4,
        repetitions: 0,
        not_qualified: vec!["3 rows are excluded: EX-PF-01, EX-PF-02, EX-PF-03".into()],
        micros: 2_500_000,
    }
}

fn timeline(sent: &str, returned: &str) -> Vec<Event> {
    let reply = format!("HTTP/1.1 200 OK\r\n\r\ndata: {returned}\n\n");
    let kinds = [
        EventKind::StepBegan { step: "first".into(), verb: "call_tool", client: "a".into() },
        EventKind::Accepted { conn: 1 },
        EventKind::Request(Arc::new(Request {
            conn: 1,
            number: 1,
            reused: false,
            method: "POST".into(),
            target: "/mcp".into(),
            headers: vec![],
            head: "POST /mcp HTTP/1.1\r\n\r\n".into(),
            body: sent.to_owned().into(),
            json: None,
            rule: "case:0".into(),
        })),
        EventKind::Replied(Arc::new(Reply {
            request: 1,
            content_len: 0,
            written: reply.len(),
            bytes: reply.into(),
            cuts: vec![4],
            proven: 1,
            marks: vec![],
            complete: true,
        })),
        EventKind::StepEnded {
            step: "first".into(),
            returned: Returned::Ok { text: Some(returned.into()), tools: None },
        },
        EventKind::Teardown,
    ];
    kinds.into_iter().enumerate().map(|(at, kind)| Event { at_us: at as u64, kind }).collect()
}

fn judge(timeline: &[Event]) -> Judged {
    let returned = timeline.iter().find_map(|event| match &event.kind {
        EventKind::StepEnded { returned: Returned::Ok { text: Some(text), .. }, .. } => Some(text.clone()),
        _ => None,
    });
    let outcome = if returned.as_deref() == Some("snow") { Outcome::Pass } else { Outcome::Fail };
    let actual = format!("the text {returned:?}");
    let (id, expected) = ("result-delivered".to_owned(), "the text \"snow\"".to_owned());
    let exchange = Digest::of(exchange(timeline).as_bytes()).to_string();
    Judged {
        checks: vec![CheckResult { id, level: Level::Must, outcome, expected, actual }],
        exchange: Some(exchange),
    }
}

fn exchange(timeline: &[Event]) -> String {
    let sent: Vec<String> = timeline
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Request(request) => Some(String::from_utf8_lossy(&request.body).into_owned()),
            _ => None,
        })
        .collect();
    serde_json::json!({ "first": { "requests": sent } }).to_string()
}

/// Writes a run of a story.
pub(super) fn write(out: &Path, head: RunHead, story: Story<'_>) -> RunDir {
    let mut writer = RunWriter::begin(head, Texts::default(), out).unwrap();
    for (case, text, variants) in story {
        let case: CaseId = case.parse().unwrap();
        let mut runs = Vec::new();
        for (folded, sent, returned) in *variants {
            for variant in fold::unfold(folded).unwrap() {
                let timeline = timeline(sent, returned);
                let Judged { checks, exchange } = judge(&timeline);
                runs.push(VariantRun { variant, timeline, checks, exchange, seconds: 0.001 });
            }
        }
        let digest = Digest::of(text.as_bytes());
        writer.case(&CaseRun { case: &case, digest, text, variants: runs, processes: vec![] }).unwrap();
    }
    writer.finish(summary()).unwrap()
}

/// Writes and opens a run of a story.
pub(super) fn open(out: &Path, head: RunHead, story: Story<'_>) -> OpenRun {
    OpenRun::open(&write(out, head, story).path).unwrap()
}

/// Judges as the runs were judged.
#[derive(Default)]
pub(super) struct Judge {
    digests: BTreeMap<String, Digest>,
}

impl Rejudge for Judge {
    fn open(&mut self, _: &RunHead, catalog: &Catalog) -> Result<(), Vec<Problem>> {
        self.digests =
            catalog.cases.iter().map(|(id, case)| (id.clone(), Digest::of(case.text.as_bytes()))).collect();
        Ok(())
    }

    fn profile(&self) -> Option<&Profile> {
        None
    }

    fn digest(&self, case: &CaseId) -> Result<Digest, Problem> {
        let digest = self.digests.get(case.as_str()).copied();
        digest.ok_or_else(|| Problem::new("catalog.json", "the case", case.to_string(), "restore it"))
    }

    fn judge(&self, _: &CaseId, _: &Variant, timeline: &[Event]) -> Result<Judged, Problem> {
        Ok(judge(timeline))
    }

    fn exchange(&self, _: &CaseId, _: &Variant, timeline: &[Event]) -> Option<String> {
        Some(exchange(timeline))
    }
}
