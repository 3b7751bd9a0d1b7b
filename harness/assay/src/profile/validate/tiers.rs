//! The tiers that a profile declares: each runs something, and nothing that the profile does not.

use super::Findings;
use crate::catalogue::{CaseFile, Catalogue};
use crate::document::{Document, Place};
use crate::judge::bound::binds_case;
use crate::profile::{Part, Peer, Profile, Tier};
use crate::revision::Revision;
use crate::variant::{CaseId, Wire};

pub(super) fn tiers(
    profile: &Profile,
    document: &Document<'_>,
    catalogue: &Catalogue,
    findings: &mut Findings<'_>,
) {
    for (tier, part) in profile.tiers.declared() {
        let place = document.get("tiers").get(tier.as_str());
        self::tier(tier, part, place, profile, catalogue, findings);
    }
}

fn tier(
    tier: Tier,
    part: &Part,
    place: Place<'_>,
    profile: &Profile,
    catalogue: &Catalogue,
    findings: &mut Findings<'_>,
) {
    if part.cases.is_empty() {
        let help = "name patterns such as \"sse/*\", or \"*\" for all of the profile";
        findings.at(place.get("cases"), format!("the tier {tier} names no case"), help);
        return;
    }
    let taken: Vec<&CaseFile> = catalogue.cases.values().filter(|file| profile.takes(&file.id)).collect();
    let mut known = true;
    for (index, pattern) in part.cases.iter().enumerate() {
        if !taken.iter().any(|file| pattern.matches(file.id.as_str())) && pattern.as_str() != "*" {
            let ids = taken.iter().map(|file| file.id.as_str());
            let what = "case the profile runs";
            findings.unknown(place.get("cases").at(index), what, pattern.as_str(), ids);
            known = false;
        }
    }
    let in_tier = |id: &CaseId| part.cases.iter().any(|pattern| pattern.matches(id.as_str()));
    let mut cases = taken.into_iter().filter(|file| in_tier(&file.id));
    if known && !cases.any(|file| runs(file, part, profile, catalogue)) {
        let wire = part.wire.map_or(String::new(), |wire| format!(" on {}", wire.as_str()));
        let message = format!("the tier {tier} runs nothing{wire}");
        let place = if part.wire.is_some() { place.get("wire") } else { place.get("cases") };
        findings.at(place, message, "none of its cases runs there in the profile: take up others");
    }
}

/// Whether the profile runs something of the case that the tier leaves it. Which of its servers a case fits is not
/// looked at.
fn runs(file: &CaseFile, part: &Part, profile: &Profile, catalogue: &Catalogue) -> bool {
    let wires = match (&profile.peer, &file.case.servers) {
        (Peer::Scripted, None) => profile.wires.of(file.id.area()),
        (Peer::Servers(_), Some(_)) => vec![Wire::Tcp],
        _ => Vec::new(),
    };
    let policy = profile.client.policy();
    let binds = |revision: &Revision| {
        profile.revisions.contains(revision) && binds_case(&file.case, policy, *revision, &catalogue.clauses)
    };
    wires.iter().any(|wire| part.wire.is_none_or(|only| only == *wire))
        && file.case.revisions.iter().any(binds)
}
