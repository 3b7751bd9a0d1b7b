//! Moments: events of a timeline under the names that cases use.

use super::index::{Index, Place, split_nth};
use std::fmt;
use std::str::FromStr;

/// A moment that a case names: in a step's `after`, in `gap` and in `order`.
///
/// ```
/// use mcp_assay::judge::Moment;
///
/// let third: Moment = "seen:tools/call#3".parse()?;
/// assert_eq!(third, Moment::Seen { on: "tools/call".to_owned(), nth: 3 });
/// assert!("later:first".parse::<Moment>().is_err());
/// # Ok::<(), mcp_assay::judge::BadMoment>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Moment {
    /// `held:NAME`: a rule or reply holds under this name.
    Held(String),
    /// `seen:ON`, `seen:ON#3`: the first or third request on that method was read.
    Seen {
        /// As in a rule's `on`.
        on: String,
        /// Which, from 1.
        nth: usize,
    },
    /// `replied:ON`, `replied:ON#3`, `replied:STEP`: the reply to that request was written to its end.
    Replied(String),
    /// `closed:STEP`, `closed:ON#3`: the connection of that request was closed.
    Closed(String),
    /// `began:STEP`.
    Began(String),
    /// `ended:STEP`.
    Ended(String),
}

/// A text that names no moment.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} names no moment: expected held:NAME, seen:ON, seen:ON#N, replied:ON, closed:STEP, began:STEP or ended:STEP"
)]
pub struct BadMoment(pub String);

impl FromStr for Moment {
    type Err = BadMoment;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadMoment(text.to_owned());
        let (word, name) = text.split_once(':').filter(|(_, name)| !name.is_empty()).ok_or_else(bad)?;
        let name = || name.to_owned();
        Ok(match word {
            "held" => Self::Held(name()),
            "seen" => {
                let name = name();
                let (on, nth) = split_nth(&name);
                Self::Seen { on: on.to_owned(), nth }
            }
            "replied" => Self::Replied(name()),
            "closed" => Self::Closed(name()),
            "began" => Self::Began(name()),
            "ended" => Self::Ended(name()),
            _ => return Err(bad()),
        })
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held(name) => write!(f, "held:{name}"),
            Self::Seen { on, nth: 1 } => write!(f, "seen:{on}"),
            Self::Seen { on, nth } => write!(f, "seen:{on}#{nth}"),
            Self::Replied(name) => write!(f, "replied:{name}"),
            Self::Closed(name) => write!(f, "closed:{name}"),
            Self::Began(name) => write!(f, "began:{name}"),
            Self::Ended(name) => write!(f, "ended:{name}"),
        }
    }
}

impl Moment {
    /// Where it stands in a timeline, if it came before teardown.
    pub(crate) fn place(&self, index: &Index<'_>) -> Option<Place> {
        match self {
            Self::Held(name) => index.holds.iter().find(|hold| hold.name == name).map(|hold| hold.place),
            Self::Seen { on, nth } => index.named_request(&format!("{on}#{nth}")).map(|r| r.place),
            Self::Replied(name) => {
                let reply = index.replies.get(&index.named_request(name)?.request.number)?;
                (reply.before_teardown && reply.reply.complete).then_some(reply.place)
            }
            Self::Closed(name) => index
                .named_request(name)
                .and_then(|r| index.closes.get(&r.request.conn).filter(|close| close.place > r.place))
                .map(|close| close.place),
            Self::Began(name) => index.step(name)?.began,
            Self::Ended(name) => index.step(name)?.ended.map(|(place, _)| place),
        }
    }

    /// The step it is about, if it names one.
    pub(crate) fn step(&self) -> Option<&str> {
        match self {
            Self::Closed(name) | Self::Began(name) | Self::Ended(name) | Self::Replied(name) => Some(name),
            Self::Held(_) | Self::Seen { .. } => None,
        }
    }
}
