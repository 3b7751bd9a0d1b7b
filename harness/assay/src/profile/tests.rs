use super::*;
use crate::catalogue::Catalogue;
use crate::source::SourceError;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const PROFILE: &str = r#"name      = "mine"
title     = "One client"
client    = { builtin = "exagent" }
revisions = ["2025-06-18"]
cases     = ["suffix/*", "sse/*"]
exclude   = [{ cases = "sse/eol", reason = "covered elsewhere" }]

[wires]
memory = ["*"]
tcp    = ["suffix"]

[requires]
variants     = 4
each_cut_max = 0.5
suffix       = 2

[tiers.smoke]
seconds = 30
cases   = ["suffix/*"]
size    = "sample"
wire    = "tcp"

[pace]
tcp = 100

[[deviation]]
case     = "suffix/any"
check    = "delivered"
revision = "2025-06-18"
variants = "*;slice=each-cut@17;*"
fails    = "some"
row      = "EX-SSE-01"
reason   = "known"
issue    = "https://example.org/1"

[[expect]]
outcome  = "unexercised"
case     = "suffix/*"
check    = "deliv*"
revision = "2025-06-18"
reason   = "never sent"
"#;

const CASE: &str = r#"title     = "A suffix"
revisions = ["2025-06-18", "2025-11-25"]
[vary]
slice = ["whole", "each-cut"]
[[peer]]
on    = "tools/list"
body  = [{ result_json = { tools = [] } }]
slice = "$slice"
[[step]]
list = true
[[check]]
id     = "delivered"
clause = "sse.eol"
result = { of = "step-1" }
"#;

const SERVERS: &str = "[[server]]\nname = 'ts1'\npackage = 'p'\nversion = '1.0.0'\nruntime = 'node'\nminimum = '20'\n\
    dir = 'ts1'\nstart = ['{runtime}', '{mode}']\n[[server.mode]]\nname = 'stateful-sse'\n\
    eras = [{ revisions = ['2025-06-18'], session = true, answers = 'sse' }]\n";

fn root() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("fixtures/cases/suffix/any.toml", CASE),
        ("fixtures/cases/sse/eol.toml", CASE),
        ("fixtures/cases/other/one.toml", CASE),
        (
            "fixtures/cases/polite/2025-06-18.toml",
            "title = 'Polite'\nrevisions = ['2025-06-18']\n[[peer]]\non = 'ping'\n",
        ),
        (
            "fixtures/clauses/sse.toml",
            "[[clause]]\nid = 'sse.eol'\nrevisions = ['2025-06-18']\nlevel = 'must'\nbasis = 'whatwg'\n\
             text = 'Lines end.'\nsource = 'WHATWG HTML'\n",
        ),
        (
            "fixtures/clauses/rows-exagent.toml",
            "[[section]]\nprefix = 'EX-SSE'\ntitle = 'Streams'\n\n[[row]]\nid = 'EX-SSE-01'\npolicy = 'exagent'\n\
             title = 'Lines end'\nclient = 'ok'\nevidence = 'T'\n",
        ),
        ("fixtures/servers/servers.toml", SERVERS),
        ("profiles/mine.toml", PROFILE),
        ("profiles/notes.md", "no profile"),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn rendered(errors: &[SourceError]) -> String {
    errors.iter().map(SourceError::rendered).collect()
}

#[test]
fn the_projects_own_profiles_load() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let catalogue = Catalogue::load(root).unwrap();
    for name in ProfileFile::names(root).unwrap() {
        ProfileFile::open(root, &name, &catalogue).unwrap_or_else(|errors| panic!("{}", rendered(&errors)));
    }
}

