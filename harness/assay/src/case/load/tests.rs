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

/// What is said of a file that is too much; it is said before any variant is looked at.
fn too_much(text: &str) -> String {
    let path = "fixtures/cases/json/ids.toml";
    let errors = CaseFile::parse("json/ids".parse().unwrap(), path, text).expect_err("it is too much");
    errors.iter().map(|error| format!("{}\n", error.message())).collect()
}

/// The case with these keys of `vary`, each of which is used.
fn varied(keys: &str, names: impl Iterator<Item = String>, head: &str) -> String {
    let used: String = names.map(|name| format!("[[peer]]\non = \"ping\"\nslice = \"${name}\"\n")).collect();
    TEXT.replace("[vary]", &format!("{head}\n[vary]\n{keys}")) + &used
}

#[test]
fn a_product_that_no_number_holds_is_too_much() {
    let names = || (0..64).map(|key| format!("k{key}"));
    let keys: String = names().map(|name| format!("{name} = [\"whole\", \"every-byte\"]\n")).collect();
    let told = too_much(&varied(&keys, names(), ""));
    assert_eq!(told, format!("at least {} variants where 1500 are allowed\n", usize::MAX));
    let told = too_much(&varied(&keys, names(), "max_variants = 4000000000"));
    assert!(told.contains("4000000000 variants where 100000 are the most of any case"), "{told}");
}

/// A case with this many values of one key, and two values of `id` for each.
fn many(count: usize, head: &str) -> String {
    let values: Vec<String> = (1..=count).map(|cut| format!("\"at:{cut}\"")).collect();
    varied(&format!("cut = [{}]\n", values.join(", ")), ["cut".to_owned()].into_iter(), head)
}

#[test]
fn values_are_counted_before_each_is_read() {
    assert_eq!(too_much(&many(1_400, "")), "at least 2800 variants where 1500 are allowed\n");
    assert_eq!(too_much(&many(6_000, "")), "the vary key `cut` has 6000 values where 1500 are allowed\n");
    let few = too_much(&many(1_400, "max_variants = 10"));
    assert_eq!(few, "the vary key `cut` has 1400 values where 10 are allowed\n");
}

#[test]
fn a_case_that_says_so_may_have_more_values_of_one_key() {
    assert_eq!(parse(&many(2_000, "max_variants = 5000")).combinations().count(), 4_000);
}

#[test]
fn a_case_allows_one_variant_at_least() {
    for said in ["-1", "0"] {
        let told = too_much(&varied("", std::iter::empty(), &format!("max_variants = {said}")));
        assert_eq!(told, format!("at most {said} variants where a case has one or more\n"));
    }
}

#[test]
fn steps_have_an_end() {
    let text = format!("{TEXT}{}", "[[step]]\nlist = true\n".repeat(501));
    assert_eq!(too_much(&text), "501 steps where 500 are allowed\n");
}
