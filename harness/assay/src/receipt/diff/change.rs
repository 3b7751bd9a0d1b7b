//! What changed between two claims of one case.

use crate::receipt::claim::{self, Claim, Judged};
use crate::receipt::fold;
use crate::receipt::problem::{Problem, Shown};
use crate::variant::Variant;
use crate::verdict::{CheckResult, Outcome};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One change, for all variants that share it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case", tag = "change")]
#[non_exhaustive]
pub enum Change {
    /// The case file says something else.
    CaseFile,
    /// The client has another name or version.
    Client {
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// Variants ran that did not before.
    Added(Variants),
    /// Variants no longer ran.
    Gone(Variants),
    /// A check has another outcome.
    Outcome {
        /// The check.
        check: String,
        /// Before.
        from: Outcome,
        /// After.
        to: Outcome,
        /// What is seen now.
        actual: String,
        /// Where.
        variants: Variants,
    },
    /// A check with the same outcome says something else.
    Text {
        /// The check.
        check: String,
        /// Which text: `expected`, `actual` or `level`.
        of: &'static str,
        /// Before.
        from: String,
        /// After.
        to: String,
        /// Where.
        variants: Variants,
    },
    /// A check is new.
    CheckAdded {
        /// The check.
        check: String,
        /// Its outcome.
        outcome: Outcome,
        /// Where.
        variants: Variants,
    },
    /// A check is gone.
    CheckGone {
        /// The check.
        check: String,
        /// Where.
        variants: Variants,
    },
    /// The client said or returned something else.
    Exchange(Variants),
}

/// Some variants of a case.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Variants {
    /// How many.
    pub count: usize,
    /// Which, folded.
    pub folded: Vec<String>,
    /// The first of them.
    pub first: String,
}

impl Variants {
    fn of(set: &BTreeSet<Variant>) -> Self {
        let first = set.first().map(fold::id).unwrap_or_default();
        Self { count: set.len(), folded: fold::fold(set), first }
    }
}

/// What changed from one claim of a case to another, most important first: outcomes before texts.
///
/// # Errors
///
/// When one of them contradicts itself.
pub fn claims(from: &Claim, to: &Claim) -> Result<Vec<Change>, Problem> {
    claims_within(from, to, Within::Both)
}

/// Which variants are compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::receipt) enum Within {
    /// All of both.
    Both,
    /// Those of the second: the first may hold more, as accepted claims do beside a partial run.
    Second,
}

pub(in crate::receipt) fn claims_within(
    from: &Claim,
    to: &Claim,
    within: Within,
) -> Result<Vec<Change>, Problem> {
    let before =
        from.judged(&from.case.parse().map_or_else(|_| from.case.clone(), |case| claim::path(&case)))?;
    let after = to.judged(&to.case.parse().map_or_else(|_| to.case.clone(), |case| claim::path(&case)))?;
    let mut changes = Vec::new();
    if from.digest != to.digest {
        changes.push(Change::CaseFile);
    }
    if (&from.client, from.evidence) != (&to.client, to.evidence) {
        let text =
            |claim: &Claim| format!("{} {} ({:?})", claim.client.name, claim.client.version, claim.evidence);
        changes.push(Change::Client { from: text(from), to: text(to) });
    }
    let not_in = |these: &BTreeMap<Variant, Judged>, those: &BTreeMap<Variant, Judged>| {
        these.keys().filter(|variant| !those.contains_key(*variant)).cloned().collect::<BTreeSet<_>>()
    };
    let mut sets: BTreeMap<Key, BTreeSet<Variant>> = BTreeMap::new();
    sets.insert(Key::Added, not_in(&after, &before));
    if within == Within::Both {
        sets.insert(Key::Gone, not_in(&before, &after));
    }
    for (variant, now) in &after {
        if let Some(then) = before.get(variant) {
            for key in keys(then, now) {
                sets.entry(key).or_default().insert(variant.clone());
            }
        }
    }
    sets.retain(|_, set| !set.is_empty());
    changes.extend(sets.into_iter().map(|(key, set)| key.change(Variants::of(&set))));
    Ok(changes)
}

