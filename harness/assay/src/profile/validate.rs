//! What a profile means beyond its form: everything it names exists, everything it excuses has a reason.

mod client;
mod cuts;
mod tiers;

use super::{Deviation, Expect, Peer, Profile, ProfileFile};
use crate::catalogue::{CaseFile, Catalogue};
use crate::document::{Document, Place};
use crate::near;
use crate::sdk::fleet::Fleet;
use crate::select::Pattern;
use crate::source::SourceError;
use crate::variant::{CaseId, Variant, Wire};
use std::path::Path;

/// All findings.
pub(super) fn profile(file: &ProfileFile, root: &Path, catalogue: &Catalogue) -> Vec<SourceError> {
    let Some(document) = Document::parse(&file.text) else { return Vec::new() };
    let mut findings = Findings { file, errors: Vec::new() };
    head(&file.profile, root, &document, catalogue, &mut findings);
    servers(&file.profile, root, &document, &mut findings);
    cases(&file.profile, &document, catalogue, &mut findings);
    families(&file.profile, &document, catalogue, &mut findings);
    tiers::tiers(&file.profile, &document, catalogue, &mut findings);
    client::deviations_of(&file.profile, root, &document, &mut findings);
    for (index, deviation) in file.profile.deviation.iter().enumerate() {
        let place = document.get("deviation").at(index);
        self::deviation(deviation, place, catalogue, &mut findings);
        if file.profile.deviation.iter().take(index).any(|earlier| speaks_of_the_same(earlier, deviation)) {
            let help = "leave one out: both would be borne out by the same variants";
            findings.at(place.get("check"), "the deviation comes twice", help);
        }
    }
    for (index, expect) in file.profile.expect.iter().enumerate() {
        self::expect(expect, document.get("expect").at(index), catalogue, &mut findings);
    }
    findings.errors
}

fn head(
    profile: &Profile,
    root: &Path,
    document: &Document<'_>,
    catalogue: &Catalogue,
    findings: &mut Findings<'_>,
) {
    let stem = findings.file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if profile.name != stem {
        let help = format!("write `name = \"{stem}\"`, or rename the file");
        findings.at(document.get("name"), "the name is not the file's", help);
    }
    if profile.title.trim().is_empty() {
        findings.at(document.get("title"), "the title is empty", "say in one line what is put to the test");
    }
    client::client(profile, root, document, catalogue, findings);
    if profile.revisions.is_empty() {
        findings.at(document.get("revisions"), "no revision is named", "name at least one");
    }
    if !profile.revisions.is_sorted_by(|a, b| a < b) {
        let help = "name each once, the oldest first";
        findings.at(document.get("revisions"), "the revisions are not in order", help);
    }
    match &profile.peer {
        Peer::Scripted => {
            for (index, revision) in profile.revisions.iter().enumerate() {
                if !catalogue.polite.contains_key(revision) {
                    let help = format!("write fixtures/cases/polite/{revision}.toml, or leave it out");
                    let place = document.get("revisions").at(index);
                    findings.at(place, format!("{revision} has no polite peer"), help);
                }
            }
        }
        Peer::Servers(_) => {}
    }
}

fn servers(profile: &Profile, root: &Path, document: &Document<'_>, findings: &mut Findings<'_>) {
    let Peer::Servers(servers) = &profile.peer else { return };
    let place = document.get("peer").get("servers");
    if servers.is_empty() {
        findings.at(place, "no server is named", "name at least one, such as ts1-stateful-sse");
        return;
    }
    match Fleet::known(root) {
        Ok(known) => {
            for (index, server) in servers.iter().enumerate().filter(|(_, server)| !known.contains(server)) {
                findings.unknown(place.at(index), "server", server, known.iter().map(String::as_str));
            }
        }
        Err(error) => findings.errors.push(error),
    }
}

fn cases(profile: &Profile, document: &Document<'_>, catalogue: &Catalogue, findings: &mut Findings<'_>) {
    if profile.cases.is_empty() {
        findings.at(
            document.get("cases"),
            "no case is named",
            "name patterns such as \"sse/*\", or \"*\" for all",
        );
    }
    for (index, pattern) in profile.cases.iter().enumerate() {
        findings.case_pattern(pattern, document.get("cases").at(index), catalogue);
    }
    for (index, exclude) in profile.exclude.iter().enumerate() {
        let place = document.get("exclude").at(index);
        findings.reason(&exclude.reason, place);
        if findings.case_pattern(&exclude.cases, place.get("cases"), catalogue) {
            let taken = |id: &&CaseId| profile.cases.iter().any(|pattern| pattern.matches(id.as_str()));
            if !catalogue.cases.keys().filter(taken).any(|id| exclude.cases.matches(id.as_str())) {
                let help = "`cases` takes none of them: leave it out";
                findings.at(place.get("cases"), "nothing is excluded", help);
            }
        }
    }
}

