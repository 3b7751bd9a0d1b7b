use super::*;

const TEXT: &str = r#"
title     = "A short answer"
revisions = ["2025-06-18"]
[vary]
id = { text = '"1"', none = "" }
[[peer]]
on   = "tools/call"
body = [{ result = "snow", id = "$id" }]
[[check]]
id     = "refused"
clause = "rpc.response.id-match"
error  = { of = "step-1" }
"#;

fn parse(text: &str) -> CaseFile {
    CaseFile::parse("json/ids".parse().unwrap(), "fixtures/cases/json/ids.toml", text).unwrap()
}

#[test]
fn the_digest_ignores_layout_and_sees_values() {
    let digest = parse(TEXT).digest;
    assert_eq!(digest, parse(&TEXT.replace("   = ", " = ").replace("[vary]", "# why\n[vary]")).digest);
    assert_ne!(digest, parse(&TEXT.replace("snow", "rain")).digest);
}

#[test]
fn spans_of_a_variant_point_into_the_file() {
    let case = parse(TEXT).instantiate(&[("id".to_owned(), "none".to_owned())]).unwrap();
    assert_eq!(case.peer[0].body.as_ref().unwrap()[0].id.as_deref(), Some(""));
    assert_eq!(TEXT.get(case.check[0].id.span()), Some("\"refused\""));
    assert_eq!(TEXT.get(case.check[0].clause.as_ref().unwrap().span()), Some("\"rpc.response.id-match\""));
}

#[test]
fn a_variant_parsed_before_is_the_same_as_one_parsed_anew() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut put_in_place = 0;
    for file in crate::catalogue::Catalogue::load(&root).unwrap().cases.values() {
        // The uncut ones before the cuts, as in a run: these then come from what those left behind.
        for mut keys in file.combinations() {
            for (_, value) in &mut keys {
                if matches!(value.as_str(), "each-cut" | "each-two-cuts") {
                    value.push_str(if value.len() > 8 { "@1,2" } else { "@17" });
                }
            }
            let anew = read(&file.path, &file.text, &file.template.fill(&keys).unwrap()).unwrap();
            assert_eq!(file.instantiate(&keys).unwrap(), anew, "{} {keys:?}", file.id);
        }
        put_in_place += file.parsed.known();
    }
    assert!(put_in_place > 100, "{put_in_place}");
}

#[test]
fn a_plan_in_a_place_of_something_else_is_parsed_anew() {
    // `text` takes any text: a plan's name is one.
    let text =
        TEXT.replace("\"snow\"", "\"$slice\"").replace("[vary]", "[vary]\nslice = [\"whole\", \"each-cut\"]");
    let file = parse(&text);
    let keys = |slice: &str| [("slice".to_owned(), slice.to_owned()), ("id".to_owned(), "none".to_owned())];
    for slice in ["whole", "each-cut@3"] {
        let case = file.instantiate(&keys(slice)).unwrap();
        assert_eq!(case.peer[0].body.as_ref().unwrap()[0].result.as_deref(), Some(slice));
    }
    assert!(file.instantiate(&keys("each-cut@0x")).is_err());
    assert_eq!(file.parsed.known(), 0);
}
