//! What of a catalogue runs: filters, shards and sizes.

use crate::plan::{Plan, TooLong};
use crate::variant::{CaseId, Variant};
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// A glob over ids: `*`, `?`, `[…]`, `{a,b}`. `*` also crosses `/`, so `*` is everything.
///
/// ```
/// use mcp_assay::select::Pattern;
///
/// let pattern: Pattern = "sse/bom-*".parse()?;
/// assert!(pattern.matches("sse/bom-split"));
/// assert!(!pattern.matches("sse/eol"));
/// # Ok::<(), mcp_assay::select::BadPattern>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

impl Pattern {
    /// Whether the whole text matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matcher.is_match(text)
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The longest pattern, in bytes: far above what a case or variant id needs.
const PATTERN_MAX: usize = 1_000;

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(s: &str) -> Result<Self, BadPattern> {
        if s.len() > PATTERN_MAX {
            let start = s.chars().take(40).collect();
            return Err(BadPattern(start, format!("it has {} bytes, {PATTERN_MAX} are allowed", s.len())));
        }
        let glob = GlobBuilder::new(s).literal_separator(false).build();
        let glob = glob.map_err(|error| BadPattern(s.to_owned(), error.kind().to_string()))?;
        Ok(Self { text: s.to_owned(), matcher: glob.compile_matcher() })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A visitor's error belongs to the text; one made after it would point at what the text stands in.
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Pattern;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a glob such as sse/bom-*")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Pattern, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl JsonSchema for Pattern {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "A glob: `*` also crosses `/`." })
    }
}

/// A text that is no pattern.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is no pattern: {1}, expected a glob such as sse/bom-*")]
pub struct BadPattern(pub String, pub String);

/// A filter of the command line: a glob over case ids, and after `#` one over variant ids.
///
/// `sse/` is short for `sse/*`.
///
/// ```
/// use mcp_assay::select::Filter;
///
/// let filter: Filter = "suffix/*#*slice=each-cut@17*".parse()?;
/// assert!(filter.takes_case(&"suffix/bom".parse().unwrap()));
/// # Ok::<(), mcp_assay::select::BadPattern>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    case: Pattern,
    variant: Option<Pattern>,
}

impl Filter {
    /// Whether variants of this case can pass.
    #[must_use]
    pub fn takes_case(&self, case: &CaseId) -> bool {
        self.case.matches(case.as_str())
    }

    /// Whether this variant of a taken case passes. Slice plans must be concrete by then.
    #[must_use]
    pub fn takes_variant(&self, variant: &Variant) -> bool {
        self.variant.as_ref().is_none_or(|pattern| pattern.matches(&variant.to_string()))
    }

    /// Whether variants are chosen at all, so that a run of a taken case is not a whole one.
    #[must_use]
    pub fn narrows_variants(&self) -> bool {
        self.variant.is_some()
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.case)?;
        self.variant.iter().try_for_each(|variant| write!(f, "#{variant}"))
    }
}

impl FromStr for Filter {
    type Err = BadPattern;

    fn from_str(s: &str) -> Result<Self, BadPattern> {
        let (case, variant) = s.split_once('#').map_or((s, None), |(case, variant)| (case, Some(variant)));
        let case = if case.ends_with('/') { format!("{case}*") } else { case.to_owned() };
        Ok(Self { case: case.parse()?, variant: variant.map(str::parse).transpose()? })
    }
}

/// One part of several that together run everything once: `2/4`. A case is always in the same shard of as many,
/// whatever else there is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shard {
    index: u64,
    of: u64,
}

impl Shard {
    /// Whether the case belongs to this shard.
    #[must_use]
    pub fn takes(self, case: &CaseId) -> bool {
        let hash = Sha256::digest(case.as_str());
        let number = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        number % self.of == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = BadShard;

    fn from_str(s: &str) -> Result<Self, BadShard> {
        let bad = || BadShard(s.to_owned());
        let (index, of) = s.split_once('/').ok_or_else(bad)?;
        let (index, of) = (index.parse().map_err(|_| bad())?, of.parse().map_err(|_| bad())?);
        if (1..=of).contains(&index) { Ok(Self { index, of }) } else { Err(bad()) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// A text that is no shard.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is no shard: expected I/N, I from 1 to N")]
pub struct BadShard(pub String);

/// How many variants of each case run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// All of them.
    #[default]
    Full,
    /// A fixed choice of at most [`SAMPLE_MOST`] a case and wire, for slow clients and quick tests.
    Sample,
}

impl Size {
    /// The size as files and flags name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Sample => "sample",
        }
    }
}

impl FromStr for Size {
    type Err = BadSize;

