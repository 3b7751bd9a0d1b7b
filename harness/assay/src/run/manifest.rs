//! What a run's manifest says of it: who, what, how much, and what it does not qualify.

use super::profile::Conduct;
use super::unit::Unit;
use crate::catalogue::Catalogue;
use crate::digest::Digest;
use crate::exit::Exit;
use crate::judge::bound::binds_case;
use crate::profile::{Peer, Profile};
use crate::receipt::claim::{Client as ClientName, EvidenceClass};
use crate::receipt::run::{Identity, Offered, RunHead, Scope, Summary};
use crate::receipt::writer::utc;
use crate::revision::Revision;
use crate::sdk::fleet::Fleet;
use crate::variant::{CaseId, Wire};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

/// What is known before the run.
///
/// # Errors
/// A lock file of a server that cannot be read.
pub(super) fn head(
    conduct: &Conduct<'_>,
    fleet: &Fleet,
    units: &[Unit<'_>],
    before: Digest,
    partial: &[String],
) -> Result<RunHead, String> {
    let Conduct { catalogue, profile: file, choice, client, .. } = conduct;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let named = |name: &str| Identity::unpinned(name, &version);
    let mut catalogue_lines = String::new();
    for case in catalogue.cases.values() {
        catalogue_lines.push_str(&format!("{} {}\n", Digest(case.digest), case.id));
    }
    let (evidence, peers) = match file.profile.peer {
        Peer::Scripted if client.is_foreign() => {
            (EvidenceClass::ForeignClient, vec![named("mcp-assay scripted peer")])
        }
        Peer::Scripted => (EvidenceClass::Scripted, vec![named("mcp-assay scripted peer")]),
        Peer::Servers(_) => (EvidenceClass::SdkServer, fleet.identities()?),
    };
    Ok(RunHead {
        profile: file.profile.name.clone(),
        profile_sha256: Digest(file.digest),
        evidence,
        client: ClientName { name: client.name().to_owned(), version: client.version().to_owned() },
        policy: client.policy().map(str::to_owned),
        offers: Offered::from(client.offers()),
        subject: client.identity(),
        peers,
        harness: named("mcp-assay"),
        catalogue: version.clone(),
        catalogue_sha256: Digest::of(catalogue_lines.as_bytes()),
        sources_before: before,
        command: conduct.command.clone(),
        seed: choice.seed.to_string(),
        scope: Scope {
            tier: choice.tier,
            revisions: units.iter().map(|unit| unit.revision).collect::<BTreeSet<_>>().into_iter().collect(),
            wires: units.iter().map(|unit| unit.wire).collect::<BTreeSet<_>>().into_iter().collect(),
            size: choice.size(&file.profile).as_str().to_owned(),
            jobs: u32::try_from(choice.jobs(&file.profile.client)).unwrap_or(u32::MAX),
            partial: partial.to_vec(),
        },
        started: utc(SystemTime::now()),
    })
}

/// What is known once all has run.
pub(super) fn summary(
    conduct: &Conduct<'_>,
    fleet: &Fleet,
    sources_after: Digest,
    exit: Exit,
    partial: &[String],
    took: Duration,
) -> Summary {
    Summary {
        sources_after,
        exit: exit.code(),
        excluded: u64::try_from(excluded(conduct).len()).unwrap_or(u64::MAX),
        repetitions: conduct.repetition,
        not_qualified: not_qualified(conduct, fleet, partial),
        micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
    }
}

/// Cases of the catalogue that the profile leaves out by name.
fn excluded(conduct: &Conduct<'_>) -> BTreeMap<CaseId, String> {
    let profile = &conduct.profile.profile;
    let left_out =
        conduct.catalogue.cases.keys().filter_map(|id| Some((id.clone(), profile.excluded(id)?.to_owned())));
    left_out.collect()
}

/// What the run says nothing about.
fn not_qualified(conduct: &Conduct<'_>, fleet: &Fleet, partial: &[String]) -> Vec<String> {
    let profile = &conduct.profile.profile;
    let mut sentences: Vec<String> =
        excluded(conduct).into_iter().map(|(case, reason)| format!("case {case}: {reason}")).collect();
    if let Some(rows) = conduct.client.policy().and_then(|policy| conduct.catalogue.clauses.policy(policy)) {
        let excluded =
            rows.rows().iter().filter_map(|row| Some(format!("row {}: {}", row.id, row.excluded.as_ref()?)));
        sentences.extend(excluded);
    }
    let policy = conduct.client.policy();
    let unbound = conduct.catalogue.cases.values().filter(|file| {
        let scripted = file.case.servers.is_none() == (profile.peer == Peer::Scripted);
        let binds =
            |revision: &Revision| binds_case(&file.case, policy, *revision, &conduct.catalogue.clauses);
        let binds = profile.revisions.iter().any(binds);
        scripted && profile.takes(&file.id) && !binds
    });
    sentences.extend(unbound.map(|file| format!("case {}: no check of it binds this client", file.id)));
    sentences.extend(left_out(conduct.catalogue, profile, fleet));
    sentences.extend(partial.iter().map(|reason| format!("only what was chosen by {reason} ran")));
    sentences.extend(profile.expect.iter().map(|expect| {
        let (case, check) = (expect.case.as_str(), expect.check.as_str());
        format!("{case} {check} ({}): {}", expect.revision, expect.reason)
    }));
    let areas = conduct.catalogue.areas();
    let scripted = profile.peer == Peer::Scripted;
    let memory_only = areas.iter().filter(|area| scripted && !profile.wires.of(area).contains(&Wire::Tcp));
    sentences.extend(memory_only.map(|area| format!("family {area}: not run on tcp")));
    sentences
}

/// The server modes that a case leaves out by name although it fits what they do.
fn left_out(catalogue: &Catalogue, profile: &Profile, fleet: &Fleet) -> Vec<String> {
    let mut sentences = Vec::new();
    for file in catalogue.cases.values().filter(|file| profile.takes(&file.id)) {
        let Some(servers) = &file.case.servers else { continue };
        let revisions = || file.case.revisions.iter().filter(|revision| profile.revisions.contains(revision));
        for member in fleet.members.iter().filter(|member| servers.leave_out(&member.id)) {
            if revisions().any(|revision| member.mode.era(*revision).is_some_and(|era| servers.suit(era))) {
                sentences.push(format!("case {}: not run on {}, which it leaves out", file.id, member.id));
            }
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileFile;
    use std::path::Path;

    #[test]
    fn what_a_case_leaves_out_by_name_is_said_server_by_server() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let catalogue = Catalogue::load(&root).unwrap_or_else(|_| panic!("the catalogue has mistakes"));
        let profile = ProfileFile::open(&root, "sdk-python", &catalogue).unwrap();
        let fleet = Fleet::of(&root, &profile.profile).unwrap();
        let sentences = left_out(&catalogue, &profile.profile, &fleet);
        let of = |case: &str| -> Vec<&str> {
            let told = sentences.iter().filter_map(|text| text.strip_prefix(&format!("case {case}: ")));
            told.collect()
        };
        assert_eq!(
            of("sdk-expiry/several-pending"),
            [
                "not run on py1-stateful-json, which it leaves out",
                "not run on py2-stateful-json, which it leaves out"
            ]
        );
        // Modes without sessions are none that it fits.
        assert_eq!(
            of("sdk-expiry/answered-500"),
            [
                "not run on py1-stateful-sse, which it leaves out",
                "not run on py2-stateful-sse, which it leaves out"
            ]
        );
        assert!(of("sdk-calls/dialogue").is_empty());
    }
}