#[test]
fn a_profile_opens_by_name_and_by_path() {
    let root = root();
    let catalogue = Catalogue::load(root.path()).unwrap();
    let by_name = ProfileFile::open(root.path(), "mine", &catalogue).unwrap();
    let path = root.path().join("profiles/mine.toml");
    let by_path = ProfileFile::open(Path::new("elsewhere"), path.to_str().unwrap(), &catalogue).unwrap();
    assert_eq!(by_name.profile, by_path.profile);
    assert_eq!(by_name.digest, by_path.digest);
    assert_eq!((by_name.named.as_str(), by_path.named.as_str()), ("mine", path.to_str().unwrap()));
    let profile = by_name.profile;
    let taken = |id: &str| profile.takes(&id.parse().unwrap());
    assert!(taken("suffix/any") && !taken("sse/eol") && !taken("other/one"));
    assert_eq!(profile.excluded(&"sse/eol".parse().unwrap()), Some("covered elsewhere"));
    assert_eq!(profile.wires.of("suffix"), [Wire::Memory, Wire::Tcp]);
    assert_eq!(profile.wires.of("sse"), [Wire::Memory]);
    assert_eq!(profile.requires.families["suffix"], 2);
    let smoke = profile.tiers.get(Tier::Smoke).unwrap();
    assert_eq!((smoke.seconds.get(), smoke.size, smoke.wire), (30, Some(Size::Sample), Some(Wire::Tcp)));
    assert!(profile.tiers.has(Tier::Full) && !profile.tiers.has(Tier::Pr));
    let error = ProfileFile::open(root.path(), "mien", &catalogue).unwrap_err();
    assert_eq!(rendered(&error).lines().filter(|line| line.contains("did you mean `mine`?")).count(), 1);
}

#[test]
fn deviations_and_expectations_cover_what_they_name() {
    let root = root();
    let catalogue = Catalogue::load(root.path()).unwrap();
    let profile = ProfileFile::open(root.path(), "mine", &catalogue).unwrap().profile;
    let case: CaseId = "suffix/any".parse().unwrap();
    let variant = |revision, cut: &str| Variant {
        revision,
        server: None,
        keys: vec![("slice".to_owned(), cut.to_owned())],
        wire: Wire::Tcp,
    };
    let deviation = &profile.deviation[0];
    assert!(deviation.covers(&case, "delivered", &variant(Revision::V20250618, "each-cut@17")));
    assert!(!deviation.covers(&case, "delivered", &variant(Revision::V20250618, "each-cut@18")));
    assert!(!deviation.covers(&case, "delivered", &variant(Revision::V20251125, "each-cut@17")));
    assert!(!deviation.covers(&case, "other", &variant(Revision::V20250618, "each-cut@17")));
    let expect = &profile.expect[0];
    assert!(expect.covers(&case, "delivered", Revision::V20250618, Outcome::Unexercised));
    assert!(!expect.covers(&case, "delivered", Revision::V20250618, Outcome::Unsupported));
    assert!(!expect.covers(&case, "delivered", Revision::V20251125, Outcome::Unexercised));
}

