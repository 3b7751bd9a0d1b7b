//! The tables, and what becomes of a mutant that nobody notices.

use super::lawful::{Lawful, PATH as LAWFUL};
use super::stage::Stage;
use super::table::{Change, Known, PATH, Table, checked};
use super::trial::{Client, Court};
use super::watchdog::Watchdog;
use crate::catalogue::Catalogue;
use crate::driver::builtin::BuiltinClient;
use crate::mutants::report::TrialReport;
use crate::profile::ProfileFile;
use crate::receipt::catalog::Texts;
use crate::run::variant::Setup;
use crate::run::{Choice, DEFAULT_SEED, units};
use crate::sdk::fleet::Fleet;
use crate::select::Size;
use crate::source::SourceError;
use crate::variant::Wire;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of an enum's members, as the tables write them: the client lists them only where they can be broken.
fn names(source: &str) -> BTreeSet<String> {
    let (_, list) = source.split_once("s! {\n").expect("a list of members");
    let members = list.lines().filter_map(|line| line.split_once(" = \"")).map(|(name, _)| name.trim());
    let kebab = |name: &str| {
        let mut text = String::new();
        for c in name.chars() {
            if c.is_ascii_uppercase() && !text.is_empty() {
                text.push('-');
            }
            text.push(c.to_ascii_lowercase());
        }
        text
    };
    members.map(kebab).collect()
}

/// All that the tables can name: rules from the client's source, ids from the cases.
fn known() -> Known {
    let catalogue = Catalogue::load(&root()).expect("the catalogue");
    Known { rules: names(include_str!("../../../client/src/rule.rs")), ids: checked(&catalogue) }
}

fn told(errors: &[SourceError]) -> String {
    errors.iter().map(|error| format!("{error} ({})\n", error.help().unwrap_or_default())).collect()
}

/// Each rule and each side of each limit has a mutant; names and ids exist; reasons are there.
#[test]
fn the_table_of_mutants_is_whole() {
    let table = Table::load(&root(), &known()).map_err(|errors| told(&errors)).expect("a sound table");
    assert!(table.mutant.len() >= 60, "{}", table.mutant.len());
}

#[test]
fn the_table_of_lawful_variations_is_whole() {
    let habits = names(include_str!("../../../client/src/habit.rs"));
    let table = Lawful::load(&root(), &habits).map_err(|errors| told(&errors)).expect("a sound table");
    assert!(table.variation.len() >= 12, "{}", table.variation.len());
}

fn refused(text: &str, expected: &str) {
    let known = Known { rules: ["a-rule".to_owned()].into(), ids: ["sse.x.y".to_owned()].into() };
    let told = told(&Table::parse(text, &known).expect_err("a table with a mistake"));
    assert!(told.contains(expected), "{text}\n{told}");
}

#[test]
fn mistakes_in_the_table_are_told_with_their_place() {
    let rule = "[[mutant]]\nrule = \"a-rule\"\nbreaks = [\"sse.x.y\"]\n";
    refused("[[mutant]]\nrul = \"a-rule\"\n", "fixtures/mutants.toml:2:1: unknown field `rul`");
    refused("[[mutant]]\nbreaks = [\"sse.x.y\"]\n", ":2:11: expected a rule, or a limit with its side");
    refused(
        "[[mutant]]\nrule = \"a-rul\"\nbreaks = []\n",
        ":2:8: the client has no such rule (did you mean `a-rule`?)",
    );
    refused("[[mutant]]\nrule = \"a-rule\"\nbreaks = []\n", ":2:8: a mutant that breaks nothing");
    refused(
        "[[mutant]]\nrule = \"a-rule\"\nbreaks = [\"sse.x\"]\n",
        ":3:11: no check is tied to such a clause or row",
    );
    refused(
        "[[mutant]]\nlimit = \"max_tool\"\nside = \"less\"\nbreaks = [\"sse.x.y\"]\n",
        "did you mean `max_tools`?",
    );
    refused("[[mutant]]\nlimit = \"max_tools\"\nside = \"up\"\nbreaks = []\n", ":3:8: unknown variant `up`");
    refused(&format!("{rule}{rule}"), ":5:8: this mutant stands here twice");
    refused("", "there is no mutant a-rule");
    refused(rule, "there is no mutant max_tools-more");
    refused("[[untripped]]\nids = [\"sse.x.y\"]\nreason = \" \"\n", ":3:10: untripped without a reason");
    refused("[[untripped]]\nids = [\"sse.x.z\"]\nreason = \"r\"\n", "did you mean `sse.x.y`?");
}

