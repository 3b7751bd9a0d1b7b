//! Slice plans: where the peer's writes end. A plan never changes what is sent, nor how long it is.

use crate::timeline::Mark;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

#[cfg(test)]
mod tests;

/// The longest input that [`Plan::EachTwoCuts`] takes: 1,081 pairs. Longer ones belong to tests free of IO.
pub const TWO_CUTS_MAX: usize = 48;

/// Where writes (or chunks) end inside a region of a reply.
///
/// Offsets in a plan count from the region's start. A cut at offset 0 parts the region from what stands before it,
/// so it only exists where something does.
///
/// ```
/// use mcp_assay::plan::Plan;
///
/// let plan: Plan = "every-3".parse()?;
/// assert_eq!(plan.cuts(0..8, &[], 0), [3, 6]);
/// // A part of the reply is set apart from what stands before it.
/// assert_eq!(plan.cuts(10..18, &[], 0), [10, 13, 16]);
/// # Ok::<(), mcp_assay::plan::BadPlan>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Plan {
    /// `whole`: no cut.
    Whole,
    /// `every-byte`: a cut after each byte.
    EveryByte,
    /// `every-3`: a cut after each third byte (at least 1).
    Every(usize),
    /// `at-marks`: a cut at each mark in the region, its start included.
    AtMarks,
    /// `at:12,40`: these cuts, strictly ascending.
    Offsets(Vec<usize>),
    /// `seeded-7`: random widths of 1 to 23 bytes, and a cut before every UTF-8 continuation byte. The number and
    /// the run's seed together fix the cuts.
    Seeded(u64),
    /// `each-cut`: every way to cut in two; `each-cut@17` is one of them.
    EachCut(Option<usize>),
    /// `each-two-cuts`: every way to cut in three; `each-two-cuts@3,17` is one of them.
    EachTwoCuts(Option<(usize, usize)>),
}

/// Whether a text is a plan that stands for many: the value of a `vary` key, as a case lists it.
///
/// ```
/// use mcp_assay::plan::is_open;
///
/// assert!(is_open("each-cut"));
/// assert!(!is_open("each-cut@17") && !is_open("whole") && !is_open("snow"));
/// ```
#[must_use]
pub fn is_open(text: &str) -> bool {
    text.parse::<Plan>().is_ok_and(|plan| plan.is_open())
}

impl Plan {
    /// Whether the plan stands for many: it must be expanded once the length is known.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::EachCut(None) | Self::EachTwoCuts(None))
    }

    /// The plans that this plan stands for over a region of `len` bytes: itself, unless it is open.
    ///
    /// # Errors
    /// `each-two-cuts` over more than [`TWO_CUTS_MAX`] bytes.
    pub fn expand(&self, len: usize) -> Result<Vec<Self>, TooLong> {
        match self {
            Self::EachCut(None) => Ok((1..len).map(|at| Self::EachCut(Some(at))).collect()),
            Self::EachTwoCuts(None) if len > TWO_CUTS_MAX => Err(TooLong { len }),
            Self::EachTwoCuts(None) => Ok((1..len)
                .flat_map(|a| (a + 1..len).map(move |b| Self::EachTwoCuts(Some((a, b)))))
                .collect()),
            plan => Ok(vec![plan.clone()]),
        }
    }

    /// The last offset the plan itself names, counted from the region's start. A region not longer than it would
    /// silently lose the cut, so that is refused where replies are compiled.
    #[must_use]
    pub fn reach(&self) -> Option<usize> {
        match self {
            Self::Offsets(at) => at.last().copied(),
            Self::EachCut(at) => *at,
            Self::EachTwoCuts(at) => at.map(|(_, b)| b),
            Self::Whole | Self::EveryByte | Self::Every(_) | Self::AtMarks | Self::Seeded(_) => None,
        }
    }

    /// The cuts over `region`: strictly ascending, each at least the region's start and below its end, never 0.
    /// `marks` and the result count from the same origin as `region`. An open plan cuts nowhere.
    #[must_use]
    pub fn cuts(&self, region: Range<usize>, marks: &[Mark], seed: u64) -> Vec<usize> {
        let Range { start, end } = region;
        let mut cuts: Vec<usize> = match self {
            Self::Whole | Self::EachCut(None) | Self::EachTwoCuts(None) => Vec::new(),
            Self::EveryByte => (start..end).collect(),
            Self::Every(n) => (start..end).step_by((*n).max(1)).collect(),
            Self::AtMarks => marks.iter().map(|mark| mark.at).collect(),
            Self::Offsets(at) => at.iter().map(|at| start.saturating_add(*at)).collect(),
            Self::EachCut(Some(at)) => vec![start.saturating_add(*at)],
            Self::EachTwoCuts(Some((a, b))) => vec![start.saturating_add(*a), start.saturating_add(*b)],
            Self::Seeded(number) => seeded(start..end, marks, seed, *number),
        };
        cuts.retain(|at| *at > 0 && (start..end).contains(at));
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::EveryByte => f.write_str("every-byte"),
            Self::Every(n) => write!(f, "every-{n}"),
            Self::AtMarks => f.write_str("at-marks"),
            Self::Offsets(at) => {
                for (i, at) in at.iter().enumerate() {
                    write!(f, "{}{at}", if i == 0 { "at:" } else { "," })?;
                }
                Ok(())
            }
            Self::Seeded(n) => write!(f, "seeded-{n}"),
            Self::EachCut(None) => f.write_str("each-cut"),
            Self::EachCut(Some(at)) => write!(f, "each-cut@{at}"),
            Self::EachTwoCuts(None) => f.write_str("each-two-cuts"),
            Self::EachTwoCuts(Some((a, b))) => write!(f, "each-two-cuts@{a},{b}"),
        }
    }
}

