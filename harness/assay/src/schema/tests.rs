use super::*;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_schema_files_are_the_types() {
    let stale: Vec<String> = drift(root()).iter().map(ToString::to_string).collect();
    assert_eq!(stale, Vec::<String>::new());
}

#[test]
fn drift_names_the_file_and_the_cure() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(drift(folder.path()).len(), files().len());
    write(folder.path()).unwrap();
    assert_eq!(drift(folder.path()), []);
    let path = folder.path().join("fixtures/schema/case.schema.json");
    std::fs::write(path, "{}\n").unwrap();
    let [error] = drift(folder.path()).try_into().unwrap();
    assert!(error.rendered().contains("tidy --write"), "{}", error.rendered());
}

#[test]
fn a_varied_key_takes_its_type_or_a_hole() {
    let schema = case();
    let rule = &schema["$defs"]["Rule"];
    assert_eq!(rule["additionalProperties"], false);
    assert_eq!(rule["properties"]["status"]["anyOf"][0]["type"], json!(["integer", "null"]));
    assert_eq!(rule["properties"]["status"]["anyOf"][1]["pattern"], "^\\$[a-z0-9_-]{1,60}$");
    assert_eq!(rule["properties"]["on"]["type"], "string");
    assert!(rule["properties"]["body"]["anyOf"][0]["items"]["anyOf"].is_array());
    assert!(schema["properties"]["title"]["anyOf"].is_null());
}
