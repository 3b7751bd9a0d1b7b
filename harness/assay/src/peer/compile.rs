//! A rule and the request it answers, compiled to the bytes that go over the wire, with marks, stops and cuts.
//!
//! Three layers, each in a file: content (items to a body), framing (head, lengths, chunks), and the wire, which
//! here only says where writes end. Marks arise on their layer and map outwards.

mod bound;
mod content;
mod error;
mod frame;
mod item;
pub(crate) mod marks;
pub(crate) mod sse;
mod status;
mod tokens;

#[cfg(test)]
mod tests;

use super::Calls;
use crate::case::reply::{Eol, Framing, Item, Region, Rule, Then};
use crate::plan::Plan;
use crate::revision::Revision;
use crate::timeline::{Mark, Request};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

pub use error::CompileError;
pub(crate) use tokens::Tokens;

/// The most bytes a compiled reply may have: 64 MiB.
pub const REPLY_MAX: usize = 64 << 20;

/// What a reply depends on besides its rule.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The revision spoken; it decides what a tool result looks like.
    pub revision: Revision,
    /// The run's seed, for seeded plans.
    pub seed: u64,
    /// The client's limits by public option name, for bounds.
    pub limits: &'a BTreeMap<String, u64>,
    /// The calls sent so far, for answers on a resumed stream.
    pub calls: &'a Calls,
}

/// A reply, ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// Everything that is written before the ending.
    pub bytes: Bytes,
    /// Bytes of the body before framing.
    pub content_len: usize,
    /// Named offsets into `bytes`, ascending. Where a kind of mark comes more than 256 times, the first and the
    /// last 128 are kept (`event:N` and the case's own names are all kept).
    pub marks: Vec<Mark>,
    /// Where the writing stops for a while, ascending.
    pub stops: Vec<Stop>,
    /// Where writes end, strictly ascending, stops not included.
    pub cuts: Vec<usize>,
    /// The interim replies and the head.
    pub head: Range<usize>,
    /// What follows the head.
    pub body: Range<usize>,
    /// What follows the terminal message; empty at the reply's end where there is none.
    pub suffix: Range<usize>,
    /// What follows the bytes. A body told by the connection's end turns `continue` into `fin`.
    pub then: Then,
    /// What `drip` keeps sending, framed, and how often.
    pub drip: Option<(Bytes, Duration)>,
}

/// A point inside a reply where the writing stops for a while.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stop {
    /// The offset before which all is written first.
    pub at: usize,
    /// What ends the stop.
    pub until: Until,
}

/// What ends a [`Stop`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Until {
    /// Time.
    Passed(Duration),
    /// The release of the hold of this name.
    Released(String),
}

impl Compiled {
    /// The part of the reply that a region names.
    #[must_use]
    pub fn region(&self, region: Region) -> Range<usize> {
        match region {
            Region::Reply => 0..self.bytes.len(),
            Region::Head => self.head.clone(),
            Region::Body => self.body.clone(),
            Region::Suffix => self.suffix.clone(),
        }
    }
}

/// The bytes of items in an event stream.
///
/// # Errors
/// Items that cannot be carried out as they stand.
pub(crate) fn stream(items: &[Item], eol: Eol, tokens: &Tokens) -> Result<Vec<u8>, CompileError> {
    Ok(content::encode(items, content::Shape::Sse(eol), tokens)?.bytes)
}

/// Compiles the reply of `rule` to `request`.
///
/// # Errors
/// A rule that cannot be carried out as it stands: an unknown token or limit, a bound out of reach, a plan that
/// names a cut outside its region. Such an error is the harness's or the case's, never the client's.
pub fn compile(rule: &Rule, request: &Request, context: &Context<'_>) -> Result<Compiled, CompileError> {
    let mut tokens = Tokens::of(request, context.revision, context.calls);
    if let Some(bound) = &rule.bound {
        tokens.pad = bound::padding(rule, bound, request, &tokens, context.limits)?;
    }
    let framed = match &rule.wire {
        Some(items) => frame::raw(content::encode(items, content::Shape::Plain, &tokens)?),
        None => frame::frame(rule, &frame::Parts::of(rule, request, &tokens)?)?,
    };
    if framed.bytes.len() > REPLY_MAX {
        return Err(CompileError::TooLarge);
    }
    let len = framed.bytes.len();
    let then = match (rule.then, rule.framing, &rule.wire) {
        (Then::Continue, Some(Framing::Close), None) => Then::Fin,
        (then, ..) => then,
    };
    let mut compiled = Compiled {
        bytes: framed.bytes.into(),
        content_len: framed.content_len,
        marks: framed.marks,
        stops: framed.stops,
        cuts: Vec::new(),
        head: 0..framed.head_end,
        body: framed.head_end..len,
        suffix: framed.terminal.unwrap_or(len)..len,
        then,
        drip: frame::drip(rule, &tokens)?,
    };
    if let Some(text) = &rule.slice {
        let plan: Plan = text.parse()?;
        let region = compiled.region(rule.slice_over);
        if let Some(reach) = plan.reach().filter(|reach| *reach >= region.len()) {
            return Err(CompileError::CutOutside { plan: text.clone(), reach, len: region.len() });
        }
        compiled.cuts = plan.cuts(region, &compiled.marks, context.seed);
    }
    Ok(compiled)
}