#[test]
fn mistakes_in_the_table_of_habits_are_told() {
    let habits: BTreeSet<String> = ["a-habit".to_owned()].into();
    let entry = |habit: &str, why: &str| {
        format!("[[variation]]\nhabit = \"{habit}\"\nwhy = \"{why}\"\nsource = \"s\"\n")
    };
    let refused = |text: &str| told(&Lawful::parse(text, &habits).expect_err("a table with a mistake"));
    assert!(refused(&entry("a-habi", "w")).contains("did you mean `a-habit`?"));
    assert!(
        refused(&entry("a-habit", "")).contains(&format!("{LAWFUL}:2:9: a variation without why and source"))
    );
    assert!(refused("variation = []").contains("there is no variation a-habit"));
}

/// A client that takes every change and does nothing: each of its mutants is equivalent.
struct Unmoved;

impl Client for Unmoved {
    fn marker(&self) -> &'static str {
        ""
    }

    fn rules(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn habits(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn change(&self, _: Option<Change<'_>>) -> bool {
        true
    }
}

#[test]
fn a_mutant_that_nobody_notices_is_reported_and_smoke_is_asked_first() {
    let root = root();
    let catalogue = Catalogue::load(&root).expect("the catalogue");
    let profile = ProfileFile::open(&root, "exagent", &catalogue).expect("the profile");
    let texts = Texts::load(&root).expect("texts");
    let fleet = Fleet::of(&root, &profile.profile).expect("no servers");
    let client = BuiltinClient::named("exagent").expect("the client");
    let setup =
        Setup { client: &client, clauses: &catalogue.clauses, seed: DEFAULT_SEED, deadline_scale: 1.0 };
    let mut choice = Choice::all(2);
    (choice.wire, choice.size) = (Some(Wire::Memory), Some(Size::Sample));
    choice.filters = vec!["sse/bom-twice".parse().expect("a filter")];
    let watchdog = Watchdog::start();
    let units = units(&catalogue, &texts, &fleet, &profile.profile, &choice);
    let stage = Stage::set(units, setup, 2, &watchdog).expect("a stage");
    assert!(stage.ids().contains_key("EX-SSE-24"));
    let table: Table = crate::source::parse_toml(
        PATH,
        "[[mutant]]\nrule = \"mark-only-first\"\nbreaks = [\"EX-SSE-24\"]\n\
         [[untripped]]\nids = [\"sse.parse.bom\"]\nreason = \"only one mutant is tried\"\n",
    )
    .expect("a table");
    let checked = checked(&catalogue);
    let court = |smoke: &dyn Fn() -> Result<(), String>| {
        let (stage, checked, watchdog) = (&stage, &checked, &watchdog);
        Court { stage, checked, client: &Unmoved, smoke, watchdog, heard: &|_| {} }.try_all(&table, None)
    };
    let trial = court(&|| Ok(()));
    assert_eq!(trial.survivors(), ["mark-only-first"]);
    assert!(!trial.is_clean());
    assert_eq!(
        trial.tried[0].to_string(),
        "SURVIVED  mark-only-first: no check noticed that it breaks EX-SSE-24"
    );
    // One that is played here, and one whose checks are elsewhere.
    for id in ["EX-SSE-24", "EX-IO-01"] {
        let told = format!("no mutant trips {id}: ");
        assert!(trial.mislisted.iter().any(|line| line.starts_with(&told)), "{:?}", trial.mislisted);
    }
    assert!(!trial.mislisted.iter().any(|line| line.contains("sse.parse.bom")), "{:?}", trial.mislisted);
    let report = serde_json::to_value(TrialReport::from(&trial)).expect("JSON");
    assert_eq!(report["mutants"], 1);
    assert_eq!(report["killed"], 0);
    assert_eq!(report["survivors"], serde_json::json!(["mark-only-first"]));
    assert_eq!(report["tripped"], 0);

    let trial = court(&|| Err("it says nothing".to_owned()));
    assert_eq!(trial.survivors(), ["mark-only-first"]);
    assert_eq!(trial.tried[0].to_string(), "DEFECT    mark-only-first: it does not count: it says nothing");
    assert!(stage.play_anew().trips.is_empty());
}
