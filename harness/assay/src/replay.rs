//! Recorded variants, run again or judged again from nothing but their run.
//!
//! Case, polite peer and clauses are those of the run's `catalog.json`, seed and policy those of its manifest: a
//! checkout that changed since changes nothing here but the client and the harness themselves.

use crate::case::{self, Case, CaseFile};
use crate::clauses::Clauses;
use crate::driver::builtin::BuiltinClient;
use crate::exchange::exchange_text;
use crate::judge::{JudgeInput, Offers};
use crate::receipt::claim::{Judged, path as claim_path};
use crate::receipt::diff::unified;
use crate::receipt::run::{Identity, Run};
use crate::receipt::writer::VariantRun;
use crate::receipt::{CatalogJudge, OpenRun, Problem, Rejudge as _};
use crate::run::server;
use crate::run::unit::{Facing, Unit};
use crate::run::variant::{Setup, Slot};
use crate::sdk::fleet::Fleet;
use crate::select::Size;
use crate::source::SourceError;
use crate::variant::{CaseId, Variant, Wire};
use crate::verdict::CheckResult;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const REMEDY: &str = "restore the run from a copy, or use the version of the harness that wrote it";

/// One case of a run, opened to be replayed.
#[derive(Debug)]
pub struct Replay {
    open: OpenRun,
    file: CaseFile,
    texts: crate::receipt::catalog::Texts,
    clauses: Clauses,
    offers: Offers,
    judge: CatalogJudge,
    recorded: BTreeMap<Variant, Judged>,
}

/// A variant as it is now, beside what was recorded.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What is now.
    pub now: VariantRun,
    /// What differs from the record, one sentence each; empty where it is the same.
    pub changes: Vec<String>,
    /// How the exchange differs, as lines with `-` and `+`.
    pub exchange: Option<String>,
}

/// Why a variant was not run again.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The run is not what its manifest says, or cannot be read.
    Run(Vec<Problem>),
    /// It cannot be run again here.
    NotHere(Problem),
    /// What runs its server is missing: what to install, in words.
    Missing(String),
}

impl From<Vec<Problem>> for Refusal {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Run(problems)
    }
}

impl Replay {
    /// Opens a case of the run in a folder.
    ///
    /// # Errors
    /// The run is none, or not what its manifest says; it has no such case; its texts cannot be read.
    pub fn open(run: &Path, case: &CaseId) -> Result<Self, Vec<Problem>> {
        let open = OpenRun::open(run)?;
        let one = |problem: Problem| vec![problem];
        let place = claim_path(case);
        let claim = open.claims.get(case).ok_or_else(|| {
            let known = open.claims.keys().map(CaseId::as_str);
            one(Problem::new(
                "run.json",
                format!("the case {case}"),
                "none",
                crate::near::help(case.as_str(), known),
            ))
        })?;
        let recorded = claim.judged(&place).map_err(one)?;
        let catalog = open.catalog().map_err(one)?;
        let text = catalog.cases.get(case.as_str()).ok_or_else(|| {
            one(Problem::new("catalog.json", format!("the text of {case}"), "none", REMEDY))
        })?;
        let file = CaseFile::parse(case.clone(), format!("fixtures/cases/{case}.toml"), &text.text)
            .map_err(|errors| errors.iter().map(unreadable).collect::<Vec<_>>())?;
        let clauses = catalog.texts.clauses.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let clauses = Clauses::from_texts(clauses).map_err(|error| vec![unreadable(&error)])?;
        let mut judge = CatalogJudge::default();
        judge.open(&open.run.head, &catalog)?;
        let offers = open.run.head.offers.clone().into();
        Ok(Self { file, texts: catalog.texts, clauses, offers, judge, recorded, open })
    }

