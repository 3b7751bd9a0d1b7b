//! Writing a run, case by case.

mod stamp;

use super::canonical;
use super::catalog::{self, CaseText, Catalog, Texts};
use super::claim::{self, About, Claim, Judged};
use super::fold;
use super::merkle;
use super::observation::{self, Counted, Observation, ProcessRecord, Slowest};
use super::problem::Problem;
use super::run::{self, CaseRecord, Counts, FileRecord, Run, RunHead, Summary, Tree};
use super::staging::Staging;
use super::store::TimelineWriter;
use crate::case::CaseFile;
use crate::digest::Digest;
use crate::timeline::Event;
use crate::variant::{CaseId, Variant};
use crate::verdict::CheckResult;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use stamp::utc;

/// One case with all variants that ran.
#[derive(Clone, Debug)]
pub struct CaseRun<'a> {
    /// The case's id.
    pub case: &'a CaseId,
    /// SHA-256 over RFC 8785 of the parsed file.
    pub digest: Digest,
    /// The file's text.
    pub text: &'a str,
    /// The variants. Each comes once.
    pub variants: Vec<VariantRun>,
    /// The processes that took part.
    pub processes: Vec<ProcessRecord>,
}

impl<'a> CaseRun<'a> {
    /// A case of the catalogue with its variants, run in this process.
    #[must_use]
    pub fn new(file: &'a CaseFile, variants: Vec<VariantRun>) -> Self {
        Self {
            case: &file.id,
            digest: Digest(file.digest),
            text: &file.text,
            variants,
            processes: Vec::new(),
        }
    }
}

/// One variant that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantRun {
    /// The variant.
    pub variant: Variant,
    /// Its timeline, redacted (see [`redact`](super::redact::redact)).
    pub timeline: Vec<Event>,
    /// What the judge said of that timeline.
    pub checks: Vec<CheckResult>,
    /// The exchange digest; none for SDK servers and foreign clients.
    pub exchange: Option<String>,
    /// Real time in seconds.
    pub seconds: f64,
}

/// A run that has been written.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDir {
    /// Its folder.
    pub path: PathBuf,
    /// Its manifest.
    pub run: Run,
    /// Bytes of all its files.
    pub bytes: u64,
}

/// Writes a run into `<out>/<profile>/.partial-…` and renames it into place at the end.
///
/// It holds records and digests of the cases, never their timelines. Dropped before [`RunWriter::finish`], it leaves
/// nothing; killed, it leaves a folder that [`verify`](super::verify::verify) refuses and a later run removes.
#[derive(Debug)]
pub struct RunWriter {
    head: RunHead,
    staging: Staging,
    catalog: Catalog,
    cases: BTreeMap<CaseId, (CaseRecord, Digest, Digest)>,
    counts: Counts,
    bytes: u64,
}

impl RunWriter {
    /// Begins a run in the folder `out`.
    ///
    /// # Errors
    ///
    /// When the profile's name is no name, or the folder cannot be made.
    pub fn begin(head: RunHead, texts: Texts, out: &Path) -> Result<Self, Problem> {
        check_profile(&head.profile)?;
        let name: String = head.started.chars().filter(char::is_ascii_alphanumeric).collect();
        let staging = Staging::create(&out.join(&head.profile), &name)?;
        let catalog = Catalog {
            schema: catalog::SCHEMA.to_owned(),
            profile: head.profile.clone(),
            cases: BTreeMap::new(),
            texts,
        };
        Ok(Self { head, staging, catalog, cases: BTreeMap::new(), counts: Counts::default(), bytes: 0 })
    }

