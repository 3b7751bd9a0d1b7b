//! Each rule on a tree that breaks it, and on one that does not.

use super::files::File;
use super::*;
use crate::case::CaseFile;

/// The findings about one file.
fn about(path: &str, text: &str) -> Vec<String> {
    let file = File { path: path.to_owned(), text: text.to_owned() };
    let commands = |words: &[String]| match words.first().map(String::as_str) {
        Some("conformance" | "explain") => Ok(()),
        other => Err(format!("{other:?}")),
    };
    let mut broken = Vec::new();
    text::check(&file, &mut broken);
    rust::check(&file, &mut broken);
    manifests::check(&file, &mut broken);
    prose::check(&file, &commands, &mut broken);
    cases::schema_comment(&file, &mut broken);
    broken.iter().map(ToString::to_string).collect()
}

#[test]
fn traces_of_merges_and_machines_are_found() {
    let ours = "<".repeat(7);
    let found = about("a.txt", &format!("{ours} HEAD\nsee /{}/x\nfixtures/{}/x\n", "work", "root"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("a.txt:1: expected no trace of a merge, saw <<<<<<< HEAD; resolve it"));
    assert!(found[1].starts_with("a.txt:2: expected no path of a machine"));
    assert_eq!(about("a.json", &format!("\"..{}\"", "/shared/x")).len(), 1);
}

#[test]
fn white_space_is_kept_clean() {
    let found = about("a.toml", "a = 1 \nb\t= 2\nc = 3\r\nd = 4");
    let places: Vec<&str> = found.iter().filter_map(|text| text.split(' ').next()).collect();
    assert_eq!(places, ["a.toml:1:", "a.toml:2:", "a.toml:3:", "a.toml:4:"]);
    assert_eq!(about("a.snap", "a \t"), [""; 0]);
}

#[test]
fn work_left_for_later_is_found_as_a_word() {
    let word = LATER_WORD;
    assert_eq!(about("a.py", &format!("# {word}: later\n# {word}S are fine\n")).len(), 1);
}

const LATER_WORD: &str = concat!("TO", "DO");

#[test]
fn long_files_are_found() {
    let lines = "//\n".repeat(text::MOST_LINES);
    assert_eq!(about("a.rs", &lines), [""; 0]);
    assert_eq!(
        about("a.rs", &(lines + "//\n")),
        ["a.rs:451: expected at most 450 lines, saw 451; split the file: one idea each"]
    );
}

#[test]
fn a_file_of_any_size_is_not_read() {
    let root = tempfile::tempdir().unwrap();
    std::fs::File::create(root.path().join("huge.txt")).unwrap().set_len(17 << 20).unwrap();
    let problem = files::below(root.path()).unwrap_err().to_string();
    assert!(problem.contains("huge.txt") && problem.contains("at most 16777216 bytes"), "{problem}");
}

#[test]
fn unfinished_macros_are_found_in_code_only() {
    let code = "fn a() {\n    let b = \"todo!()\"; // todo!()\n    todo!()\n}\n";
    assert_eq!(about("a.rs", code), ["a.rs:3: expected finished work, saw todo!; finish it"]);
}

#[test]
fn the_client_cannot_panic_outside_of_its_tests() {
    let code = "/// a.unwrap()\nfn a() { b.unwrap_or(1); c.unwrap(); }\n#[cfg(test)]\nmod tests { fn d() { e.expect(\"\"); } }\n\
                #[cfg(test)]\nuse a::b;\nfn f() { g\n.expect(\"h\"); unreachable!() }\n";
    let places = |path: &str| -> Vec<String> {
        about(path, code).iter().filter_map(|text| text.split(' ').next().map(str::to_owned)).collect()
    };
    let client = "harness/client/src/a.rs";
    assert_eq!(places(client), [format!("{client}:2:"), format!("{client}:8:"), format!("{client}:8:")]);
    assert_eq!(places("harness/client/src/a/tests.rs"), [""; 0]);
    assert_eq!(places("harness/assay/src/a.rs"), [""; 0]);
}

#[test]
fn the_client_does_not_know_the_harness() {
    let path = "harness/client/Cargo.toml";
    let found = about(
        path,
        "[dependencies]\nbytes = \"1\"\n[dev-dependencies]\nassay = { package = \"mcp-assay\" }\n",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("Cargo.toml:4: ") && found[0].contains("mcp-assay in dev-dependencies"),
        "{found:?}"
    );
    assert_eq!(about(path, "[dependencies]\nmcp-assay-x = \"1\"\n"), [""; 0]);
}

#[test]
fn locks_name_public_registries_only() {
    let lock = |host: &str| format!("      \"resolved\": \"https://{host}/a/-/a-1.tgz\",\n");
    assert_eq!(about("x/package-lock.json", &lock("registry.npmjs.org")), [""; 0]);
    assert_eq!(about("x/package-lock.json", &lock("mirror.example")).len(), 1);
    assert_eq!(about("x/requirements.txt", "--index-url https://mirror.example/simple\n").len(), 1);
}

#[test]
fn nothing_turns_the_mutants_on() {
    let found = |text: &str| about("harness/assay/Cargo.toml", text);
    assert_eq!(found("[features]\nmutants = [\"mcp-assay-client/mutants\"]\n"), [""; 0]);
    for text in [
        "[features]\ndefault = [\"mutants\"]\n",
        "[features]\nfull = [\"mcp-assay-client/mutants\"]\n",
        "[dependencies]\nmcp-assay-client = { path = \"../client\", features = [\"mutants\"] }\n",
        "[workspace.dependencies.mcp-assay]\npath = \"x\"\nfeatures = [\"mutants\"]\n",
        "[target.'cfg(unix)'.dev-dependencies]\nx = { version = \"1\", features = [\"a\", \"mutants\"] }\n",
    ] {
        let told = found(text);
        assert_eq!(told.len(), 1, "{text}: {told:?}");
        assert!(told[0].contains("expected no manifest that turns the feature `mutants` on"), "{told:?}");
    }
}

#[test]
fn commands_in_documentation_exist() {
    let text = "`cargo xtask explain CASE…` and `cargo xtask exlpain`\n```console\n$ cargo xtask conformance --filter 'a b' # x\n\
                $ cargo xtask frobnicate\n```\n";
    let found = about("README.md", text);
    assert_eq!(
        found,
        [
            "README.md:1: expected a command that exists, saw Some(\"exlpain\"); correct the documentation",
            "README.md:4: expected a command that exists, saw Some(\"frobnicate\"); correct the documentation",
        ]
    );
}

#[test]
fn case_files_name_their_schema() {
    let path = "fixtures/cases/sse/bom.toml";
    assert_eq!(about(path, "#:schema ../../schema/case.schema.json\ntitle = \"a\"\n"), [""; 0]);
    assert_eq!(about(path, "title = \"a\"\n").len(), 1);
    assert_eq!(about("profiles/a.toml", "#:schema ../fixtures/schema/profile.schema.json\n"), [""; 0]);
}

#[test]
fn cases_of_splits_cut_at_each_place_or_say_why_not() {
    let told = |area: &str, head: &str, plans: &str| {
        let text = format!(
            "{head}title = \"a\"\nrevisions = [\"2025-06-18\"]\n[vary]\nslice = [{plans}]\n\
             [[peer]]\non = \"tools/call\"\nbody = [{{ result = \"a\" }}]\nslice = \"$slice\"\n"
        );
        let id = format!("{area}/a").parse().unwrap();
        let mut broken = Vec::new();
        cases::splits(&CaseFile::parse(id, "a.toml", &text).unwrap(), &mut broken);
        broken.iter().map(|problem| problem.seen.clone()).collect::<Vec<_>>()
    };
    let reason = format!("{}it is long\n", cases::NO_EACH_CUT);
    assert_eq!(told("splits", "", r#""whole", "each-cut""#), [""; 0]);
    assert_eq!(told("splits", "", r#""whole", "every-2""#), ["no key with it"]);
    assert_eq!(told("splits", &reason, r#""whole", "every-2""#), [""; 0]);
    assert_eq!(told("splits", &reason, r#""whole", "each-cut""#), ["each cut, and a reason to have none"]);
    assert_eq!(told("sse", "", r#""whole""#), [""; 0]);
}

#[test]
fn a_clause_without_a_check_says_why_and_every_profile_and_program_loads() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let found = || {
        let mut findings = Findings::default();
        cases::catalogue(root.path(), &mut findings);
        let seen = |problem: &Problem| format!("{}: {}", problem.place, problem.seen);
        let broken: Vec<String> = findings.broken.iter().map(seen).collect();
        let sources: Vec<String> =
            findings.sources.iter().map(|error| error.path().display().to_string()).collect();
        (broken, sources)
    };
    let clause = "[[clause]]\nid = 'a.b'\nrevisions = ['2025-06-18']\nlevel = 'must'\nbasis = 'spec'\n\
                  text = 'It is so.'\nsource = 'there'\n";
    write("fixtures/clauses/a.toml", clause);
    for folder in ["fixtures/cases", "profiles"] {
        std::fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    assert_eq!(found(), (vec!["fixtures/clauses/a.toml: none for a.b".to_owned()], vec![]));
    write("fixtures/clauses/a.toml", &format!("{clause}unchecked = 'nobody sees it'\n"));
    assert_eq!(found(), (vec![], vec![]));
    write("profiles/p.toml", "name = 'p'\n");
    write("fixtures/drivers/d/driver.toml", "name = 'd'\n");
    write("fixtures/servers/servers.toml", "minimum = 3\n");
    let sources = found().1;
    for file in ["servers.toml", "driver.toml", "p.toml"] {
        assert!(sources.iter().any(|path| path.ends_with(file)), "{file}: {sources:?}");
    }
}

#[test]
fn large_claims_are_notes_and_huge_ones_findings() {
    let file = |fault: &str, size: usize| File {
        path: format!("receipts/accepted/exagent/sse/{fault}.json"),
        text: "x".repeat(size),
    };
    let mut findings = Findings::default();
    claims::check(&[file("fair", 4 << 10), file("large", 5 << 10), file("huge", 13 << 10)], &mut findings);
    let places = |problems: &[Problem]| problems.iter().map(|p| p.place.clone()).collect::<Vec<_>>();
    assert_eq!(places(&findings.notes), ["receipts/accepted/exagent/sse/large.json"]);
    assert_eq!(places(&findings.broken), ["receipts/accepted/exagent/sse/huge.json"]);
}

#[test]
fn the_repository_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    // What a command is, the command line knows: `cargo xtask tidy` asks it.
    let findings = check(root, false, &|_| Ok(())).unwrap();
    let broken: Vec<String> = findings.broken.iter().map(ToString::to_string).collect();
    assert_eq!(broken, [""; 0]);
    assert!(findings.sources.is_empty(), "{:?}", findings.sources);
}
