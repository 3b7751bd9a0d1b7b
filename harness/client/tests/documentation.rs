//! Every public item has a runnable example that uses it and asserts something.
//!
//! The sources are read line by line. A `pub` item is one that users can reach: `unreachable_pub` refuses any other, and
//! the workspace's lints are errors in CI.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_public_item_has_a_runnable_example() {
    let (mut items, mut lacking) = (0, String::new());
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    for path in sources.iter().filter(|path| !is_for_mutants(path)) {
        let text = fs::read_to_string(path).expect("a source file is text");
        for item in public_items(&text) {
            items += 1;
            if let Err(reason) = has_example(&item) {
                writeln!(lacking, "{}:{}: {} {reason}", path.display(), item.line, item.name)
                    .expect("a string");
            }
        }
    }
    assert!(lacking.is_empty(), "public items without a runnable example:\n{lacking}");
    // A scan that misses its aim finds nothing to complain about.
    assert!(items >= 60, "only {items} public items were found");
}

#[test]
fn the_scan_tells_what_lacks_an_example() {
    let verdict = |source: &str| public_items(source).iter().map(has_example).collect::<Vec<_>>();
    let documented = "/// A.\n///\n/// ```\n/// assert!(a());\n/// ```\n#[must_use]\n";
    assert_eq!(verdict(&format!("{documented}pub const fn a() -> bool {{")), [Ok(())]);
    assert_eq!(verdict("/// A.\npub async fn a() {"), [Err("has no example that runs")]);
    assert_eq!(verdict(&format!("{documented}pub(crate) fn x() {{}}\npub fn a() {{}}")).len(), 1);
    assert_eq!(verdict(&documented.replace("```\n/// assert", "```no_run\n/// assert")).len(), 0);
    let ignored = documented.replace("```\n/// assert", "```ignore\n/// assert");
    assert_eq!(verdict(&format!("{ignored}pub struct a;")), [Err("has no example that runs")]);
    assert_eq!(verdict(&format!("{documented}pub struct B;")), [Err("is not used in its example")]);
    assert_eq!(
        verdict(&format!("{}pub fn a() {{}}", documented.replace("assert!", ""))),
        [Err("has an example that asserts nothing")]
    );
    let generated =
        "#[doc = \"```\"]\n#[doc = concat!(\"assert!(\", stringify!($x), \");\")]\n#[doc = \"```\"]\n";
    assert_eq!(verdict(&format!("{generated}pub fn $x() {{}}")), [Ok(())]);
    assert_eq!(verdict("pub trait T {\n    fn t();\n}\npub use a::B;\nfn u() {}").len(), 2);
}

/// Whether a file is seen from outside only with the feature `mutants`, which is for the tests of tests and no API.
fn is_for_mutants(path: &Path) -> bool {
    ["rule.rs", "habit.rs", "switch.rs"].iter().any(|name| path.ends_with(format!("src/{name}")))
}

/// One public item: where it is, what it is called, and its documentation.
struct Item {
    line: usize,
    name: String,
    docs: Vec<String>,
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the sources are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let nested = paths.iter().filter(|path| path.is_dir()).flat_map(|path| sources(path));
    let files = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.cloned().chain(nested).collect()
}

fn public_items(source: &str) -> Vec<Item> {
    let (mut items, mut docs, mut in_trait) = (Vec::new(), Vec::new(), false);
    for (index, line) in source.lines().enumerate() {
        let code = line.trim_start();
        if let Some(doc) = code.strip_prefix("///") {
            docs.push(doc.trim_start().to_owned());
        } else if let Some(doc) = code.strip_prefix("#[doc = ") {
            // Written by a macro: what stands between the outermost quotes.
            docs.push(
                doc.trim_start_matches(|c| c != '"')
                    .trim_end_matches(|c| c != '"')
                    .trim_matches('"')
                    .to_owned(),
            );
        } else if !code.starts_with("#[") {
            let docs = std::mem::take(&mut docs);
            if let Some(name) = item_name(code, in_trait) {
                items.push(Item { line: index + 1, name, docs });
            }
            in_trait = (in_trait || line.starts_with("pub trait ")) && !line.starts_with('}');
        }
    }
    items
}

/// The name of the public item that begins on this line, if one does. A field, a module or a re-export is none.
fn item_name(code: &str, in_trait: bool) -> Option<String> {
    let declaration =
        code.strip_prefix("pub ").or_else(|| code.starts_with("fn ").then_some(code).filter(|_| in_trait))?;
    let mut words =
        declaration.split([' ', '(', '<', ':', ';', '{', '=']).filter(|word| !word.is_empty()).peekable();
    loop {
        match words.next()? {
            "async" | "unsafe" => {}
            "const" if words.peek() == Some(&"fn") => {}
            "const" | "enum" | "fn" | "static" | "struct" | "trait" | "type" => {
                return words.next().map(str::to_owned);
            }
            _ => return None,
        }
    }
}

fn has_example(item: &Item) -> Result<(), &'static str> {
    let mut examples = Vec::new();
    let mut fence: Option<(bool, String)> = None;
    for line in &item.docs {
        match (line.strip_prefix("```"), &mut fence) {
            (Some(kind), None) => fence = Some((kind.is_empty(), String::new())),
            (Some(_), Some(_)) => {
                examples.extend(fence.take().filter(|(runs, _)| *runs).map(|(_, text)| text));
            }
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    if examples.is_empty() {
        return Err("has no example that runs");
    }
    // The items that a macro writes have no name of their own here.
    if !item.name.starts_with('$') && !examples.iter().any(|text| text.contains(&item.name)) {
        return Err("is not used in its example");
    }
    let asserts = examples
        .iter()
        .any(|text| ["assert!(", "assert_eq!(", "assert_ne!("].iter().any(|call| text.contains(call)));
    if asserts { Ok(()) } else { Err("has an example that asserts nothing") }
}