/// A change without its variants, in the order of importance.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Key {
    Outcome { check: String, from: Outcome, to: Outcome, actual: String },
    CheckGone { check: String },
    CheckAdded { check: String, outcome: Outcome },
    Gone,
    Added,
    Text { check: String, of: &'static str, from: String, to: String },
    Exchange,
}

impl Key {
    fn change(self, variants: Variants) -> Change {
        match self {
            Self::Outcome { check, from, to, actual } => {
                Change::Outcome { check, from, to, actual, variants }
            }
            Self::CheckGone { check } => Change::CheckGone { check, variants },
            Self::CheckAdded { check, outcome } => Change::CheckAdded { check, outcome, variants },
            Self::Gone => Change::Gone(variants),
            Self::Added => Change::Added(variants),
            Self::Text { check, of, from, to } => Change::Text { check, of, from, to, variants },
            Self::Exchange => Change::Exchange(variants),
        }
    }
}

/// What changed for one variant.
fn keys(then: &Judged, now: &Judged) -> Vec<Key> {
    let mut keys = Vec::new();
    let find = |checks: &[CheckResult], id: &str| checks.iter().find(|check| check.id == id).cloned();
    for check in &now.checks {
        match find(&then.checks, &check.id) {
            None => keys.push(Key::CheckAdded { check: check.id.clone(), outcome: check.outcome }),
            Some(old) if old.outcome != check.outcome => keys.push(Key::Outcome {
                check: check.id.clone(),
                from: old.outcome,
                to: check.outcome,
                actual: check.actual.clone(),
            }),
            Some(old) => {
                let texts = [
                    ("expected", old.expected, check.expected.clone()),
                    ("actual", old.actual, check.actual.clone()),
                    (
                        "level",
                        format!("{:?}", old.level).to_lowercase(),
                        format!("{:?}", check.level).to_lowercase(),
                    ),
                ];
                keys.extend(
                    texts.into_iter().filter(|(_, from, to)| from != to).map(|(of, from, to)| Key::Text {
                        check: check.id.clone(),
                        of,
                        from,
                        to,
                    }),
                );
            }
        }
    }
    let gone = then.checks.iter().filter(|check| find(&now.checks, &check.id).is_none());
    keys.extend(gone.map(|check| Key::CheckGone { check: check.id.clone() }));
    if then.exchange != now.exchange {
        keys.push(Key::Exchange);
    }
    keys
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CaseFile => f.write_str("the case file says something else"),
            Self::Client { from, to } => {
                write!(f, "the client is {}, before it was {}", Shown(to), Shown(from))
            }
            Self::Added(variants) => write!(f, "{variants} ran that did not before"),
            Self::Gone(variants) => write!(f, "{variants} no longer ran"),
            Self::Outcome { check, from, to, actual, variants } => write!(
                f,
                "check {} is {} and was {}, in {variants}; now it sees: {}",
                Shown(check),
                word(*to),
                word(*from),
                Shown(actual)
            ),
            Self::Text { check, of, from, to, variants } => {
                write!(
                    f,
                    "check {} has another {of}, in {variants}: {}, before: {}",
                    Shown(check),
                    Shown(to),
                    Shown(from)
                )
            }
            Self::CheckAdded { check, outcome, variants } => {
                write!(f, "check {} is new and is {}, in {variants}", Shown(check), word(*outcome))
            }
            Self::CheckGone { check, variants } => write!(f, "check {} is gone, in {variants}", Shown(check)),
            Self::Exchange(variants) => {
                write!(f, "the client said or returned something else, in {variants}")
            }
        }
    }
}

impl fmt::Display for Variants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "variant {}", Shown(&self.first)),
            count => write!(f, "{count} variants ({})", Shown(&self.folded.join(" and "))),
        }
    }
}

/// The outcome as files spell it.
pub(in crate::receipt) fn word(outcome: Outcome) -> &'static str {
    outcome.as_str()
}