    fn from_str(s: &str) -> Result<Self, BadSize> {
        match s {
            "full" => Ok(Self::Full),
            "sample" => Ok(Self::Sample),
            _ => Err(BadSize(s.to_owned())),
        }
    }
}

/// A text that is no size.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is no size: expected full or sample")]
pub struct BadSize(pub String);

/// The most variants of a case on one wire in a sample.
pub const SAMPLE_MOST: usize = 24;

/// The longest region that a sample writes byte by byte.
const EVERY_BYTE_MAX: usize = 512;

/// Cuts of an open plan that a sample picks by seed.
const SEEDED: u64 = 3;

impl Size {
    /// The plans that run for a plan as the case lists it, over a region of `len` bytes with `marks` counted from
    /// the region's start.
    ///
    /// Full: all that it stands for. Sample: of an open plan the cuts beside marks (one before, on, one after) and
    /// three by seed, writes of at most 512 single bytes, everything else as listed.
    ///
    /// ```
    /// use mcp_assay::plan::Plan;
    /// use mcp_assay::select::Size;
    ///
    /// let each_cut = Plan::EachCut(None);
    /// assert_eq!(Size::Full.plans(&each_cut, 40, &[], 1)?.len(), 39);
    /// assert!(Size::Sample.plans(&each_cut, 40, &[20], 1)?.contains(&Plan::EachCut(Some(19))));
    /// # Ok::<(), mcp_assay::plan::TooLong>(())
    /// ```
    ///
    /// # Errors
    /// `each-two-cuts` over a region too long for it.
    pub fn plans(self, listed: &Plan, len: usize, marks: &[usize], seed: u64) -> Result<Vec<Plan>, TooLong> {
        if self == Self::Full {
            return listed.expand(len);
        }
        let cuts = || marks.iter().copied().filter(|mark| (1..len).contains(mark));
        Ok(match listed {
            Plan::EveryByte if len > EVERY_BYTE_MAX => Vec::new(),
            Plan::EachCut(None) => {
                let beside = cuts().flat_map(|mark| [mark - 1, mark, mark + 1]);
                let all = listed.expand(len)?;
                let mut at: Vec<usize> = beside.filter(|at| (1..len).contains(at)).collect();
                at.extend(picked(all.len(), seed).map(|index| index + 1));
                at.sort_unstable();
                at.dedup();
                at.into_iter().map(|at| Plan::EachCut(Some(at))).collect()
            }
            Plan::EachTwoCuts(None) => {
                let all = listed.expand(len)?;
                let mut at: Vec<usize> = picked(all.len(), seed).collect();
                let neighbours: Vec<usize> = cuts().collect();
                at.extend(all.iter().enumerate().filter_map(|(index, plan)| match plan {
                    Plan::EachTwoCuts(Some((a, b))) => {
                        neighbours.windows(2).any(|pair| pair == [*a, *b]).then_some(index)
                    }
                    _ => None,
                }));
                at.sort_unstable();
                at.dedup();
                at.into_iter().filter_map(|index| all.get(index).cloned()).collect()
            }
            plan => vec![plan.clone()],
        })
    }

    /// Whether a plan stands for a number of variants that only a reply tells: how many [`Size::plans`] gives depends
    /// on the length of what is cut.
    #[must_use]
    pub fn opens(self, plan: &Plan) -> bool {
        plan.is_open() || (self == Self::Sample && *plan == Plan::EveryByte)
    }

    /// How many of so many variants of a case on one wire [`Size::keep`] keeps.
    #[must_use]
    pub fn kept(self, variants: usize, revisions: usize) -> usize {
        match self {
            Self::Full => variants,
            Self::Sample => variants.min((SAMPLE_MOST / revisions.max(1)).max(2)),
        }
    }

    /// Keeps what this size runs of all variants of a case on one wire in one of so many revisions. A sample keeps at
    /// most [`SAMPLE_MOST`] for all of them together, evenly spread, the first and the last among them.
    #[must_use]
    pub fn keep<T>(self, variants: Vec<T>, revisions: usize) -> Vec<T> {
        let len = variants.len();
        let most = self.kept(len, revisions);
        if len == most {
            return variants;
        }
        let mut wanted = (0..most).map(|n| n * (len - 1) / (most - 1)).peekable();
        let kept = variants.into_iter().enumerate();
        kept.filter_map(|(index, variant)| wanted.next_if_eq(&index).map(|_| variant)).collect()
    }
}

/// Up to [`SEEDED`] indices below `len`, fixed by the seed.
fn picked(len: usize, seed: u64) -> impl Iterator<Item = usize> {
    (0..SEEDED).filter_map(move |n| {
        // SplitMix64's finaliser: neighbouring seeds and numbers land far apart.
        let mut z = seed.wrapping_add((n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let len = u64::try_from(len).ok().filter(|len| *len > 0)?;
        usize::try_from(z % len).ok()
    })
}

#[cfg(test)]
mod tests;
