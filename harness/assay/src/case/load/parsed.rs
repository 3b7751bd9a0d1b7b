//! What was parsed of a case before. Most of its variants differ in a slice plan alone, which is a text at a known
//! place: they are parsed once, with a stand-in for the plan, and the plan is put in place afterwards.

use crate::case::Case;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A choice of `vary` keys.
pub(super) type Picks = Vec<(String, String)>;

/// What was parsed, by the choice of keys with a stand-in for each plan; nothing where stand-ins do not do. Clones
/// share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed(Arc<Mutex<BTreeMap<Picks, Option<Arc<Case>>>>>);

impl Parsed {
    /// The case of this choice, parsed by `parse` where it was not before.
    pub(super) fn get(&self, picks: &Picks, parse: impl FnOnce() -> Option<Case>) -> Option<Arc<Case>> {
        // Whole entries are all that is ever written, so a poisoned map is still a true one.
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(picks) {
            return known.clone();
        }
        let parsed = parse().map(Arc::new);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(picks.clone(), parsed.clone());
        parsed
    }

    /// How many cases plans can be put into.
    #[cfg(test)]
    pub(super) fn known(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().flatten().count()
    }
}

/// A plan that stands for another one: a text that no file holds.
#[derive(Clone, Debug)]
pub(in crate::case) struct StandIn {
    /// The text in its place.
    pub(in crate::case) text: String,
    /// The plan.
    pub(in crate::case) plan: String,
    /// How often it comes.
    pub(in crate::case) holes: usize,
}

/// Puts plans in the places of their stand-ins, and says whether all of those were found.
pub(super) fn put(case: &mut Case, stand_ins: &[StandIn]) -> bool {
    let holds = |text: &Option<String>| stand_ins.iter().any(|s| text.as_ref() == Some(&s.text));
    // Only a rule that is changed is a copy of its own.
    let changed = case.peer.iter_mut().filter(|rule| holds(&rule.slice) || holds(&rule.chunks));
    let peer = changed.map(Arc::make_mut).flat_map(|rule| [&mut rule.slice, &mut rule.chunks]);
    let tap = case.tap.iter_mut().map(|rule| &mut rule.slice);
    let mut found = vec![0; stand_ins.len()];
    for text in peer.chain(tap).flatten() {
        if let Some(at) = stand_ins.iter().position(|stand_in| *text == stand_in.text)
            && let (Some(stand_in), Some(found)) = (stand_ins.get(at), found.get_mut(at))
        {
            text.clone_from(&stand_in.plan);
            *found += 1;
        }
    }
    stand_ins.iter().zip(found).all(|(stand_in, found)| stand_in.holes == found)
}