    /// The run's manifest.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.open.run
    }

    /// The case.
    #[must_use]
    pub fn case(&self) -> &CaseId {
        &self.file.id
    }

    /// The seed of the run.
    ///
    /// # Errors
    /// In words: the manifest's is none.
    pub fn seed(&self) -> Result<u64, String> {
        self.open.run.head.seed.parse().map_err(|e| format!("a seed that is none: {e}"))
    }

    /// The recorded variant with this id; an id as receipts write it and one as results print it are both known.
    #[must_use]
    pub fn variant(&self, id: &str) -> Option<&Variant> {
        let known = |variant: &&Variant| variant.to_string() == id || crate::receipt::fold::id(variant) == id;
        self.recorded.keys().find(known)
    }

    /// The first variant of each group of equal results.
    #[must_use]
    pub fn firsts(&self) -> Vec<Variant> {
        let mut firsts: Vec<(&Judged, &Variant)> = Vec::new();
        for (variant, judged) in &self.recorded {
            if firsts.iter().all(|(known, _)| *known != judged) {
                firsts.push((judged, variant));
            }
        }
        firsts.into_iter().map(|(_, variant)| variant.clone()).collect()
    }

    /// Runs a recorded variant again with the built-in client, against the scripted peer or against the SDK server of the
    /// checkout below `root`, which must be the recorded one: it is started, and installed if it is not there; `tell`
    /// hears of that.
    ///
    /// # Errors
    /// [`Refusal::NotHere`] where the variant cannot run here.
    pub fn again(&self, root: &Path, variant: &Variant, tell: &dyn Fn(&str)) -> Result<Replayed, Refusal> {
        let failed = |seen: String| {
            let place = format!("{}#{variant}", self.file.id);
            let remedy = "judge its timeline again: --judge";
            Refusal::NotHere(Problem::new(place, "a variant that can run here", seen, remedy))
        };
        let name = self.open.run.head.policy.as_deref().unwrap_or_default();
        let client = BuiltinClient::named(name)
            .ok_or_else(|| failed("one of a client that is not built in".to_owned()))?;
        if self.file.case.measures_memory() {
            let seen = "one that measures the client's process, of which a replay has none: `conformance` runs it again";
            return Err(failed(seen.to_owned()));
        }
        let seed = self.seed().map_err(failed)?;
        let setup = Setup { client: &client, clauses: &self.clauses, seed, deadline_scale: 1.0 };
        let unit = |facing| Unit {
            file: &self.file,
            facing,
            revision: variant.revision,
            wire: variant.wire,
            size: Size::Full,
            revisions: 1,
            filters: Vec::new(),
        };
        if let Some(id) = &variant.server {
            let fleet = self.server(root, id).map_err(failed)?;
            let installed = fleet
                .install(tell, &AtomicBool::new(false))
                .map_err(|problem| Refusal::Missing(problem.to_string()))?;
            let unit = unit(Facing::Server(id));
            let member = fleet.members.first().zip(installed.values().next());
            let (member, installed) = member.ok_or_else(|| failed(format!("no server {id}")))?;
            let (now, problem) = server::run_one(member, installed, &unit, &setup, &variant.keys)
                .map_err(|problem| failed(problem.to_string()))?;
            if let Some(problem) = problem {
                tell(&problem.to_string());
            }
            return Ok(self.compared(now)?);
        }
        let polite_text = self
            .texts
            .polite
            .get(&variant.revision)
            .ok_or_else(|| failed(format!("no text of the polite peer of {}", variant.revision)))?;
        let polite = case::polite(format!("polite/{}.toml", variant.revision).as_ref(), polite_text)
            .map_err(|errors| errors.iter().map(unreadable).collect::<Vec<_>>())?;
        let mut slot = Slot::new(variant.wire == Wire::Tcp).map_err(|e| failed(e.to_string()))?;
        let unit = unit(Facing::Scripted { polite: &polite, text: polite_text });
        let now =
            unit.run_one(&mut slot, &setup, &variant.keys).map_err(|problem| failed(problem.to_string()))?;
        Ok(self.compared(now)?)
    }

    /// The SDK server of this id, as the checkout has it; only if it is the one that was recorded.
    fn server(&self, root: &Path, id: &str) -> Result<Fleet, String> {
        let fleet = Fleet::named(root, &[id.to_owned()])?;
        let here = fleet.identities()?;
        let recorded = &self.open.run.head.peers;
        let same = |peer: &Identity| here.iter().any(|here| here == peer);
        if recorded.iter().any(same) {
            return Ok(fleet);
        }
        Err(format!("one against the SDK server {id} of another version or lock than this checkout has"))
    }

    /// Judges the recorded timeline of a variant again.
    ///
    /// # Errors
    /// The timeline is not there, or not what the manifest says.
    pub fn judged_again(&self, variant: &Variant) -> Result<Replayed, Vec<Problem>> {
        let one = |problem: Problem| vec![problem];
        let stored = self.open.timeline(&self.file.id, variant).map_err(one)?.ok_or_else(|| {
            one(Problem::new(format!("timelines/{}", self.file.id), variant.to_string(), "none", REMEDY))
        })?;
        let Judged { checks, exchange } =
            self.judge.judge(&self.file.id, variant, &stored.timeline).map_err(one)?;
        let variant = variant.clone();
        self.compared(VariantRun { variant, timeline: stored.timeline, checks, exchange, seconds: 0.0 })
    }

    /// The case as the variant has it.
    ///
    /// # Errors
    /// The case has no such variant.
    pub fn instantiate(&self, variant: &Variant) -> Result<Case, Vec<Problem>> {
        self.file.instantiate(&variant.keys).map_err(|error| vec![unreadable(&error)])
    }

    /// What the judge was, or is, asked about a variant.
    #[must_use]
    pub fn input<'a>(&'a self, case: &'a Case, now: &'a VariantRun) -> JudgeInput<'a> {
        JudgeInput {
            case,
            variant: &now.variant,
            policy: self.open.run.head.policy.as_deref(),
            offers: &self.offers,
            clauses: &self.clauses,
            timeline: &now.timeline,
        }
    }

    fn compared(&self, now: VariantRun) -> Result<Replayed, Vec<Problem>> {
        let Some(recorded) = self.recorded.get(&now.variant) else {
            let seen = format!("none of {}", now.variant);
            return Err(vec![Problem::new(claim_path(&self.file.id), "the variant's record", seen, REMEDY)]);
        };
        let mut changes = changes(&recorded.checks, &now.checks);
        let mut exchange = None;
        if recorded.exchange != now.exchange {
            changes.push("the client sent or returned something else than recorded".to_owned());
            let case = self.instantiate(&now.variant)?;
            let stored = self.open.timeline(&self.file.id, &now.variant).map_err(|problem| vec![problem])?;
            exchange = stored.map(|stored| {
                unified(&exchange_text(&case, &stored.timeline), &exchange_text(&case, &now.timeline))
            });
        }
        Ok(Replayed { now, changes, exchange })
    }
}

