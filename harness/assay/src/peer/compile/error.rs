//! Why a rule could not be compiled.

use crate::case::reply::Unit;
use crate::plan::BadPlan;

/// A rule that cannot be carried out as it stands.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A `{{token}}` that stands for nothing.
    #[error(
        "unknown token {{{{{0}}}}}: expected {{{{id}}}}, {{{{arg.NAME}}}}, {{{{pad}}}}, {{{{session}}}} or {{{{n}}}}"
    )]
    UnknownToken(String),
    /// An item with no content key, or more than one.
    #[error("an item has {found} content keys ({names}), expected exactly one")]
    ContentKeys {
        /// How many.
        found: usize,
        /// Their names.
        names: String,
    },
    /// `hex` that is not pairs of hexadecimal digits.
    #[error("hex {0:?} is not pairs of hexadecimal digits")]
    Hex(String),
    /// A text that is no plan.
    #[error(transparent)]
    Plan(#[from] BadPlan),
    /// A plan that names a cut outside its region.
    #[error("plan {plan:?} cuts at {reach}, but its region has only {len} bytes")]
    CutOutside {
        /// The plan.
        plan: String,
        /// Its last cut.
        reach: usize,
        /// The region's length.
        len: usize,
    },
    /// A bound on a limit nobody set.
    #[error("bound names the limit {0:?}, which neither the case nor the defaults set")]
    UnknownLimit(String),
    /// A bound whose padding lies outside the unit it pads.
    #[error("bound pads {0:?}, but no {{{{pad}}}} stands in that unit")]
    NoPadding(Unit),
    /// A bound that no padding reaches.
    #[error(
        "bound wants {wanted} bytes of {unit:?}, but {have} are there without padding, which grows in steps of {step}"
    )]
    Unreachable {
        /// The unit.
        unit: Unit,
        /// The size wanted, bytes.
        wanted: u64,
        /// The size without padding, bytes.
        have: u64,
        /// How many times the padding stands in the unit.
        step: u64,
    },
    /// A content length below zero.
    #[error("length_lie {lie} makes the content length of a body of {len} bytes negative")]
    NegativeLength {
        /// The lie.
        lie: i64,
        /// The true length.
        len: usize,
    },
    /// `then = "drip"` without `drip`, or the other way round.
    #[error("then = \"drip\" and the key drip go together, one of them is missing")]
    Drip,
    /// A reply over [`REPLY_MAX`](super::REPLY_MAX).
    #[error("the reply has over 64 MiB")]
    TooLarge,
}
