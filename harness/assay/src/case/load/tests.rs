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
