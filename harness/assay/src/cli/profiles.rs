//! `profiles`: what there is to run, what each needs, and whether it is here.

use super::Context;
use super::args::{Format, Output};
use crate::exit::Exit;
use crate::judge::finding::line;
use crate::profile::{Client, Peer, Profile, ProfileFile, Tier};
use crate::sdk::drivers::Driver;
use crate::sdk::fleet::Fleet;
use crate::source::{self, escape};
use serde::Serialize;
use std::fmt::Write as _;

/// The JSON object that ends the output.
#[derive(Serialize)]
struct List {
    profiles: Vec<Entry>,
    exit: u8,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    title: String,
    default: bool,
    client: String,
    peer: String,
    needs: String,
    here: bool,
    tiers: Vec<DeclaredTier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// A tier, with how long a run of it may take.
#[derive(Serialize)]
struct DeclaredTier {
    name: Tier,
    seconds: u32,
}

pub(super) fn run(context: &Context, output: &Output) -> Exit {
    let names = match ProfileFile::names(&context.root) {
        Ok(names) => names,
        Err(error) => return context.show(vec![error]),
    };
    let mut exit = Exit::AsExpected;
    let mut profiles = Vec::new();
    for name in names {
        let shown = std::path::Path::new("profiles").join(format!("{name}.toml"));
        let read = source::read(context.root.join(&shown), &shown);
        match read.and_then(|text| ProfileFile::parse(&shown, &text)) {
            Ok(file) => profiles.push(entry(context, &file.profile)),
            Err(error) => exit = exit.and(context.show(vec![error])),
        }
    }
    match output.format {
        Format::Human => exit.and(context.print(&text(&profiles))),
        Format::Json => exit.and(context.print_json(&List { profiles, exit: exit.code() })),
    }
}

fn entry(context: &Context, profile: &Profile) -> Entry {
    let (client, client_needs, missing) = of_client(context, &profile.client);
    let (peer, needs, problem) = match &profile.peer {
        Peer::Scripted => ("the scripted peer".to_owned(), NOTHING.to_owned(), None),
        Peer::Servers(ids) => {
            let (needs, problem) = match Fleet::of(&context.root, profile) {
                Ok(fleet) => of_servers(&fleet),
                Err(problem) => ("what its servers need".to_owned(), Some(problem)),
            };
            (format!("SDK servers: {}", ids.join(", ")), needs, problem)
        }
    };
    let needs = match client_needs {
        Some(client) if needs == NOTHING || needs == client => client,
        Some(client) => format!("{client}, {needs}"),
        None => needs,
    };
    let problem = missing.or(problem);
    Entry {
        name: profile.name.clone(),
        title: profile.title.clone(),
        default: profile.default,
        client,
        peer,
        needs,
        here: problem.is_none(),
        tiers: profile
            .tiers
            .declared()
            .map(|(name, part)| DeclaredTier { name, seconds: part.seconds.get() })
            .collect(),
        problem,
    }
}

/// What a profile needs that runs on the harness alone.
const NOTHING: &str = "Rust only";

/// The client in words, what it needs beside the harness, and what of that is not here.
fn of_client(context: &Context, client: &Client) -> (String, Option<String>, Option<String>) {
    match client {
        Client::Builtin(policy) => (format!("built-in, policy {policy}"), None, None),
        Client::Process(policy) => (format!("built-in, policy {policy}, as a process"), None, None),
        Client::Driver(name) => match Driver::load(&context.root, name) {
            Ok(driver) => {
                let needs = format!("{} {} or newer", driver.runtime, driver.minimum);
                let missing = driver.runtime.find(driver.minimum).err().map(|missing| missing.to_string());
                (format!("{} {}, driver {name}", driver.package, driver.version), Some(needs), missing)
            }
            Err(error) => (format!("driver {name}"), None, Some(error.message().to_owned())),
        },
    }
}

/// What servers need to run, and the first thing of it that is not here.
fn of_servers(fleet: &Fleet) -> (String, Option<String>) {
    let mut needs: Vec<String> = Vec::new();
    let mut problem = None;
    for member in &fleet.members {
        let server = &member.server;
        let need = format!("{} {} or newer", server.runtime, server.minimum);
        if !needs.contains(&need) {
            needs.push(need);
            if let Err(missing) = server.runtime.find(server.minimum) {
                problem.get_or_insert_with(|| missing.to_string());
            }
        }
    }
    (needs.join(", "), problem)
}

/// The list for people.
fn text(profiles: &[Entry]) -> String {
    let mut text = String::new();
    // Writing into a String cannot fail.
    for profile in profiles {
        let default = if profile.default { " (runs by default)" } else { "" };
        let _ = writeln!(text, "{}{default}: {}", line(&profile.name), line(&profile.title));
        let _ = writeln!(text, "  client  {}", escape(&profile.client));
        // Our own words are never cut, however many servers they name.
        let _ = writeln!(text, "  peer    {}", escape(&profile.peer));
        let here = if profile.here { "it is here" } else { "NOT here" };
        let _ = writeln!(text, "  needs   {}; {here}", escape(&profile.needs));
        if let Some(problem) = &profile.problem {
            let _ = writeln!(text, "          {}", escape(problem));
        }
        let declared = profile.tiers.iter().map(|tier| format!("{} {} s, ", tier.name, tier.seconds));
        let _ = writeln!(text, "  tiers   {}full", declared.collect::<String>());
    }
    text
}
