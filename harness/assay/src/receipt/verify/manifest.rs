//! The manifest, and the parts it binds together.

use super::files::Folder;
use super::stage;
use crate::digest::Digest;
use crate::exit::Exit;
use crate::receipt::canonical;
use crate::receipt::catalog::{self, Catalog};
use crate::receipt::claim::{self, Claim};
use crate::receipt::merkle;
use crate::receipt::observation::{self, Observation};
use crate::receipt::problem::Problem;
use crate::receipt::run::{self, CaseRecord, Run, Scope, Tree};
use crate::receipt::writer::{CATALOG, MANIFEST, check_profile, tree};
use crate::variant::CaseId;
use std::collections::BTreeMap;

/// The largest manifest that is read, in bytes.
const MAX_MANIFEST: u64 = 64 << 20;

/// The parts of a run but for its timelines.
pub(super) struct Parts {
    pub(super) catalog: Catalog,
    pub(super) cases: BTreeMap<CaseId, Part>,
}

/// What belongs to one case.
pub(super) struct Part {
    pub(super) record: CaseRecord,
    pub(super) claim: Claim,
    pub(super) observation: Observation,
}

/// Reads the manifest.
pub(in crate::receipt) fn read(folder: &Folder) -> Result<Run, Vec<Problem>> {
    let bytes = folder.read(MANIFEST, MAX_MANIFEST).map_err(|problem| vec![problem])?;
    let run: Run = canonical::from_bytes(&bytes, MANIFEST).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    if run.schema != run::SCHEMA {
        let remedy = "use the version of the harness that wrote the run";
        problems.push(Problem::new(MANIFEST, run::SCHEMA, &run.schema, remedy));
    }
    problems.extend(check_profile(&run.head.profile).err());
    if run.head.sources_before != run.summary.sources_after {
        problems.push(Problem::new(
            MANIFEST,
            format!("the same sources before and after the run ({})", run.head.sources_before),
            run.summary.sources_after.to_string(),
            "run again and leave the sources alone meanwhile: a change voids the run",
        ));
    }
    let head = &run.head;
    let wrong = |expected: &str, seen: &str| Problem::new(MANIFEST, expected, seen, "restore run.json");
    if !head.seed.parse::<u64>().is_ok_and(|seed| seed.to_string() == head.seed) {
        problems.push(wrong("a seed, in decimal and below 2^64", &head.seed));
    }
    if !is_time(&head.started) {
        problems.push(wrong("the time of the start, as 2026-11-30T13:28:58Z", &head.started));
    }
    if Exit::from_code(run.summary.exit).is_none() {
        problems.push(wrong("an exit of 0 to 3", &run.summary.exit.to_string()));
    }
    let (part, parts) = (Scope::part(head.scope.tier), head.scope.parts());
    if parts != part.as_deref().as_slice() {
        let said = |parts: &[&str]| match parts {
            [] => "no tier as a reason to be partial".to_owned(),
            parts => format!("the reason to be partial {}", parts.join(", ")),
        };
        let expected = said(part.as_deref().as_slice());
        problems.push(wrong(&expected, &said(&parts)));
    }
    if run.cases.is_empty() {
        problems.push(Problem::new(MANIFEST, "at least one case", "none", "run something"));
    }
    if !run.cases.is_sorted_by(|a, b| a.case < b.case) {
        problems.push(Problem::new(
            MANIFEST,
            "cases in the order of their ids, each once",
            "another order",
            "restore run.json",
        ));
    }
    stage(problems).map(|()| run)
}

/// Whether a text has the form of a time in UTC to the second.
fn is_time(text: &str) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00Z";
    let fits = |(byte, form): (u8, u8)| if form == b'0' { byte.is_ascii_digit() } else { byte == form };
    text.len() == FORM.len() && text.bytes().zip(FORM.iter().copied()).all(fits)
}

