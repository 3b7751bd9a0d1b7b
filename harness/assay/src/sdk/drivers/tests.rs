use super::*;
use tempfile::TempDir;

const MANIFEST: &str = r#"
name = "one"
package = "sdk"
version = "1.0.0"
runtime = "node"
minimum = "20"
start = ["{runtime}", "{dir}/driver.mjs"]
"#;

fn root(manifest: &str) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(FOLDER).join("one");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir_all(root.path().join(FOLDER).join("no-driver")).unwrap();
    fs::write(folder.join("driver.toml"), manifest).unwrap();
    fs::write(folder.join("package-lock.json"), "{}").unwrap();
    root
}

#[test]
fn a_driver_is_found_by_its_folder() {
    let root = root(MANIFEST);
    assert_eq!(Driver::names(root.path()), ["one"]);
    let driver = Driver::load(root.path(), "one").unwrap();
    let placed = Placed { runtime: "node".into(), version: String::new(), source: "/cache/one".into() };
    assert_eq!(driver.command(&placed), ["node", "/cache/one/driver.mjs"]);
    let identity = driver.identity(root.path()).unwrap();
    // No path of this machine.
    assert_eq!(identity.command, ["Node.js", "one/driver.mjs"]);
    assert!(identity.lock_sha256.is_some());
}

#[test]
fn a_manifest_says_exactly_what_it_should() {
    for (from, to, told) in [
        ("name = \"one\"", "name = \"two\"", "the name is not the folder's"),
        ("{dir}", "{mode}", "unknown place {mode}"),
        ("[\"{runtime}\", \"{dir}/driver.mjs\"]", "[]", "an empty start command"),
        ("package", "pakage", "pakage"),
    ] {
        let root = root(&MANIFEST.replace(from, to));
        let problem = Driver::load(root.path(), "one").unwrap_err().rendered();
        assert!(problem.contains(told), "{problem}");
    }
    let missing = Driver::load(root(MANIFEST).path(), "two").unwrap_err().rendered();
    assert!(missing.contains("fixtures/drivers/two/driver.toml"), "{missing}");
}