    /// Writes the three files of a case. Cases and variants may come in any order.
    ///
    /// # Errors
    ///
    /// When the case or a variant comes twice, there is no variant, or a file cannot be written.
    pub fn case(&mut self, run: &CaseRun<'_>) -> Result<(), Problem> {
        let case = run.case;
        let mut variants: Vec<&VariantRun> = run.variants.iter().collect();
        variants.sort_by(|a, b| a.variant.cmp(&b.variant));
        let mut judged = BTreeMap::new();
        let mut counted = Counted::default();
        let mut timelines = TimelineWriter::new(&self.head.profile, case)?;
        let mut time = 0;
        let mut slowest = Slowest { variant: String::new(), micros: 0 };
        for variant in variants {
            let id = fold::id(&variant.variant);
            counted.add(&variant.variant, &variant.timeline);
            timelines.variant(&variant.variant, &variant.timeline)?;
            let micros =
                std::time::Duration::try_from_secs_f64(variant.seconds).unwrap_or_default().as_micros();
            let micros = u64::try_from(micros).unwrap_or(u64::MAX).min(canonical::MAX_INTEGER);
            time = canonical::MAX_INTEGER.min(time + micros);
            if slowest.variant.is_empty() || micros > slowest.micros {
                slowest = Slowest { variant: id.clone(), micros };
            }
            let judgement = Judged { checks: variant.checks.clone(), exchange: variant.exchange.clone() };
            if judged.insert(variant.variant.clone(), judgement).is_some() {
                return Err(twice(case, &id));
            }
        }
        if self.cases.contains_key(case) {
            return Err(twice(case, "the case"));
        }
        let about =
            About { profile: &self.head.profile, client: &self.head.client, evidence: self.head.evidence };
        let claim = canonical::to_bytes(&Claim::new(about, case, run.digest, &judged)?, &claim::path(case))?;
        let timelines = timelines.finish()?;
        let observation = Observation {
            schema: observation::SCHEMA.to_owned(),
            profile: self.head.profile.clone(),
            case: case.to_string(),
            claim: Digest::of(&claim),
            timelines: Digest::of(&timelines),
            counted: counted.clone(),
            micros: time,
            slowest,
            processes: run.processes.clone(),
        };
        let observation = canonical::to_bytes(&observation, &observation::path(case))?;
        self.put(&claim::path(case), &claim)?;
        self.put(&observation::path(case), &observation)?;
        self.put(&timelines_path(case), &timelines)?;
        self.counts.add(case, &counted, judged.values());
        let record = CaseRecord {
            case: case.to_string(),
            variants: judged.len() as u64,
            claim: FileRecord::of(&claim),
            observation: FileRecord::of(&observation),
            timelines: FileRecord::of(&timelines),
        };
        self.cases.insert(case.clone(), (record, merkle::leaf(&claim), merkle::leaf(&observation)));
        let text = CaseText { digest: run.digest, text: run.text.to_owned() };
        self.catalog.cases.insert(case.to_string(), text);
        Ok(())
    }

    /// Writes catalogue and manifest and renames the run into place.
    ///
    /// # Errors
    ///
    /// When no case was written, or a file cannot be.
    pub fn finish(mut self, summary: Summary) -> Result<RunDir, Problem> {
        if self.cases.is_empty() {
            return Err(Problem::new("run.json", "at least one case", "none", "select cases that exist"));
        }
        let catalog = canonical::to_bytes(&self.catalog, CATALOG)?;
        self.put(CATALOG, &catalog)?;
        let (mut claims, mut observations, mut cases) = (Vec::new(), Vec::new(), Vec::new());
        for (record, claim, observation) in std::mem::take(&mut self.cases).into_values() {
            claims.push(claim);
            observations.push(observation);
            cases.push(record);
        }
        let stamp: String = self.head.started.chars().filter(char::is_ascii_alphanumeric).collect();
        let run = Run {
            schema: run::SCHEMA.to_owned(),
            head: self.head,
            summary,
            counts: self.counts,
            claims: tree(&claims),
            observations: tree(&observations),
            catalog: FileRecord::of(&catalog),
            cases,
        };
        let manifest = canonical::to_bytes(&run, MANIFEST)?;
        let name = format!("{stamp}-{}", Digest::of(&manifest).short());
        let path = self.staging.finish(MANIFEST, &manifest, &name)?;
        Ok(RunDir { path, run, bytes: self.bytes + manifest.len() as u64 })
    }

    fn put(&mut self, path: &str, bytes: &[u8]) -> Result<(), Problem> {
        self.bytes += bytes.len() as u64;
        self.staging.write(path, bytes)
    }
}

/// The manifest's name.
pub(super) const MANIFEST: &str = "run.json";

/// The catalogue's name.
pub(super) const CATALOG: &str = "catalog.json";

/// Where the timelines of a case lie in a run.
pub(super) fn timelines_path(case: &CaseId) -> String {
    format!("timelines/{case}.jsonl.gz")
}

/// The tree over leaf hashes.
pub(super) fn tree(leaves: &[Digest]) -> Tree {
    Tree { rule: run::TREE.to_owned(), size: leaves.len() as u64, root: merkle::root(leaves) }
}

/// Refuses a profile's name that is no plain folder name.
pub(super) fn check_profile(name: &str) -> Result<(), Problem> {
    let plain = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if (1..=60).contains(&name.len()) && name.bytes().all(plain) {
        return Ok(());
    }
    Err(Problem::new("the profile's name", "1 to 60 characters a-z, 0-9 and -", name, "rename the profile"))
}

impl Counts {
    /// Counts one more case.
    pub(super) fn add<'a>(
        &mut self,
        case: &CaseId,
        counted: &Counted,
        judged: impl Iterator<Item = &'a Judged>,
    ) {
        self.cases += 1;
        for (wire, variants) in &counted.wires {
            *self.wires.entry(*wire).or_default() += variants;
            self.executed += variants;
            *self.families.entry(case.area().to_owned()).or_default() += variants;
        }
        for check in judged.flat_map(|judged| &judged.checks) {
            *self.checks.entry(check.outcome).or_default() += 1;
        }
    }
}

fn twice(case: &CaseId, what: &str) -> Problem {
    Problem::new(case.to_string(), "each case and variant once", format!("{what} again"), "report it")
}
