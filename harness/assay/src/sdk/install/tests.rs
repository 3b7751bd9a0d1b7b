use super::*;
use std::fs;
use tempfile::TempDir;

const MANIFEST: &str = r#"
[[server]]
name = "one"
package = "sdk"
version = "1.0.0"
runtime = "node"
minimum = "1"
dir = "one"
shared = ["both"]
start = ["{runtime}", "{dir}/server.mjs", "{mode}"]

[[server.mode]]
name = "plain"
eras = [{ revisions = ["2025-06-18"], session = true, answers = "json" }]
"#;

/// A server in a directory of its own.
fn home() -> (TempDir, Manifest) {
    let home = tempfile::tempdir().unwrap();
    for (path, content) in [
        ("servers.toml", MANIFEST),
        ("one/package.json", "{}"),
        ("one/package-lock.json", "{}"),
        ("one/server.mjs", "import '../both/it.mjs'"),
        ("one/node_modules/left/over.js", "not a source"),
        ("both/it.mjs", ""),
    ] {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let manifest = Manifest::load(&home.path().join("servers.toml")).unwrap();
    (home, manifest)
}

/// The one server of a manifest as what is installed.
fn one(manifest: &Manifest) -> Program<'_> {
    let Server { name, runtime, minimum, dir, shared, .. } = &manifest.servers()[0];
    Program { name, runtime: *runtime, minimum: *minimum, home: manifest.directory(), dir, shared }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn found(version: &str) -> Found {
    Found { program: "node", version: version.parse().unwrap() }
}

#[test]
fn the_source_is_staged_beside_what_it_shares_and_once() {
    let (home, manifest) = home();
    let entry = home.path().join("entry");
    let program = one(&manifest);
    let first = stage(program, &entry).unwrap();
    assert_eq!(names(&first), ["both", "one"]);
    assert_eq!(names(&first.join("one")), ["package-lock.json", "package.json", "server.mjs"]);
    assert_eq!(stage(program, &entry).unwrap(), first);
    assert_eq!(names(&entry).len(), 1, "no draft is left");

    fs::write(home.path().join("both/it.mjs"), "changed").unwrap();
    let second = stage(program, &entry).unwrap();
    assert_ne!(second, first);
    assert_eq!(fs::read(second.join("both/it.mjs")).unwrap(), b"changed");
}

#[test]
fn an_entry_that_is_there_is_used_and_named_by_lock_and_runtime() {
    let (home, manifest) = home();
    let program = one(&manifest);
    let dir = home.path().join("one");
    let cache = home.path().join("cache");
    // npm refuses the broken lock, so an entry comes from here or not at all.
    fs::write(dir.join("package-lock.json"), "not a lock").unwrap();
    let error = dependencies(program, found("20.1"), &cache).unwrap_err();
    assert!(error.to_string().starts_with("one is not installed: `npm ci --ignore-scripts"), "{error}");
    assert!(names(&cache).is_empty(), "nothing half done is left");

    let mut hash = Sha256::new();
    hash.update("20.1\nnot a lock{}");
    let entry = cache.join(format!("one-{}", short(hash)));
    fs::create_dir_all(entry.join("node_modules")).unwrap();
    assert_eq!(dependencies(program, found("20.1.9"), &cache).unwrap(), entry);
    assert!(dependencies(program, found("22"), &cache).is_err(), "another runtime has an entry of its own");
}

#[test]
fn the_second_of_two_installs_uses_the_first_ones_result() {
    let parent = tempfile::tempdir().unwrap();
    let place = parent.path().join("place");
    build(parent.path(), &place, |draft| {
        fs::create_dir(&place).unwrap();
        fs::write(place.join("theirs"), "").unwrap();
        fs::write(draft.join("ours"), "").map_err(at(draft))
    })
    .unwrap();
    assert_eq!(names(&place), ["theirs"]);
    assert_eq!(names(parent.path()), ["place"]);
}

#[test]
fn an_installer_that_is_not_there_is_named() {
    let (home, manifest) = home();
    let program = OsStr::new("no-such-installer");
    let error = run(&manifest.servers()[0].name, home.path(), program, &["ci"]).unwrap_err().to_string();
    assert!(error.starts_with("one is not installed: `no-such-installer ci`: "), "{error}");
}

#[test]
fn what_an_installer_prints_is_cut_and_cannot_reach_the_terminal_raw() {
    let printed: String = (0..50).map(|n| format!("line {n}\r\n\n")).collect();
    let shown = readable(format!("{printed}\u{1b}[31mred\u{7}").as_bytes());
    assert_eq!(shown.lines().count(), 21, "a leading line end and the last twenty lines");
    assert!(shown.ends_with("line 49\n  \\x1b[31mred\\x07"), "{shown}");
}
