//! What was measured, for people and for scripts.

use super::memory::{ALLOWANCE, Growth};
use super::ratio::{Rates, Spread, Target, ratio};
use crate::exit::Exit;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// Everything that a run of the bench measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Ratios and shares.
    pub figures: Vec<Figure>,
    /// Whole profiles.
    pub runs: Vec<Timed>,
    /// Growths.
    pub memory: Vec<Growth>,
    /// What could not be measured here, and is no fault.
    pub notes: Vec<String>,
    /// What went wrong.
    pub problems: Vec<String>,
}

impl Report {
    /// 0 whatever the figures are; 3 if something could not be measured.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let measured = !self.figures.is_empty()
            || !self.runs.is_empty()
            || !self.memory.is_empty()
            || !self.notes.is_empty();
        if measured && self.problems.is_empty() { Exit::AsExpected } else { Exit::Incomplete }
    }

    /// How many figures and growths reach their targets, in a line; empty where none has one.
    #[must_use]
    pub fn summary(&self) -> String {
        let targeted = || self.figures.iter().filter(|figure| figure.target.is_some());
        let met = targeted().filter(|figure| figure.is_met()).count();
        let bounded = self.memory.iter().filter(|growth| growth.is_bounded()).count();
        let (ratios, growths) = (targeted().count(), self.memory.len());
        let ratios = (ratios > 0).then(|| format!("{met} of {ratios} ratios reach their targets"));
        let growths = (growths > 0)
            .then(|| format!("{bounded} of {growths} growths stay below formula + {} MiB", ALLOWANCE >> 20));
        ratios.into_iter().chain(growths).collect::<Vec<_>>().join(", ")
    }
}

/// The object that ends the output: `ratios` and `details` by name, `runs` and `memory` in the order of measuring.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Object<'a> {
            ratios: BTreeMap<&'a str, f64>,
            details: BTreeMap<&'a str, Detail<'a>>,
            runs: &'a [Timed],
            memory: &'a [Growth],
            notes: &'a [String],
            problems: &'a [String],
            exit: u8,
        }
        Object {
            ratios: self.figures.iter().map(|figure| (figure.name.as_str(), figure.spread.median)).collect(),
            details: self.figures.iter().map(|figure| (figure.name.as_str(), Detail::of(figure))).collect(),
            runs: &self.runs,
            memory: &self.memory,
            notes: &self.notes,
            problems: &self.problems,
            exit: self.exit().code(),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct Detail<'a> {
    low: f64,
    high: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    met: Option<bool>,
    basis: &'a str,
}

impl<'a> Detail<'a> {
    fn of(figure: &'a Figure) -> Self {
        let Spread { low, high, .. } = figure.spread;
        let target = figure.target.map(|Target(target)| target);
        Self { low, high, target, met: target.map(|_| figure.is_met()), basis: &figure.basis }
    }
}

/// How long a whole profile took, and how long it may.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timed {
    /// The profile.
    pub profile: String,
    /// Its cases.
    pub cases: u64,
    /// Its variants.
    pub variants: u64,
    /// What it took, seconds.
    pub seconds: f64,
    /// What it should stay under on two cores, seconds.
    pub target_seconds: f64,
}

impl fmt::Display for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { profile, cases, variants, seconds, target_seconds } = self;
        let met = if seconds < target_seconds { "met" } else { "NOT MET" };
        write!(f, "{profile}: {cases} cases, {variants} variants in {seconds:.1} s  ")?;
        write!(f, "target under {target_seconds} s on 2 cores {met}")
    }
}

/// A ratio or a share, and what it should reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// Its median and extremes.
    pub spread: Spread,
    /// What it should reach, if anything.
    pub target: Option<Target>,
    /// What it was made of, in words: both rates, and who had them.
    pub basis: String,
}

