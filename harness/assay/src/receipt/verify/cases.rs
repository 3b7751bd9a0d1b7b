//! Judging every timeline again.

use super::files::Folder;
use super::manifest::{Part, Parts};
use super::{Rejudge, stage};
use crate::exit::Exit;
use crate::receipt::claim::{self, About, Claim, Judged};
use crate::receipt::diff;
use crate::receipt::observation::{self, Counted};
use crate::receipt::problem::Problem;
use crate::receipt::run::{Counts, Run};
use crate::receipt::store::TimelineReader;
use crate::receipt::writer::{CATALOG, MANIFEST, timelines_path};
use crate::reconcile::Reconciler;
use crate::variant::{CaseId, Variant};
use serde::Serialize;
use std::collections::BTreeMap;

/// Checks each case, and what the run counted over all.
pub(super) fn check(
    folder: &Folder,
    run: &Run,
    parts: &Parts,
    rejudge: &dyn Rejudge,
) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    let mut counts = Counts::default();
    let mut reconciler = rejudge.profile().map(|profile| Reconciler::new(profile, false));
    for (case, part) in &parts.cases {
        let stored = parts.catalog.cases.get(case.as_str()).map(|text| text.digest);
        match rejudge.digest(case) {
            Ok(digest) => {
                let places = [(CATALOG.to_owned(), stored), (claim::path(case), Some(part.claim.digest))];
                for (place, seen) in places.into_iter().filter(|(_, seen)| *seen != Some(digest)) {
                    let expected = format!("the digest of the text of {case}, {digest}");
                    let seen = seen.map_or_else(|| "none".to_owned(), |seen| seen.to_string());
                    problems.push(Problem::new(
                        place,
                        expected,
                        seen,
                        "restore the file from a copy of the run",
                    ));
                }
            }
            Err(problem) => problems.push(problem),
        }
        match judge(folder, run, case, part, rejudge) {
            Ok((counted, judged)) => {
                problems.extend(compare(run, case, part, &counted, &judged));
                counts.add(case, &counted, judged.values());
                for (variant, judged) in &judged {
                    if let Some(reconciler) = &mut reconciler {
                        reconciler.take(case, variant, &judged.checks);
                    }
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    stage(problems)?;
    if counts != run.counts {
        let (expected, seen) = (format!("{} (recounted)", words(&counts)), words(&run.counts));
        return Err(vec![Problem::new(format!("{MANIFEST} counts"), expected, seen, "restore run.json")]);
    }
    stage(reconciler.and_then(|reconciler| exit(run, reconciler)).into_iter().collect())
}

/// Whether the run ended as its results amount to. It may have ended graver: with `--strict`, or since a case could not
/// be run at all.
fn exit(run: &Run, reconciler: Reconciler<'_>) -> Option<Problem> {
    let partial = !run.head.scope.partial.is_empty();
    let reconciled = reconciler.finish(partial);
    let stored = Exit::from_code(run.summary.exit)?;
    (reconciled.exit.and(stored) != stored).then(|| {
        let why = reconciled.unexpected.first().map_or_else(String::new, |first| format!(", since {first}"));
        let expected = format!("exit {} (reconciled){why}", reconciled.exit.code());
        Problem::new(format!("{MANIFEST} exit"), expected, stored.code().to_string(), "restore run.json")
    })
}

fn judge(
    folder: &Folder,
    run: &Run,
    case: &CaseId,
    part: &Part,
    rejudge: &dyn Rejudge,
) -> Result<(Counted, BTreeMap<Variant, Judged>), Problem> {
    let path = timelines_path(case);
    let bytes = folder.read_recorded(&path, part.record.timelines)?;
    let mut reader = TimelineReader::open(bytes.as_slice(), &run.head.profile, case)?;
    let mut counted = Counted::default();
    let mut judged = BTreeMap::new();
    while let Some(stored) = reader.next_variant()? {
        counted.add(&stored.variant, &stored.timeline);
        let judgement = rejudge.judge(case, &stored.variant, &stored.timeline)?;
        if judged.contains_key(&stored.variant) {
            return Err(Problem::new(
                path,
                "each variant once",
                stored.variant.to_string(),
                "run the case again",
            ));
        }
        judged.insert(stored.variant, judgement);
    }
    Ok((counted, judged))
}

/// Counts as the files spell them.
fn words<T: Serialize>(counts: &T) -> String {
    serde_json::to_string(counts).unwrap_or_else(|error| error.to_string())
}

/// Holds what follows from the timelines against what is stored.
fn compare(
    run: &Run,
    case: &CaseId,
    part: &Part,
    counted: &Counted,
    judged: &BTreeMap<Variant, Judged>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let head = &run.head;
    let about = About { profile: &head.profile, client: &head.client, evidence: head.evidence };
    match Claim::new(about, case, part.claim.digest, judged) {
        Ok(again) if again != part.claim => {
            let changes = diff::claims(&again, &part.claim);
            let seen = match changes.as_ref().map(Vec::as_slice) {
                Ok([change, ..]) => format!("a claim in which {change}"),
                Ok([]) => "the same results in other groups".to_owned(),
                Err(problem) => problem.to_string(),
            };
            let remedy =
                "trust the timelines: run the case again, or restore the claim from a copy of the run";
            problems.push(Problem::new(
                claim::path(case),
                "what its timelines say when judged again",
                seen,
                remedy,
            ));
        }
        Ok(_) => {}
        Err(problem) => problems.push(problem),
    }
    if part.record.variants != judged.len() as u64 {
        let (expected, seen) =
            (format!("{} variants of {case}", judged.len()), part.record.variants.to_string());
        problems.push(Problem::new(MANIFEST, expected, seen, "restore run.json"));
    }
    if part.observation.counted != *counted {
        let (expected, seen) = (format!("{} (recounted)", words(counted)), words(&part.observation.counted));
        problems.push(Problem::new(
            observation::path(case),
            expected,
            seen,
            "restore it from a copy of the run",
        ));
    }
    problems
}
