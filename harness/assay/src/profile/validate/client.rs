//! The client of a profile, and the wires that it can be reached by.

use super::Findings;
use crate::catalogue::Catalogue;
use crate::document::Document;
use crate::profile::{Client, Peer, Profile, ProfileFile};
use crate::sdk::drivers::Driver;
use std::path::Path;

pub(super) fn client(
    profile: &Profile,
    root: &Path,
    document: &Document<'_>,
    catalogue: &Catalogue,
    findings: &mut Findings<'_>,
) {
    let place = document.get("client");
    let policies = || catalogue.clauses.policies().map(|rows| rows.policy());
    let (key, policy) = match &profile.client {
        Client::Builtin(policy) => ("builtin", Some(policy)),
        Client::Process(policy) => ("process", Some(policy)),
        Client::Driver(name) => {
            let names = Driver::names(root);
            if !names.contains(name) {
                findings.unknown(place.get("driver"), "driver", name, names.iter().map(String::as_str));
            } else if let Err(error) = Driver::load(root, name) {
                findings.errors.push(error);
            }
            ("driver", None)
        }
    };
    if let Some(policy) = policy.filter(|policy| !policies().any(|known| known == policy.as_str())) {
        findings.unknown(place.get(key), "policy", policy, policies());
    }
    let elsewhere = !matches!(profile.client, Client::Builtin(_));
    if elsewhere && profile.peer == Peer::Scripted && !profile.wires.memory.is_empty() {
        let help = "write `memory = []` in [wires], and the families that run in `tcp`";
        let message = "a client in another process cannot be reached in memory";
        findings.at(document.get("wires").get("memory"), message, help);
    }
}

/// The profile whose deviations are taken over is there, and takes over none itself.
pub(super) fn deviations_of(
    profile: &Profile,
    root: &Path,
    document: &Document<'_>,
    findings: &mut Findings<'_>,
) {
    let Some(other) = &profile.deviations_of else { return };
    let place = document.get("deviations_of");
    match ProfileFile::names(root) {
        Ok(names) if !names.contains(other) || *other == profile.name => {
            let known = names.iter().map(String::as_str).filter(|name| *name != profile.name);
            findings.unknown(place, "other profile", other, known);
        }
        Ok(_) => {}
        Err(error) => findings.errors.push(error),
    }
}