impl Figure {
    /// How many times faster `ours` was.
    pub(super) fn ratio(
        name: &str,
        target: Option<Target>,
        unit: &str,
        ours: &Rates,
        baseline: &Rates,
    ) -> Self {
        let rate = |rates: &Rates| format!("{} {} {unit}", rates.name, thousands(rates.median()));
        let basis = format!("{} ÷ {}", rate(ours), rate(baseline));
        Self { name: name.to_owned(), spread: ratio(ours, baseline), target, basis }
    }

    /// A share of something counted once.
    pub(super) fn share(name: &str, target: Target, share: f64, of: u64) -> Self {
        let spread = Spread { median: share, low: share, high: share };
        Self { name: name.to_owned(), spread, target: Some(target), basis: format!("of {of} made on TCP") }
    }

    /// Whether the median reaches the target; without one, always.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.target.is_none_or(|target| target.is_met_by(self.spread.median))
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spread { median, low, high } = self.spread;
        write!(f, "{:<26} {median:>6.3} [{low:.3} to {high:.3}]", self.name)?;
        match self.target {
            Some(Target(target)) if self.is_met() => write!(f, "  target {target} met")?,
            Some(Target(target)) => write!(f, "  target {target} NOT MET")?,
            None => write!(f, "  no target")?,
        }
        write!(f, "\n    {}", self.basis)
    }
}

/// One growth for people.
pub(super) fn memory_line(growth: &Growth) -> String {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    format!(
        "memory {:<16} {:<33} grew {:>8.2} MiB, formula {:>8.1} MiB, {}",
        growth.shape,
        growth.limits,
        mib(growth.growth_bytes),
        mib(growth.formula_bytes),
        if growth.is_bounded() { "bounded" } else { "NOT BOUNDED" },
    )
}

/// A rate in groups of three digits.
fn thousands(rate: f64) -> String {
    let digits = format!("{rate:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push('_');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(name: &str, per_second: &[f64]) -> Rates {
        Rates { name: name.to_owned(), per_second: per_second.to_vec() }
    }

    fn report() -> Report {
        let (ours, bare) = (rates("ours", &[1_500.0, 3_000.0]), rates("bare", &[1_000.0, 2_000.0]));
        Report {
            figures: vec![
                Figure::ratio("fast", Some(Target(1.0)), "calls/s", &ours, &bare),
                Figure::ratio("slow", Some(Target(1.0)), "calls/s", &bare, &ours),
                Figure::ratio("idle", None, "calls/s", &bare, &ours),
            ],
            memory: vec![Growth { shape: "one-line", limits: "default", growth_bytes: 1, formula_bytes: 2 }],
            ..Report::default()
        }
    }

    #[test]
    fn the_object_has_the_members_that_scripts_rest_on() {
        let object = serde_json::to_value(report()).unwrap();
        assert_eq!(object["ratios"]["fast"], 1.5);
        assert_eq!(object["details"]["fast"]["met"], true);
        assert_eq!(object["details"]["slow"]["met"], false);
        assert_eq!(object["details"]["idle"].get("target"), None);
        assert_eq!(object["memory"][0]["growth_bytes"], 1);
        assert_eq!(object["exit"], 0);
    }

    #[test]
    fn a_person_reads_baseline_target_and_spread() {
        let shown = report().figures[1].to_string();
        assert!(shown.contains("target 1 NOT MET"), "{shown}");
        assert!(shown.ends_with("bare 1_500 calls/s ÷ ours 2_250 calls/s"), "{shown}");
        let summary = "1 of 2 ratios reach their targets, 1 of 1 growths stay below formula + 4 MiB";
        assert_eq!(report().summary(), summary);
    }

    #[test]
    fn figures_gate_nothing_but_what_could_not_be_measured_is_told() {
        assert_eq!(report().exit(), Exit::AsExpected);
        let broken = Report { problems: vec!["no port".to_owned()], ..report() };
        assert_eq!(broken.exit(), Exit::Incomplete);
        assert_eq!(Report::default().exit(), Exit::Incomplete);
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0.4, 999.0, 1_000.0, 12_345_678.0].map(thousands), ["0", "999", "1_000", "12_345_678"]);
    }
}