/// What differs between two judgements, one sentence a check.
fn changes(recorded: &[CheckResult], now: &[CheckResult]) -> Vec<String> {
    let find = |results: &[CheckResult], id: &str| results.iter().find(|result| result.id == id).cloned();
    let mut changes = Vec::new();
    for then in recorded {
        let was = format!("{}: recorded {} ({})", then.id, then.outcome.as_str(), then.actual);
        match find(now, &then.id) {
            Some(now) if now == *then => {}
            Some(now) => changes.push(format!("{was}, now {} ({})", now.outcome.as_str(), now.actual)),
            None => changes.push(format!("{was}, now it does not bind")),
        }
    }
    let new = now.iter().filter(|result| find(recorded, &result.id).is_none());
    changes.extend(
        new.map(|now| format!("{}: not recorded, now {} ({})", now.id, now.outcome.as_str(), now.actual)),
    );
    changes
}

fn unreadable(error: &SourceError) -> Problem {
    Problem::new("catalog.json", "texts that this version of the harness reads", error.to_string(), REMEDY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{Level, Outcome};

    fn result(id: &str, outcome: Outcome) -> CheckResult {
        let (expected, actual) = ("step `first` succeeds".to_owned(), format!("it is {}", outcome.as_str()));
        CheckResult { id: id.to_owned(), level: Level::Must, outcome, expected, actual }
    }

    #[test]
    fn every_kind_of_change_is_told() {
        let recorded =
            [result("same", Outcome::Pass), result("other", Outcome::Pass), result("gone", Outcome::Fail)];
        let now =
            [result("same", Outcome::Pass), result("other", Outcome::Fail), result("new", Outcome::Pass)];
        assert_eq!(changes(&recorded, &recorded), Vec::<String>::new());
        assert_eq!(
            changes(&recorded, &now),
            [
                "other: recorded pass (it is pass), now fail (it is fail)",
                "gone: recorded fail (it is fail), now it does not bind",
                "new: not recorded, now pass (it is pass)",
            ]
        );
    }
}
