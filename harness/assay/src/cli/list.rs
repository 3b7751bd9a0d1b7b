//! `conformance --list`: what would run.

use super::Context;
use super::args::Format;
use crate::catalogue::Catalogue;
use crate::exit::Exit;
use crate::judge::finding::line;
use crate::profile::ProfileFile;
use crate::receipt::catalog::Texts;
use crate::revision::Revision;
use crate::run::unit::{Facing, Unit};
use crate::run::{Choice, units};
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

/// What would run of one profile. Open slice plans count as one: the uncut variant fixes how many they stand for.
#[derive(Serialize)]
struct Listed {
    name: String,
    title: String,
    cases: Vec<ListedCase>,
    families: BTreeMap<String, Family>,
    combinations: usize,
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
    /// Plans as written that stand for more than one variant.
    open: Vec<String>,
}

#[derive(Default, Serialize)]
struct Family {
    cases: usize,
    combinations: usize,
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
            Ok(fleet) => listed.push(list(file, &units(catalogue, &texts, &fleet, &file.profile, choice))),
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

fn list(file: &ProfileFile, units: &[Unit<'_>]) -> Listed {
    let mut cases: BTreeMap<&CaseId, ListedCase> = BTreeMap::new();
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for unit in units {
        let combinations = if unit.is_alone() { 1 } else { unit.file.combinations().count() };
        let plans = unit.file.keys.iter().flat_map(|key| key.names());
        let open = plans.filter(|name| name.parse::<crate::plan::Plan>().is_ok_and(|plan| plan.is_open()));
        let open = open.map(str::to_owned).collect();
        let family = families.entry(unit.file.id.area().to_owned()).or_default();
        family.combinations += combinations;
        let case = cases.entry(&unit.file.id).or_insert_with(|| {
            family.cases += 1;
            let (id, title) = (unit.file.id.to_string(), unit.file.case.title.clone());
            ListedCase { id, title, on: Vec::new() }
        });
        let server = match unit.facing {
            Facing::Scripted { .. } => None,
            Facing::Server(id) => Some(id.to_owned()),
        };
        case.on.push(On { revision: unit.revision, wire: unit.wire, server, combinations, open });
    }
    let combinations = families.values().map(|family| family.combinations).sum();
    let (name, title) = (file.profile.name.clone(), file.profile.title.clone());
    Listed { name, title, cases: cases.into_values().collect(), families, combinations }
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
                open => format!(", {} counted once", open.join(" and ")),
            };
            let peer = on.server.as_deref().unwrap_or(on.wire.as_str());
            let _ =
                writeln!(text, "    {} {:<6} {:>5} variants{open}", on.revision, line(peer), on.combinations);
        }
    }
    for (name, family) in &profile.families {
        let _ = writeln!(text, "  {name:<16} {:>4} cases {:>6} variants", family.cases, family.combinations);
    }
    let cases = profile.cases.len();
    let _ = writeln!(
        text,
        "  {:<16} {cases:>4} cases {:>6} variants, open slice plans counted once",
        "all", profile.combinations
    );
    text
}
