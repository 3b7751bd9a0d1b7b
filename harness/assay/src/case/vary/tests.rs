use super::*;

const TEXT: &str = r#"title = "$slice is no hole here"
[vary]
suffix = { bom = { hex = "efbbbf" }, many = { repeat = ":", times = 3 } }
slice = ["whole", "each-cut"]
[[peer]]
stream = [{ bytes = "$suffix" }]
slice = "$slice"
chunks = "$slice"
"#;

fn template(text: &str) -> Template {
    Template::new(Path::new("case.toml"), text).unwrap()
}

fn picks(picks: &[(&str, &str)]) -> Vec<(String, String)> {
    picks.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn combinations_are_the_product_in_file_order() {
    let names: Vec<String> = template(TEXT)
        .combinations()
        .map(|keys| keys.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(";"))
        .collect();
    assert_eq!(
        names,
        [
            "suffix=bom;slice=whole",
            "suffix=bom;slice=each-cut",
            "suffix=many;slice=whole",
            "suffix=many;slice=each-cut"
        ]
    );
    assert_eq!(template("a = 1").combinations().collect::<Vec<_>>(), [picks(&[])]);
}

#[test]
fn holes_are_whole_texts_only() {
    let filled = template(TEXT).fill(&picks(&[("slice", "each-cut@17"), ("suffix", "many")])).unwrap();
    let after = filled.text.split_once("[[peer]]\n").unwrap().1;
    assert_eq!(
        after,
        "stream = [{ bytes = { repeat = \":\", times = 3 } }]\nslice = \"each-cut@17\"\nchunks = \"each-cut@17\"\n"
    );
    assert!(filled.text.starts_with("title = \"$slice is no hole here\"\n"));
}

#[test]
fn places_lead_back_into_the_file() {
    let filled = template(TEXT).fill(&picks(&[("suffix", "many"), ("slice", "each-cut@17")])).unwrap();
    let origin = |needle: &str| {
        let at = filled.text.rfind(needle).unwrap();
        TEXT.get(filled.origin(at..at + needle.len())).unwrap()
    };
    // Outside of holes, before and after them.
    assert_eq!(origin("stream"), "stream");
    assert_eq!(origin("chunks"), "chunks");
    // Inside a value: where the value is defined, to the byte.
    assert_eq!(origin("times"), "times");
    assert!(
        filled.origin(filled.text.rfind("times").unwrap()..filled.text.len()).start
            < TEXT.find("slice =").unwrap()
    );
    // A concrete plan stands nowhere: the value it came from does.
    assert_eq!(origin("\"each-cut@17\""), "\"each-cut\"");
}

#[test]
fn an_open_plan_may_be_named() {
    let template = template("[vary]\ncut = { all = \"each-cut\", none = \"whole\" }\n[x]\ny = \"$cut\"\n");
    assert!(template.fill(&picks(&[("cut", "all@3")])).unwrap().text.ends_with("y = \"each-cut@3\"\n"));
    assert!(template.fill(&picks(&[("cut", "none@3")])).is_err());
    assert!(template.fill(&picks(&[("cut", "all@x")])).is_err());
}

#[test]
fn numbers_keep_their_type() {
    let template = template("[vary]\nstatus = [400, 500]\n[x]\ny = \"$status\"\n");
    assert!(template.fill(&picks(&[("status", "500")])).unwrap().text.ends_with("y = 500\n"));
}

#[test]
fn every_value_is_probed_once() {
    let probes = template(TEXT).probes();
    assert_eq!(probes.len(), 3);
    for value in ["bom", "many", "whole", "each-cut"] {
        assert!(probes.iter().flatten().any(|(_, pick)| pick == value), "{value}");
    }
}

#[test]
fn wrong_choices_are_named() {
    let error = |choice: &[(&str, &str)]| template(TEXT).fill(&picks(choice)).unwrap_err().to_string();
    let (whole, bom) = (("slice", "whole"), ("suffix", "bom"));
    assert!(error(&[whole]).ends_with("no value is chosen for the vary key `suffix`"));
    assert!(error(&[("slice", "hole"), bom]).ends_with("the vary key `slice` has no value `hole`"));
    assert!(error(&[whole, bom, ("size", "1")]).ends_with("the case has no vary key `size`"));
}