#[test]
fn mistakes_point_at_the_line() {
    let edits = [
        ("title  ", "titel  "),
        ("\"mine\"", "\"yours\""),
        ("\"exagent\"", "\"exagnet\""),
        ("{ builtin = \"exagent\" }", "\"exagent\""),
        ("[\"2025-06-18\"]", "[\"2025-11-25\"]"),
        ("\"suffix/*\", \"sse/*\"", "\"suffix/*\", \"sse/[\""),
        ("\"suffix/*\", \"sse/*\"", "\"sufix/*\", \"sse/*\""),
        (", reason = \"covered elsewhere\"", ""),
        ("\"covered elsewhere\"", "\"\""),
        ("cases = \"sse/eol\"", "cases = \"other/*\""),
        ("[\"suffix\"]", "[\"sufix\"]"),
        ("variants     = 4", "variants     = \"many\""),
        ("each_cut_max = 0.5", "each_cut_max = 50"),
        ("suffix       = 2", "sufix        = 2"),
        ("[tiers.smoke]", "[tiers.nightly]"),
        ("[tiers.smoke]", "[tiers.full]"),
        ("seconds = 30", "seconds = 0"),
        ("[\"suffix/*\"]\nsize", "[\"suffix/*\", \"sufix/*\"]\nsize"),
        ("[\"suffix/*\"]\nsize", "[\"sse/eol\"]\nsize"),
        ("[\"suffix/*\"]\nsize", "[]\nsize"),
        ("\"sample\"", "\"small\""),
        ("memory = [\"*\"]\ntcp    = [\"suffix\"]", "memory = [\"*\"]\ntcp    = [\"sse\"]"),
        ("tcp = 100", "tcp = 0"),
        ("\"suffix/any\"", "\"suffix/amy\""),
        ("\"suffix/any\"", "\"other/one\""),
        ("\"delivered\"", "\"delivred\""),
        ("revision = \"2025-06-18\"", "revision = \"2025-11-25\""),
        ("\"*;slice=each-cut@17;*\"", "\"*;slice=each-cat@17;*\""),
        ("\"*;slice=each-cut@17;*\"", "\"[@]\""),
        ("\"*;slice=each-cut@17;*\"", "\"*;slice=each-cut@{17,18;*\""),
        ("\"some\"", "\"most\""),
        ("reason   = \"known\"\n", "reason   = \"\u{200b}\u{3164}\u{2060}\"\n"),
        (
            "[[expect]]",
            "[[deviation]]\ncase = \"suffix/any\"\ncheck = \"delivered\"\nrevision = \"2025-06-18\"\n\
             variants = \"*;slice=each-cut@17;*\"\nreason = \"again\"\n[[expect]]",
        ),
        ("\"EX-SSE-01\"", "\"EX-SSE-02\""),
        ("reason   = \"known\"\n", ""),
        ("\"https://example.org/1\"", "\"example.org/1\""),
        ("\"unexercised\"", "\"fail\""),
        ("case     = \"suffix/*\"", "case     = \"sse/*\""),
        ("\"deliv*\"", "\"result-*\""),
        ("reason   = \"never sent\"\n", ""),
    ];
    let root = root();
    let catalogue = Catalogue::load(root.path()).unwrap();
    let mut all = String::new();
    for (from, to) in edits {
        assert!(PROFILE.contains(from), "{from} must be there to be replaced");
        let text = PROFILE.replacen(from, to, 1);
        let errors = match ProfileFile::parse(Path::new("profiles/mine.toml"), &text) {
            Ok(file) => file.validate(root.path(), &catalogue),
            Err(error) => vec![error],
        };
        assert!(!errors.is_empty(), "nothing is said about {to:?} in place of {from:?}");
        writeln!(all, "# {from:?} -> {to:?}\n{}", rendered(&errors)).unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn patterns_of_cuts_are_known_by_what_stands_around_the_cut() {
    let root = root();
    let catalogue = Catalogue::load(root.path()).unwrap();
    for pattern in
        ["*@*", "*;slice=each-cut@[1-9];wire=tcp", "*;slice={each-cut@17,whole};*", "*each-cut@1,2;wire*"]
    {
        let text = PROFILE.replacen("*;slice=each-cut@17;*", pattern, 1);
        let file = ProfileFile::parse(Path::new("profiles/mine.toml"), &text).unwrap();
        assert_eq!(rendered(&file.validate(root.path(), &catalogue)), "", "{pattern}");
    }
}

#[test]
fn every_profile_of_the_project_has_each_tier() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let catalogue = Catalogue::load(root).unwrap();
    for name in ProfileFile::names(root).unwrap() {
        let profile = ProfileFile::open(root, &name, &catalogue).unwrap().profile;
        for (tier, most) in [(Tier::Smoke, 30), (Tier::Pr, 300)] {
            let seconds = profile.tiers.get(tier).map(|part| part.seconds.get());
            assert_eq!(seconds, Some(most), "{name} {tier}");
        }
    }
}

#[test]
fn a_list_of_a_profile_has_an_end() {
    let patterns = vec!["\"suffix/*\""; 1_001].join(", ");
    let text = PROFILE.replacen("[\"suffix/*\"]\nsize", &format!("[{patterns}]\nsize"), 1);
    let error = ProfileFile::parse(Path::new("profiles/mine.toml"), &text).unwrap_err();
    assert_eq!(error.message(), "1001 entries of `tiers` where 1000 are allowed");
    let text = PROFILE.replacen("\"suffix/*\"", &patterns, 1);
    let error = ProfileFile::parse(Path::new("profiles/mine.toml"), &text).unwrap_err();
    assert_eq!(error.message(), "1002 entries of `cases` where 1000 are allowed");
}

#[test]
fn servers_and_the_variants_on_them_are_those_there_are() {
    let root = root();
    let catalogue = Catalogue::load(root.path()).unwrap();
    let errors = |servers: &str, pattern: &str| {
        let peer = format!("peer = {{ servers = [{servers}] }}\n[wires]");
        let text = PROFILE.replacen("[wires]", &peer, 1).replacen("*;slice=each-cut@17;*", pattern, 1);
        // The only case of the tier is none for servers.
        let text = text.replacen("[tiers.smoke]\nseconds = 30\ncases   = [\"suffix/*\"]\nsize    = \"sample\"\nwire    = \"tcp\"\n", "", 1);
        rendered(
            &ProfileFile::parse(Path::new("profiles/mine.toml"), &text)
                .unwrap()
                .validate(root.path(), &catalogue),
        )
    };
    assert_eq!(errors("'ts1-stateful-sse'", "*;server=ts1-*;slice=each-cut@17;*"), "");
    let all = [
        errors("'ts1-stateful-sse', 'ts1-statefull-sse'", "*"),
        errors("", "*;wire=tcp"),
        errors("'ts1-stateful-sse'", "*;server=ts2-*"),
        errors("'ts1-stateful-sse'", "*;wire=memory"),
    ];
    insta::assert_snapshot!(all.concat());
    fs::remove_file(root.path().join("fixtures/servers/servers.toml")).unwrap();
    assert!(errors("'ts1-stateful-sse'", "*").contains("fixtures/servers/servers.toml"));
}

const DRIVER: &str = "name = 'ts'\npackage = 'p'\nversion = '1.0.0'\nruntime = 'node'\nminimum = '20'\n\
    start = ['{runtime}', '{dir}/driver.mjs']\n";

/// A profile beside `mine`.
fn other(text: &str) -> String {
    format!(
        "name = 'other'\ntitle = 'Other'\nrevisions = ['2025-06-18']\ncases = ['suffix/*']\n{text}\n\
         [wires]\nmemory = []\ntcp = ['*']\n"
    )
}

#[test]
fn clients_in_processes_are_named_by_policy_or_driver() {
    let root = root();
    let driver = root.path().join("fixtures/drivers/ts/driver.toml");
    fs::create_dir_all(driver.parent().unwrap()).unwrap();
    fs::write(driver, DRIVER).unwrap();
    let catalogue = Catalogue::load(root.path()).unwrap();
    let open = |text: &str| {
        fs::write(root.path().join("profiles/other.toml"), text).unwrap();
        ProfileFile::open(root.path(), "other", &catalogue).map(|file| file.profile)
    };
    let process = open(&other("client = { process = 'exagent' }")).unwrap();
    assert_eq!(process.client.policy(), Some("exagent"));
    let driven = open(&other("client = { driver = 'ts' }")).unwrap();
    assert_eq!(driven.client.policy(), None);
    for (text, told) in [
        (other("client = { process = 'exagnet' }"), "there is no policy `exagnet`"),
        (other("client = { driver = 'tz' }"), "there is no driver `tz`"),
        (
            other("client = { driver = 'ts' }").replace("memory = []", "memory = ['*']"),
            "a client in another process cannot be reached in memory",
        ),
        (other("client = { driver = 'ts' }\ndeviations_of = 'mien'"), "there is no other profile `mien`"),
        (other("client = { driver = 'ts' }\ndeviations_of = 'other'"), "there is no other profile `other`"),
    ] {
        let problem = rendered(&open(&text).unwrap_err());
        assert!(problem.contains(told), "{problem}");
    }
}

#[test]
fn deviations_are_taken_over_so_far_as_they_speak_of_what_runs() {
    let root = root();
    let catalogue = Catalogue::load(root.path()).unwrap();
    let open = |text: &str| {
        fs::write(root.path().join("profiles/other.toml"), text).unwrap();
        ProfileFile::open(root.path(), "other", &catalogue).unwrap().profile
    };
    let text = other("client = { process = 'exagent' }\ndeviations_of = 'mine'");
    let mine = ProfileFile::open(root.path(), "mine", &catalogue).unwrap().profile;
    assert_eq!(open(&text).deviation, mine.deviation);
    assert!(open(&text.replace("['suffix/*']", "['sse/*']")).deviation.is_empty());
}
