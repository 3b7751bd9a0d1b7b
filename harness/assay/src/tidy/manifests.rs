//! Rules for manifests and locks: the client knows nothing of the harness, nothing turns the feature `mutants` on, and
//! locks name public registries only.

use super::files::File;
use super::problem;
use crate::receipt::Problem;

/// The client's manifest.
const CLIENT: &str = "harness/client/Cargo.toml";

/// The crate that the client must not know.
const HARNESS: &str = "mcp-assay";

/// What locks may name, as each writes it.
const REGISTRIES: [&str; 3] = [
    "https://registry.npmjs.org/",
    "registry+https://github.com/rust-lang/crates.io-index",
    "https://pypi.org/",
];

/// The feature of a client that can be told to break its rules.
const MUTANTS: &str = "mutants";

pub(super) fn check(file: &File, broken: &mut Vec<Problem>) {
    if file.path == CLIENT {
        direction(file, broken);
    }
    let name = file.path.rsplit('/').next().unwrap_or_default();
    if name == "Cargo.toml" {
        mutants(file, broken);
    }
    if matches!(name, "package-lock.json" | "Cargo.lock") || name.starts_with("requirements") {
        registries(file, broken);
    }
}

fn direction(file: &File, broken: &mut Vec<Problem>) {
    let Ok(manifest) = file.text.parse::<toml::Table>() else {
        broken.push(problem(&file.path, None, "a manifest", "no TOML", "mend it"));
        return;
    };
    let mut tables: Vec<&toml::Table> = vec![&manifest];
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    tables.extend(targets.into_iter().flat_map(|targets| targets.values().filter_map(toml::Value::as_table)));
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(dependencies) = table.get(kind).and_then(toml::Value::as_table) else { continue };
            for (name, value) in dependencies {
                let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(name);
                if package == HARNESS {
                    let line =
                        file.text.lines().position(|line| line.trim_start().starts_with(name.as_str()));
                    let expected = "a client that stands without the harness";
                    let seen = format!("{package} in {kind}");
                    let remedy = "move what needs it into harness/assay";
                    broken.push(problem(&file.path, line.map(|line| line + 1), expected, &seen, remedy));
                }
            }
        }
    }
}

/// No dependency and no other feature turns `mutants` on, so a build has it only where its command line says so.
fn mutants(file: &File, broken: &mut Vec<Problem>) {
    let Ok(manifest) = file.text.parse::<toml::Table>() else { return };
    let mut seen = Vec::new();
    turned_on(&toml::Value::Table(manifest), "", &mut seen);
    for seen in seen {
        let expected = "no manifest that turns the feature `mutants` on";
        broken.push(problem(&file.path, None, expected, &seen, "leave it to `cargo xtask mutants`"));
    }
}

/// Lists of features that name `mutants`: those of dependencies, wherever they stand, and those that a feature implies.
fn turned_on(value: &toml::Value, place: &str, seen: &mut Vec<String>) {
    let Some(table) = value.as_table() else { return };
    for (key, value) in table {
        let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
        let implied = place.starts_with("features.") && key != MUTANTS;
        if (key == "features" || implied)
            && let Some(list) = value.as_array()
        {
            let mut names = list.iter().filter_map(toml::Value::as_str);
            if names.any(|name| name.rsplit('/').next() == Some(MUTANTS)) {
                seen.push(place.clone());
            }
        }
        turned_on(value, &place, seen);
    }
}

fn registries(file: &File, broken: &mut Vec<Problem>) {
    for (line, text) in (1..).zip(file.text.lines()) {
        let text = text.trim().trim_end_matches(',');
        let named = text
            .strip_prefix("\"resolved\": \"")
            .or_else(|| text.strip_prefix("source = \""))
            .map(|rest| rest.trim_end_matches('"'))
            .or_else(|| {
                text.starts_with("--").then(|| text.split_once([' ', '=']).map_or("", |(_, url)| url.trim()))
            })
            .filter(|named| named.contains("://"));
        if let Some(named) = named
            && !REGISTRIES.iter().any(|registry| named.starts_with(registry))
        {
            let expected = format!("one of {}", REGISTRIES.join(", "));
            broken.push(problem(
                &file.path,
                Some(line),
                &expected,
                named,
                "lock against the public registry",
            ));
        }
    }
}
