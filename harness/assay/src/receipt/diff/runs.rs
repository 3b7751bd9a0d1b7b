//! What changed between two runs, or from what was accepted to a run.

use super::change::{Change, Within, claims_within};
use super::exchange;
use crate::receipt::claim::Claim;
use crate::receipt::open::OpenRun;
use crate::receipt::problem::{Problem, Shown};
use crate::receipt::verify::Rejudge;
use crate::variant::CaseId;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What changed, case by case.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct RunDiff {
    /// What is compared, in words: the older side.
    pub from: String,
    /// The newer side.
    pub to: String,
    /// Why the two are not two whole runs of one profile, in sentences: what differs may say nothing of the client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
    /// How many cases say the same on both sides.
    pub same: usize,
    /// The cases that differ.
    pub cases: Vec<CaseDiff>,
}

/// What changed in one case.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum CaseDiff {
    /// Only the newer side has it.
    Added {
        /// The case.
        case: String,
        /// How many variants it has.
        variants: u64,
    },
    /// Only the older side has it.
    Gone {
        /// The case.
        case: String,
    },
    /// Both have it and say different things.
    Changed {
        /// The case.
        case: String,
        /// What changed.
        changes: Vec<Change>,
        /// How the first exchange that differs does so, as lines with `-` and `+`; where both timelines are at hand.
        #[serde(skip_serializing_if = "Option::is_none")]
        exchange: Option<String>,
    },
}

impl CaseDiff {
    /// The case.
    #[must_use]
    pub fn case(&self) -> &str {
        match self {
            Self::Added { case, .. } | Self::Gone { case } | Self::Changed { case, .. } => case,
        }
    }
}

/// What changed from one run to another. With a judge at hand, exchanges that differ are shown as text.
///
/// # Errors
///
/// When a claim contradicts itself, or a file that is needed is not what its manifest says.
pub fn runs(
    from: &OpenRun,
    to: &OpenRun,
    rejudge: Option<&mut dyn Rejudge>,
) -> Result<RunDiff, Vec<Problem>> {
    let name =
        |run: &OpenRun| run.path.file_name().unwrap_or(run.path.as_os_str()).to_string_lossy().into_owned();
    let mut diff = sets(&from.claims, &to.claims, Within::Both, true).map_err(|problem| vec![problem])?;
    (diff.from, diff.to) = (name(from), name(to));
    diff.apart = apart([(&diff.from, from), (&diff.to, to)]);
    if let Some(rejudge) = rejudge {
        explain(&mut diff, from, to, rejudge)?;
    }
    Ok(diff)
}

/// What keeps two runs from being two whole runs of one profile.
fn apart(runs: [(&String, &OpenRun); 2]) -> Vec<String> {
    let mut sentences = Vec::new();
    let [(_, from), (_, to)] = runs;
    let (before, after) = (&from.run.head.profile, &to.run.head.profile);
    if before != after {
        sentences.push(format!("these are runs of different profiles, {before} and {after}"));
    }
    for (name, run) in runs {
        let partial = &run.run.head.scope.partial;
        if !partial.is_empty() {
            let chosen = partial.join(", ");
            sentences.push(format!("{name} is a partial run ({chosen}): what it lacks was not chosen"));
        }
    }
    sentences
}

/// What changed between two sets of claims. `all` says whether the newer set is meant to be whole.
pub(in crate::receipt) fn sets(
    from: &BTreeMap<CaseId, Claim>,
    to: &BTreeMap<CaseId, Claim>,
    within: Within,
    all: bool,
) -> Result<RunDiff, Problem> {
    let mut diff =
        RunDiff { from: String::new(), to: String::new(), apart: Vec::new(), same: 0, cases: Vec::new() };
    for (case, claim) in to {
        let Some(before) = from.get(case) else {
            let variants = claim.groups.iter().map(|group| group.count).sum();
            diff.cases.push(CaseDiff::Added { case: case.to_string(), variants });
            continue;
        };
        let changes = claims_within(before, claim, within)?;
        if changes.is_empty() {
            diff.same += 1;
        } else {
            diff.cases.push(CaseDiff::Changed { case: case.to_string(), changes, exchange: None });
        }
    }
    if all {
        let gone = from.keys().filter(|case| !to.contains_key(*case));
        diff.cases.extend(gone.map(|case| CaseDiff::Gone { case: case.to_string() }));
    }
    diff.cases.sort_by(|a, b| a.case().cmp(b.case()));
    Ok(diff)
}

fn explain(
    diff: &mut RunDiff,
    from: &OpenRun,
    to: &OpenRun,
    rejudge: &mut dyn Rejudge,
) -> Result<(), Vec<Problem>> {
    let wanted: Vec<exchange::Wanted> = diff.cases.iter().filter_map(first_exchange).collect();
    let before = exchange::texts(from, &wanted, rejudge)?;
    let after = exchange::texts(to, &wanted, rejudge)?;
    for case in &mut diff.cases {
        let Some(key) = first_exchange(case) else { continue };
        if let (CaseDiff::Changed { exchange, .. }, Some(then), Some(now)) =
            (case, before.get(&key), after.get(&key))
        {
            *exchange = Some(exchange::unified(then, now));
        }
    }
    Ok(())
}

/// The first variant of a case whose exchange changed.
fn first_exchange(case: &CaseDiff) -> Option<exchange::Wanted> {
    let CaseDiff::Changed { case, changes, .. } = case else { return None };
    let variants = changes.iter().find_map(|change| match change {
        Change::Exchange(variants) => Some(variants),
        _ => None,
    })?;
    Some((case.parse().ok()?, variants.first.clone()))
}

impl fmt::Display for RunDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.apart.iter().try_for_each(|sentence| writeln!(f, "Note: {}.", Shown(sentence)))?;
        let (from, to, same) = (Shown(&self.from), Shown(&self.to), self.same);
        if self.cases.is_empty() {
            return writeln!(f, "{from} and {to} say the same in all of {same} cases.");
        }
        writeln!(
            f,
            "From {from} to {to}: cases that say the same {same}, that differ {}.",
            self.cases.len()
        )?;
        for case in &self.cases {
            match case {
                CaseDiff::Added { case, variants } => {
                    writeln!(f, "\n{case}\n  is new; variants: {variants}.")?;
                }
                CaseDiff::Gone { case } => writeln!(f, "\n{case}\n  is gone.")?,
                CaseDiff::Changed { case, changes, exchange } => {
                    writeln!(f, "\n{case}")?;
                    changes.iter().try_for_each(|change| writeln!(f, "  {change}."))?;
                    for line in exchange.iter().flat_map(|text| text.lines()) {
                        writeln!(f, "    {}", Shown(line))?;
                    }
                }
            }
        }
        Ok(())
    }
}