fn families(profile: &Profile, document: &Document<'_>, catalogue: &Catalogue, findings: &mut Findings<'_>) {
    let areas = catalogue.areas();
    let wires = document.get("wires");
    for (key, patterns) in [("memory", &profile.wires.memory), ("tcp", &profile.wires.tcp)] {
        for (index, pattern) in patterns.iter().enumerate() {
            if pattern.as_str() != "*" && !areas.iter().any(|area| pattern.matches(area)) {
                let place = wires.get(key).at(index);
                findings.unknown(place, "family", pattern.as_str(), areas.iter().copied());
            }
        }
    }
    if profile.peer == Peer::Scripted && profile.wires.memory.is_empty() && profile.wires.tcp.is_empty() {
        findings.at(wires, "no family runs on any wire", "write `memory = [\"*\"]`");
    }
    let requires = document.get("requires");
    for family in profile.requires.families.keys() {
        if !areas.contains(&family.as_str()) {
            let place = requires.get(family).at_key();
            findings.unknown(place, "family", family, areas.iter().copied());
        }
    }
    let parts = [
        ("each_cut_max", profile.requires.each_cut_max),
        ("largest_case_max", profile.requires.largest_case_max),
    ];
    for (key, part) in parts {
        if part.is_some_and(|part| !(0.0..=1.0).contains(&part)) {
            findings.at(requires.get(key), "not a part of the variants", "expected 0.0 to 1.0");
        }
    }
}

fn speaks_of_the_same(a: &Deviation, b: &Deviation) -> bool {
    (&a.case, &a.check, a.revision, &a.variants, &a.actual)
        == (&b.case, &b.check, b.revision, &b.variants, &b.actual)
}

fn deviation(deviation: &Deviation, place: Place<'_>, catalogue: &Catalogue, findings: &mut Findings<'_>) {
    findings.reason(&deviation.reason, place);
    if let Some(row) = &deviation.row
        && catalogue.clauses.row(row).is_none()
    {
        let known = catalogue.clauses.policies().flat_map(|rows| rows.rows()).map(|row| row.id.as_str());
        findings.unknown(place.get("row"), "row", row, known);
    }
    if let Some(issue) = &deviation.issue
        && !issue.starts_with("https://")
    {
        findings.at(place.get("issue"), "no address of an issue", "expected one that begins with https://");
    }
    let case = deviation.case.parse::<CaseId>().ok().and_then(|id| catalogue.cases.get(&id));
    let Some(case) = case else {
        let known = catalogue.cases.keys().map(CaseId::as_str);
        findings.unknown(place.get("case"), "case", &deviation.case, known);
        return;
    };
    let profile = &findings.file.profile;
    if !profile.takes(&case.id) {
        let help =
            "a deviation speaks of a case that runs: take it up in `cases`, or leave the deviation out";
        findings.at(place.get("case"), format!("the profile does not run `{}`", case.id), help);
    }
    let check = case.case.check.iter().find(|check| *check.id.get_ref() == deviation.check);
    let Some(check) = check else {
        let known = case.case.check.iter().map(|check| check.id.get_ref().as_str());
        findings.unknown(place.get("check"), "check", &deviation.check, known);
        return;
    };
    let revisions = check.revisions.as_ref().unwrap_or(&case.case.revisions);
    let runs: Vec<&str> = revisions
        .iter()
        .filter(|revision| findings.file.profile.revisions.contains(revision))
        .map(|revision| revision.as_str())
        .collect();
    if !runs.contains(&deviation.revision.as_str()) {
        let message = format!("the check does not run in {}", deviation.revision);
        let help = near::help(deviation.revision.as_str(), runs);
        findings.at(place.get("revision"), message, help);
    } else if let Some(pattern) = &deviation.variants
        && !matches_variant(pattern, deviation, case, &profile.peer)
    {
        let example = variants(deviation, case, &profile.peer).next().map(|variant| variant.to_string());
        let help = format!("variants look like {}", example.unwrap_or_default());
        findings.at(place.get("variants"), format!("no variant matches {pattern}"), help);
    }
}

