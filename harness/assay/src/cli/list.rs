//! `conformance --list`: what would run.

use super::Context;
use super::args::Format;
use crate::catalogue::Catalogue;
use crate::clauses::Clauses;
use crate::exit::Exit;
use crate::judge::finding::line;
use crate::profile::{ProfileFile, Tier};
use crate::receipt::catalog::Texts;
use crate::report::human;
use crate::revision::Revision;
use crate::run::estimate::{Count, Estimate};
use crate::run::unit::{Facing, Unit};
use crate::run::{Choice, nothing_left, units};
use crate::sdk::fleet::Fleet;
use crate::variant::{CaseId, Wire};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The JSON object that ends the output.
#[derive(Serialize)]
struct List {
    profiles: Vec<Listed>,
    exit: u8,
}

/// What would run of one profile. Open slice plans count as one, since only the uncut variant tells how many they stand
/// for: a count with `at_least` is one that they make greater.
#[derive(Serialize)]
struct Listed {
    name: String,
    title: String,
    tier: Tier,
    cases: Vec<ListedCase>,
    families: BTreeMap<String, Family>,
    combinations: usize,
    at_least: bool,
    /// About how long it takes, where the profile states its pace.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate_seconds: Option<u64>,
}

#[derive(Serialize)]
struct ListedCase {
    id: String,
    title: String,
    on: Vec<On>,
}

#[derive(Serialize)]
struct On {
    revision: Revision,
    wire: Wire,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    combinations: usize,
    at_least: bool,
    /// Plans as written that stand for more than one variant.
    open: Vec<String>,
}

#[derive(Default, Serialize)]
struct Family {
    cases: usize,
    combinations: usize,
    at_least: bool,
}

pub(super) fn run(
    context: &Context,
    catalogue: &Catalogue,
    profiles: &[ProfileFile],
    choice: &Choice,
    format: Format,
) -> Exit {
    let texts = match Texts::load(&context.root) {
        Ok(texts) => texts,
        Err(problem) => return context.complain(&problem),
    };
    let mut listed: Vec<Listed> = Vec::new();
    for file in profiles {
        match Fleet::of(&context.root, &file.profile) {
            Ok(fleet) => {
                let units = units(catalogue, &texts, &fleet, &file.profile, choice);
                let profile = list(file, choice.tier, &units, &catalogue.clauses);
                if profile.cases.is_empty() {
                    let why = nothing_left(catalogue, &texts, &fleet, &file.profile, choice);
                    context.tell_problem(&format!("nothing would run: {why}"));
                }
                listed.push(profile);
            }
            Err(problem) => return context.complain(&problem),
        }
    }
    let exit = if listed.iter().all(|profile| profile.cases.is_empty()) {
        Exit::Incomplete
    } else {
        Exit::AsExpected
    };
    match format {
        Format::Human => exit.and(context.print(&listed.iter().map(text).collect::<String>())),
        Format::Json => exit.and(context.print_json(&List { profiles: listed, exit: exit.code() })),
    }
}

fn list(file: &ProfileFile, tier: Tier, units: &[Unit<'_>], clauses: &Clauses) -> Listed {
    let mut cases: BTreeMap<&CaseId, ListedCase> = BTreeMap::new();
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for unit in units {
        let plans = unit.file.keys.iter().flat_map(|key| key.names());
        let open = plans.filter(|name| unit.is_open(name)).map(str::to_owned).collect();
        let (combinations, at_least) = count(unit, file.profile.client.policy(), clauses);
        let family = families.entry(unit.file.id.area().to_owned()).or_default();
        family.combinations += combinations;
        family.at_least |= at_least;
        let case = cases.entry(&unit.file.id).or_insert_with(|| {
            family.cases += 1;
            let (id, title) = (unit.file.id.to_string(), unit.file.case.title.clone());
            ListedCase { id, title, on: Vec::new() }
        });
        let server = match unit.facing {
            Facing::Scripted { .. } => None,
            Facing::Server(id) => Some(id.to_owned()),
        };
        case.on.push(On { revision: unit.revision, wire: unit.wire, server, combinations, at_least, open });
    }
    let combinations = families.values().map(|family| family.combinations).sum();
    let at_least = families.values().any(|family| family.at_least);
    Listed {
        name: file.profile.name.clone(),
        title: file.profile.title.clone(),
        tier,
        cases: cases.into_values().collect(),
        families,
        combinations,
        at_least,
        estimate_seconds: Estimate::of(units, &file.profile, clauses).map(Estimate::seconds),
    }
}

/// How many variants a unit has, and whether that is the least: where an open plan is among them.
fn count(unit: &Unit<'_>, policy: Option<&str>, clauses: &Clauses) -> (usize, bool) {
    let Count { closed, open } = unit.count(policy, clauses);
    (unit.size.kept(closed + open, unit.revisions), open > 0)
}

/// The list for people.
fn text(profile: &Listed) -> String {
    let name = human::named(&line(&profile.name), profile.tier);
    let mut text = format!("{name}: {}\n", line(&profile.title));
    // Writing into a String cannot fail.
    for case in &profile.cases {
        let _ = writeln!(text, "  {}  {}", case.id, line(&case.title));
        for on in &case.on {
            let open = match on.open.as_slice() {
                [] => String::new(),
                open => format!(" ({} counted once)", open.join(" and ")),
            };
            let peer = on.server.as_deref().unwrap_or(on.wire.as_str());
            let variants = variants(on.combinations, on.at_least);
            let _ = writeln!(text, "    {} {:<6} {variants}{open}", on.revision, line(peer));
        }
    }
    for (name, family) in &profile.families {
        let variants = variants(family.combinations, family.at_least);
        let _ = writeln!(text, "  {name:<16} {:>4} cases {variants}", family.cases);
    }
    let (cases, variants) = (profile.cases.len(), variants(profile.combinations, profile.at_least));
    let _ = writeln!(text, "  {:<16} {cases:>4} cases {variants}", "all");
    if let Some(seconds) = profile.estimate_seconds {
        let _ = writeln!(text, "  about {seconds} s, by the pace that the profile states");
    }
    text
}

fn variants(count: usize, at_least: bool) -> String {
    let bound = if at_least { "at least" } else { "" };
    format!("{bound:>8} {count:>6} variants")
}
