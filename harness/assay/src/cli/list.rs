//! `conformance --list`: what would run.

use super::Context;
use super::args::Format;
use crate::catalogue::Catalogue;
use crate::clauses::Clauses;
use crate::exit::Exit;
use crate::judge::bound::binds_variant;
use crate::judge::finding::line;
use crate::plan::Plan;
use crate::profile::ProfileFile;
use crate::receipt::catalog::Texts;
use crate::revision::Revision;
use crate::run::unit::{Facing, Unit};
use crate::run::{Choice, units};
use crate::sdk::fleet::Fleet;
use crate::select::Size;
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
    cases: Vec<ListedCase>,
    families: BTreeMap<String, Family>,
    combinations: usize,
    at_least: bool,
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
                listed.push(list(file, &units, &catalogue.clauses));
            }
            Err(problem) => return context.complain(&problem),
        }
    }
    let exit = if listed.iter().all(|profile| profile.cases.is_empty()) {
        tell!("{}: no case matches; nothing would run", context.program);
        Exit::Incomplete
    } else {
        Exit::AsExpected
    };
    match format {
        Format::Human => exit.and(context.print(&listed.iter().map(text).collect::<String>())),
        Format::Json => exit.and(context.print_json(&List { profiles: listed, exit: exit.code() })),
    }
}

fn list(file: &ProfileFile, units: &[Unit<'_>], clauses: &Clauses) -> Listed {
    let mut cases: BTreeMap<&CaseId, ListedCase> = BTreeMap::new();
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for unit in units {
        let plans = unit.file.keys.iter().flat_map(|key| key.names());
        let open = plans.filter(|name| is_open(unit, name)).map(str::to_owned).collect();
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
    let (name, title) = (file.profile.name.clone(), file.profile.title.clone());
    Listed { name, title, cases: cases.into_values().collect(), families, combinations, at_least }
}

/// How many variants a unit has, and whether that is the least: where an open plan is among them.
fn count(unit: &Unit<'_>, policy: Option<&str>, clauses: &Clauses) -> (usize, bool) {
    if unit.is_alone() {
        return (1, false);
    }
    let (mut count, mut open) = (0_usize, false);
    for keys in unit.file.combinations() {
        if keys.iter().any(|(_, value)| is_open(unit, value)) {
            (count, open) = (count + 1, true);
        } else if binds_variant(&unit.file.case, &unit.variant(keys), policy, clauses) {
            count += 1;
        }
    }
    (unit.size.keep(vec![(); count], unit.revisions).len(), open)
}

/// Whether a plan stands for a number of variants that only a reply tells.
fn is_open(unit: &Unit<'_>, value: &str) -> bool {
    value
        .parse::<Plan>()
        .is_ok_and(|plan| plan.is_open() || (unit.size == Size::Sample && plan == Plan::EveryByte))
}

/// The list for people.
fn text(profile: &Listed) -> String {
    let mut text = format!("{}: {}\n", line(&profile.name), line(&profile.title));
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
    text
}

fn variants(count: usize, at_least: bool) -> String {
    let bound = if at_least { "at least" } else { "" };
    format!("{bound:>8} {count:>6} variants")
}