fn expect(expect: &Expect, place: Place<'_>, catalogue: &Catalogue, findings: &mut Findings<'_>) {
    findings.reason(&expect.reason, place);
    let profile = &findings.file.profile;
    if !profile.revisions.contains(&expect.revision) {
        let help = near::help(expect.revision.as_str(), profile.revisions.iter().map(|r| r.as_str()));
        let message = format!("the profile does not run in {}", expect.revision);
        findings.at(place.get("revision"), message, help);
    }
    let taken: Vec<&CaseFile> = catalogue.cases.values().filter(|case| profile.takes(&case.id)).collect();
    let cases: Vec<&&CaseFile> = taken.iter().filter(|case| expect.case.matches(case.id.as_str())).collect();
    if cases.is_empty() {
        let known = taken.iter().map(|case| case.id.as_str());
        findings.unknown(place.get("case"), "case the profile runs", expect.case.as_str(), known);
        return;
    }
    let checks = || cases.iter().flat_map(|case| &case.case.check).map(|check| check.id.get_ref().as_str());
    if !checks().any(|check| expect.check.matches(check)) {
        let mut known: Vec<&str> = checks().collect();
        known.sort_unstable();
        known.dedup();
        findings.unknown(place.get("check"), "check", expect.check.as_str(), known);
    }
}

/// Variants as far as they are known before lengths are: open plans at their first cut.
fn variants(deviation: &Deviation, case: &CaseFile, peer: &Peer) -> impl Iterator<Item = Variant> {
    let sides: Vec<(Option<String>, Wire)> = match peer {
        Peer::Scripted => vec![(None, Wire::Memory), (None, Wire::Tcp)],
        Peer::Servers(ids) => ids.iter().map(|id| (Some(id.clone()), Wire::Tcp)).collect(),
    };
    let revision = deviation.revision;
    case.combinations().flat_map(move |keys| {
        let open = |value: &String| match value.as_str() {
            "each-cut" => "each-cut@1".to_owned(),
            "each-two-cuts" => "each-two-cuts@1,2".to_owned(),
            _ => value.clone(),
        };
        let keys: Vec<(String, String)> =
            keys.iter().map(|(key, value)| (key.clone(), open(value))).collect();
        let variant = |(server, wire)| Variant { revision, server, keys: keys.clone(), wire };
        sides.clone().into_iter().map(variant).collect::<Vec<_>>()
    })
}

/// Whether the pattern can match a variant. Which cuts there are is known only once the case has run, so whatever
/// stands behind an `@` passes here.
fn matches_variant(pattern: &Pattern, deviation: &Deviation, case: &CaseFile, peer: &Peer) -> bool {
    // Without a server there is no variant, which is told where the servers should stand.
    if matches!(peer, Peer::Servers(ids) if ids.is_empty()) {
        return true;
    }
    let Ok(loose) = cuts::loosened(pattern.as_str()).parse::<Pattern>() else { return false };
    variants(deviation, case, peer).any(|variant| loose.matches(&variant.to_string()))
}

struct Findings<'a> {
    file: &'a ProfileFile,
    errors: Vec<SourceError>,
}

impl Findings<'_> {
    fn at(&mut self, place: Place<'_>, message: impl AsRef<str>, help: impl AsRef<str>) {
        self.errors.push(SourceError::at(&self.file.path, &self.file.text, place.span(), message, help));
    }

    fn unknown<'n>(
        &mut self,
        place: Place<'_>,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        self.at(place, format!("there is no {what} `{name}`"), near::help(name, known));
    }

    fn reason(&mut self, reason: &str, place: Place<'_>) {
        // Letters that fonts leave blank say nothing.
        const BLANK: [char; 4] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];
        if !reason.chars().any(|c| c.is_alphanumeric() && !BLANK.contains(&c)) {
            self.at(place.get("reason"), "an empty reason", "say why");
        }
    }

    /// A pattern must match a case; `*` may find none yet. Returns whether it is in order.
    fn case_pattern(&mut self, pattern: &Pattern, place: Place<'_>, catalogue: &Catalogue) -> bool {
        let any = pattern.as_str() == "*" || catalogue.cases.keys().any(|id| pattern.matches(id.as_str()));
        if !any {
            self.unknown(place, "case", pattern.as_str(), catalogue.cases.keys().map(CaseId::as_str));
        }
        any
    }
}
