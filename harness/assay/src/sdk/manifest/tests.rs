use super::*;
use std::ffi::OsStr;

const GOOD: &str = r#"
[[server]]
name = "ts1"
package = "sdk"
version = "1.0.0"
runtime = "node"
minimum = "20"
dir = "ts1"
start = ["{runtime}", "{dir}/server.mjs", "--mode={mode}"]

[[server.mode]]
name = "one"
eras = [{ revisions = ["2025-06-18"], session = true, answers = "json" }]
"#;

fn parse(text: &str) -> Result<Manifest, String> {
    Manifest::parse(Path::new("x/servers.toml"), text)
        .map_err(|error| format!("{error}\n{}", error.help().unwrap_or_default()))
}

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from:?} is not in the text to change");
    parse(&GOOD.replacen(from, to, 1)).expect_err("a manifest with a mistake")
}

#[test]
fn the_manifest_of_this_repository_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/servers/servers.toml");
    let manifest = Manifest::load(&path).unwrap();
    let names: Vec<&str> = manifest.servers().iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["ts1", "ts2", "py1", "py2"]);
    for server in manifest.servers() {
        assert_eq!(server.modes.len(), 4, "modes of {}", server.name);
        for dir in std::iter::once(&server.dir).chain(&server.shared) {
            assert!(manifest.directory().join(dir.as_str()).is_dir(), "{dir} of {}", server.name);
        }
    }
    let routed = manifest.server("ts2").unwrap().mode("routed").unwrap();
    assert!(routed.era(Revision::V20250618).unwrap().session);
    assert!(!routed.era(Revision::V20260728).unwrap().session);
    let one = manifest.server("ts1").unwrap().mode("stateful-json").unwrap();
    assert_eq!(one.era(Revision::V20251125).unwrap().answers, Answers::Json);
    assert!(one.era(Revision::V20260728).is_none());
}

#[test]
fn the_manifest_of_this_repository_agrees_with_its_locks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/servers/servers.toml");
    let manifest = Manifest::load(&path).unwrap();
    for Server { package, version, dir, runtime, .. } in manifest.servers() {
        let read =
            |file| std::fs::read_to_string(manifest.directory().join(dir.as_str()).join(file)).unwrap();
        match runtime {
            Runtime::Node => {
                let pin = format!("\"{package}\": \"{version}\"");
                assert!(read("package.json").contains(&pin), "{dir}: no {pin}");
                let lock = read("package-lock.json");
                assert!(lock.contains(&pin), "{dir}: the lock is not made from package.json");
                assert!(!lock.contains("\"resolved\""), "{dir}: the lock is tied to one registry");
            }
            Runtime::Python => {
                let pin = format!("{package}=={version}");
                assert_eq!(read("requirements.in").trim(), pin, "{dir}");
                assert!(read("requirements.txt").contains(&format!("\n{pin} \\\n")), "{dir}: stale lock");
            }
        }
    }
}

#[test]
fn the_start_command_is_filled_in() {
    let manifest = parse(GOOD).unwrap();
    let server = manifest.server("ts1").unwrap();
    let filled = server.start.fill(OsStr::new("/n/node"), OsStr::new("/c/ts1"), &server.modes[0].name);
    assert_eq!(filled, ["/n/node", "/c/ts1/server.mjs", "--mode=one"]);
}

#[test]
fn an_unknown_key_is_refused_with_its_place() {
    let error = refused("dir = \"ts1\"", "dir = \"ts1\"\ncolour = \"red\"");
    assert!(
        error.starts_with("x/servers.toml:9:1: unknown field `colour`\nexpected one of `name`"),
        "{error}"
    );
}

#[test]
fn wrong_values_are_refused_with_their_place() {
    for (from, to, expected) in [
        ("\"20\"", "20", "x/servers.toml:7:11: invalid type: integer `20`\nexpected a string"),
        ("\"20\"", "\"twenty\"", "x/servers.toml:7:11: bad version \"twenty\""),
        ("\"node\"", "\"deno\"", "x/servers.toml:6:11: unknown variant `deno`\nexpected `node` or `python`"),
        ("dir = \"ts1\"", "dir = \"../ts1\"", "x/servers.toml:8:7: bad name \"../ts1\""),
        ("{mode}", "one", "x/servers.toml:9:9: a start command without {mode}\nexpected it in"),
        ("{dir}", "{home}", "x/servers.toml:9:9: unknown place {home}"),
        ("\"2025-06-18\"", "\"2025-06-19\"", "x/servers.toml:13:24: unknown variant `2025-06-19`"),
        ("answers = \"json\"", "answers = \"text\"", "x/servers.toml:13:65: unknown variant `text`"),
        ("session = true, ", "", "x/servers.toml:13:9: missing field `session`"),
        ("version = \"1.0.0\"", "", "x/servers.toml:2:1: missing field `version`"),
        ("[[server]]", "[[server", "x/servers.toml:2:9: "),
    ] {
        let error = refused(from, to);
        assert!(error.starts_with(expected), "{from} -> {to}: {error}");
    }
}

#[test]
fn a_name_that_is_there_twice_is_refused() {
    let error = parse(&format!("{GOOD}{GOOD}")).unwrap_err();
    assert!(error.contains("ts1 is there twice"), "{error}");
    let mode = GOOD.split_once("\n\n").unwrap().1;
    let error = parse(&format!("{GOOD}{mode}")).unwrap_err();
    assert!(error.contains("one is there twice"), "{error}");
}

#[test]
fn no_servers_and_no_modes_are_refused() {
    assert!(parse("").unwrap_err().contains("missing field `server`"));
    assert!(parse("server = []").unwrap_err().contains("expected at least one"));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Manifest::load(Path::new("no/such.toml")).unwrap_err().to_string();
    assert!(error.starts_with("no/such.toml: cannot be read: "), "{error}");
}
