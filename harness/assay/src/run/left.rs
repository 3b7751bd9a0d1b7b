//! Why nothing is left to run.

use super::{Choice, units};
use crate::catalogue::Catalogue;
use crate::profile::{Profile, Tier};
use crate::receipt::catalog::Texts;
use crate::sdk::fleet::Fleet;
use std::collections::BTreeSet;

/// Which part of a choice leaves nothing of a profile, in words: how many cases each part leaves of what those before
/// it did, up to the one that leaves none.
#[must_use]
pub fn nothing_left(
    catalogue: &Catalogue,
    texts: &Texts,
    fleet: &Fleet,
    profile: &Profile,
    choice: &Choice,
) -> String {
    let cases = |choice: &Choice| -> usize {
        let units = units(catalogue, texts, fleet, profile, choice);
        units.iter().map(|unit| &unit.file.id).collect::<BTreeSet<_>>().len()
    };
    let mut so_far = Choice::default();
    let mut left = cases(&so_far);
    let mut told = format!("cases in the profile {}: {left}", profile.name);
    for (flag, take_up) in parts(choice) {
        if left == 0 {
            break;
        }
        take_up(&mut so_far, choice);
        left = cases(&so_far);
        let number = if left == 0 { "none".to_owned() } else { left.to_string() };
        told.push_str(&format!("; {flag} leaves {number}"));
    }
    if left > 0 {
        let size = choice.size(profile).as_str();
        told.push_str(&format!("; the filter or the size ({size}) leaves none of their variants"));
    }
    told
}

/// One part of a choice: takes it up into another choice.
type TakeUp = fn(&mut Choice, &Choice);

/// The parts that a choice has, as flags, the widest first.
fn parts(choice: &Choice) -> Vec<(String, TakeUp)> {
    let mut parts: Vec<(String, TakeUp)> = Vec::new();
    if choice.tier != Tier::Full {
        parts.push((format!("--tier {}", choice.tier), |to, from| to.tier = from.tier));
    }
    if let Some(revision) = choice.revision {
        parts.push((format!("--revision {revision}"), |to, from| to.revision = from.revision));
    }
    if let Some(wire) = choice.wire {
        parts.push((format!("--wire {}", wire.as_str()), |to, from| to.wire = from.wire));
    }
    if let Some(shard) = choice.shard {
        parts.push((format!("--shard {shard}"), |to, from| to.shard = from.shard));
    }
    if choice.without_memory {
        let flag = "--twin, in-process, where no process can be measured,".to_owned();
        parts.push((flag, |to, from| to.without_memory = from.without_memory));
    }
    if !choice.filters.is_empty() {
        let filters: Vec<String> = choice.filters.iter().map(ToString::to_string).collect();
        let flag = format!("--filter {}", filters.join(" or "));
        parts.push((flag, |to, from| to.filters.clone_from(&from.filters)));
    }
    parts
}

#[cfg(test)]
mod tests;