/// Reads catalogue, claims and observations and holds them against each other.
pub(super) fn parts(folder: &Folder, run: &Run) -> Result<Parts, Vec<Problem>> {
    let mut problems = Vec::new();
    let catalog = read_catalog(folder, run).map_err(|problem| vec![problem])?;
    let mut cases = BTreeMap::new();
    let (mut claims, mut observations) = (Vec::new(), Vec::new());
    for record in &run.cases {
        let part = record
            .case
            .parse::<CaseId>()
            .map_err(|e| Problem::new(MANIFEST, "a case id", e.to_string(), "restore run.json"));
        match part.and_then(|case| {
            Ok((read_part(folder, run, record, &case, &mut claims, &mut observations)?, case))
        }) {
            Ok((part, case)) => _ = cases.insert(case, part),
            Err(problem) => problems.push(problem),
        }
    }
    let in_catalog: Vec<&String> = catalog.cases.keys().collect();
    let in_run: Vec<&String> = run.cases.iter().map(|record| &record.case).collect();
    if in_catalog != in_run {
        let (expected, seen) =
            (format!("the {} cases of run.json", in_run.len()), format!("{} others", in_catalog.len()));
        problems.push(Problem::new(CATALOG, expected, seen, "restore the catalogue"));
    }
    stage(problems)?;
    let trees =
        [("claims", &run.claims, tree(&claims)), ("observations", &run.observations, tree(&observations))];
    stage(trees.into_iter().filter_map(|(name, stored, seen)| check_tree(name, stored, &seen)).collect())?;
    Ok(Parts { catalog, cases })
}

fn read_catalog(folder: &Folder, run: &Run) -> Result<Catalog, Problem> {
    let bytes = folder.read_recorded(CATALOG, run.catalog)?;
    let catalog: Catalog = canonical::from_bytes(&bytes, CATALOG)?;
    let expected = format!("{} of {}", catalog::SCHEMA, run.head.profile);
    let seen = format!("{} of {}", catalog.schema, catalog.profile);
    if seen == expected {
        Ok(catalog)
    } else {
        Err(Problem::new(CATALOG, expected, seen, "restore the catalogue"))
    }
}

fn read_part(
    folder: &Folder,
    run: &Run,
    record: &CaseRecord,
    case: &CaseId,
    claims: &mut Vec<Digest>,
    observations: &mut Vec<Digest>,
) -> Result<Part, Problem> {
    let claim_path = claim::path(case);
    let bytes = folder.read_recorded(&claim_path, record.claim)?;
    let claim = Claim::read(&bytes, &run.head.profile, case, &claim_path)?;
    claims.push(merkle::leaf(&bytes));
    if (&claim.client, claim.evidence) != (&run.head.client, run.head.evidence) {
        let expected = format!(
            "{:?} evidence of {} {}",
            run.head.evidence, run.head.client.name, run.head.client.version
        );
        let seen = format!("{:?} evidence of {} {}", claim.evidence, claim.client.name, claim.client.version);
        return Err(Problem::new(claim_path, expected, seen, "put the claim of this run there"));
    }
    let path = observation::path(case);
    let bytes = folder.read_recorded(&path, record.observation)?;
    let observation = Observation::read(&bytes, &run.head.profile, case)?;
    observations.push(merkle::leaf(&bytes));
    let pointers = [
        ("claim", observation.claim, record.claim.sha256),
        ("timelines", observation.timelines, record.timelines.sha256),
    ];
    for (name, seen, expected) in pointers {
        if seen != expected {
            let expected = format!("the digest of the case's {name}, {expected}");
            return Err(Problem::new(
                path,
                expected,
                seen.to_string(),
                "put the observation of this run there",
            ));
        }
    }
    Ok(Part { record: record.clone(), claim, observation })
}

fn check_tree(name: &str, stored: &Tree, seen: &Tree) -> Option<Problem> {
    let text = |tree: &Tree| format!("{} root {} over {}", tree.rule, tree.root, tree.size);
    (stored != seen).then(|| {
        let place = format!("{MANIFEST} {name}");
        Problem::new(place, format!("{} (recomputed)", text(seen)), text(stored), "restore run.json")
    })
}