impl FromStr for Plan {
    type Err = BadPlan;

    fn from_str(s: &str) -> Result<Self, BadPlan> {
        let plan = match s {
            "whole" => Some(Self::Whole),
            "every-byte" => Some(Self::EveryByte),
            "at-marks" => Some(Self::AtMarks),
            "each-cut" => Some(Self::EachCut(None)),
            "each-two-cuts" => Some(Self::EachTwoCuts(None)),
            _ => parse_numbered(s),
        };
        // One plan has one spelling: `every-03` and `at:+1` would be second names of the same variant.
        plan.filter(|plan| plan.to_string() == s).ok_or_else(|| BadPlan(s.to_owned()))
    }
}

/// A text that is no plan.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is no slice plan: expected whole, every-byte, every-N (from 1), at-marks, at:A,B,… (ascending), \
     seeded-N, each-cut, each-cut@A, each-two-cuts or each-two-cuts@A,B (ascending)"
)]
pub struct BadPlan(pub String);

/// An input too long for `each-two-cuts`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "each-two-cuts takes at most {TWO_CUTS_MAX} bytes, this region has {len}: narrow it with slice_over, or use each-cut"
)]
pub struct TooLong {
    /// Length of the region, bytes.
    pub len: usize,
}

fn parse_numbered(s: &str) -> Option<Plan> {
    if let Some(n) = s.strip_prefix("every-") {
        n.parse().ok().filter(|n| *n > 0).map(Plan::Every)
    } else if let Some(n) = s.strip_prefix("seeded-") {
        n.parse().ok().map(Plan::Seeded)
    } else if let Some(list) = s.strip_prefix("at:") {
        offsets(list).map(Plan::Offsets)
    } else if let Some(at) = s.strip_prefix("each-cut@") {
        at.parse().ok().map(|at| Plan::EachCut(Some(at)))
    } else {
        match offsets(s.strip_prefix("each-two-cuts@")?)?.as_slice() {
            [a, b] => Some(Plan::EachTwoCuts(Some((*a, *b)))),
            _ => None,
        }
    }
}

fn offsets(list: &str) -> Option<Vec<usize>> {
    let at: Vec<usize> = list.split(',').map(|at| at.parse().ok()).collect::<Option<_>>()?;
    at.is_sorted_by(|a, b| a < b).then_some(at)
}

fn seeded(region: Range<usize>, marks: &[Mark], seed: u64, number: u64) -> Vec<usize> {
    let mut random = SplitMix(seed ^ SplitMix(number).next());
    let mut cuts: Vec<usize> =
        marks.iter().filter(|mark| mark.name == "inside-utf8").map(|mark| mark.at).collect();
    let mut at = region.start;
    while at < region.end {
        cuts.push(at);
        // The remainder is below 23, so it fits any usize.
        at += 1 + usize::try_from(random.next() % 23).unwrap_or(0);
    }
    cuts
}

/// SplitMix64 (Steele, Lea and Flood 2014): tiny, and the same on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
