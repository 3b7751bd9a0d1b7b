//! Whether a program speaks the driver protocol: who it is, what it says to a verb that nobody has heard of, whether
//! it can hold one polite dialogue, and how it ends.

use super::process::{Caps, Launch, ProcessClient};
use super::protocol::Hello;
use super::{ClientUnderTest, Way};
use crate::catalogue::Catalogue;
use crate::clauses::Clauses;
use crate::judge::VERBS;
use crate::process::shown;
use crate::receipt::catalog::Texts;
use crate::receipt::observation::ProcessRecord;
use crate::receipt::run::Identity;
use crate::returned::Returned;
use crate::revision::Revision;
use crate::run::DEFAULT_SEED;
use crate::run::smoke::{self, unheard_verb};
use crate::run::variant::Setup;
use mcp_assay_client::Limits;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::timeout;

/// How long an unheard-of verb may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the driver said; none where it did not get that far.
    pub hello: Option<Hello>,
    /// What is wrong, one line each.
    pub problems: Vec<String>,
}

/// Checks the program of a command. It is started twice: to hear who it is, and for everything else.
///
/// # Errors
/// In words: the system gives no runtime or port, which says nothing about the driver.
pub fn check(command: &[OsString], catalogue: &Catalogue, texts: &Texts) -> Result<Checked, String> {
    let name = command.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let launch = Launch {
        name,
        runtime: String::new(),
        command: command.to_vec(),
        caps: Caps::default(),
        stop: Arc::default(),
    };
    let client = match ProcessClient::open(launch, Identity::unpinned("", ""), true) {
        Ok(client) => client,
        Err(problem) => return Ok(Checked { hello: None, problems: vec![problem] }),
    };
    let hello = client.hello();
    let mut problems = of_hello(hello, &catalogue.clauses);
    let Some(sitting) = client.sit() else { return Err("expected a client with a process".to_owned()) };
    problems.extend(unheard(&*sitting)?);
    let spoken: Vec<Revision> = hello.revisions.iter().filter_map(|revision| revision.parse().ok()).collect();
    let setup =
        Setup { client: &*sitting, clauses: &catalogue.clauses, seed: DEFAULT_SEED, deadline_scale: 1.0 };
    let impolite = smoke::polite(catalogue, texts, &spoken, &setup);
    let ended: Vec<String> = sitting.leave().iter().filter_map(of_its_end).collect();
    // One cause, one line: what broke the driver is told by its end, where that shows.
    let kept = impolite.into_iter().filter(|impolite| !impolite.driver_broke || ended.is_empty());
    problems.extend(kept.map(|impolite| impolite.line));
    problems.extend(ended);
    let mut told = BTreeSet::new();
    problems.retain(|problem| told.insert(problem.clone()));
    Ok(Checked { hello: Some(hello.clone()), problems })
}

/// What hello should say and does not.
fn of_hello(hello: &Hello, clauses: &Clauses) -> Vec<String> {
    let mut problems = Vec::new();
    let texts = [
        ("name", &hello.name),
        ("version", &hello.version),
        ("language", &hello.language),
        ("runtime", &hello.runtime),
    ];
    let empty = texts.into_iter().filter(|(_, text)| text.trim().is_empty());
    problems.extend(
        empty.map(|(member, _)| {
            format!("hello: expected the member {member:?} to say something, it is empty")
        }),
    );
    if !hello.issues.starts_with("https://") {
        problems.push(format!(
            "hello: expected in \"issues\" an address that begins with https://, saw \"{}\"",
            shown(hello.issues.as_bytes())
        ));
    }
    if !hello.revisions.iter().any(|revision| revision.parse::<Revision>().is_ok()) {
        let known: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
        problems.push(format!(
            "hello: expected in \"revisions\" one of {}, saw {}",
            known.join(", "),
            listed(&hello.revisions)
        ));
    }
    for needed in ["connect", "list_tools", "call_tool"] {
        if !hello.verbs.iter().any(|verb| verb == needed) {
            problems.push(format!("hello: expected {needed:?} in \"verbs\", saw {}", listed(&hello.verbs)));
        }
    }
    let unknown: Vec<&String> = hello.verbs.iter().filter(|verb| !VERBS.contains(&verb.as_str())).collect();
    if !unknown.is_empty() {
        let (known, saw) = (VERBS.join(", "), listed(&unknown));
        problems.push(format!("hello: expected in \"verbs\" only {known}, saw {saw}"));
    }
    let unknown: Vec<&String> =
        hello.limits.iter().filter(|limit| !Limits::NAMES.contains(&limit.as_str())).collect();
    if !unknown.is_empty() {
        let (known, saw) = (Limits::NAMES.join(", "), listed(&unknown));
        problems.push(format!("hello: expected in \"limits\" only {known}, saw {saw}"));
    }
    if let Some(policy) = hello.policy.as_ref().filter(|policy| clauses.policy(policy).is_none()) {
        let known: Vec<&str> = clauses.policies().map(|rows| rows.policy()).collect();
        problems.push(format!(
            "hello: expected in \"policy\" one of {}, or none, saw \"{}\"",
            known.join(", "),
            shown(policy.as_bytes())
        ));
    }
    problems
}

/// The first of what a driver listed, and how many more there are.
fn listed<T: AsRef<str>>(texts: &[T]) -> String {
    const SHOWN: usize = 10;
    if texts.is_empty() {
        return "none".to_owned();
    }
    let first = texts.iter().take(SHOWN).map(|text| format!("\"{}\"", shown(text.as_ref().as_bytes())));
    let first: Vec<String> = first.collect();
    match texts.len().saturating_sub(SHOWN) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// What it says to a verb that nobody has heard of, and then to the end of a variant in which nothing was connected.
fn unheard(client: &dyn ClientUnderTest) -> Result<Option<String>, String> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| format!("expected a runtime: {e}"))?;
    let answer = runtime.block_on(async {
        let driver = client.driver(Way::Tcp);
        let answer = timeout(PATIENCE, driver.perform("a", "unheard", unheard_verb())).await;
        // What it does wrong is told by its end.
        let _told = driver.end().await;
        answer
    });
    let saw = match answer {
        Ok(Returned::Unsupported { .. }) => return Ok(None),
        Ok(Returned::Ok { .. }) => "ok".to_owned(),
        Ok(Returned::Error { kind, message, .. }) => format!("the error {kind}: {message}"),
        Err(_) => format!("nothing within {} s", PATIENCE.as_secs()),
    };
    Ok(Some(format!("a verb that nobody has heard of: expected the reply unsupported, saw {saw}")))
}

/// What was wrong with how the process ended.
fn of_its_end(record: &ProcessRecord) -> Option<String> {
    if let Some(fault) = &record.fault {
        return Some(fault.clone());
    }
    let ended = format!("saw {}{}", record.ended, if record.killed { " after it was told to" } else { "" });
    (record.killed || record.ended != "exit 0").then(|| {
        format!("the end of stdin: expected exit 0 within {} s, {ended}", Caps::default().leave.as_secs())
    })
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn a_long_list_is_told_by_its_beginning() {
        let many: Vec<String> = (0..400_000).map(|at| format!("verb-{at}\u{202e}")).collect();
        let told = listed(&many);
        assert!(
            told.starts_with("\"verb-0\\u{202e}\", \"verb-1") && told.ends_with(" and 399990 more"),
            "{told}"
        );
        assert_eq!(listed(&["a", "b"]), "\"a\", \"b\"");
        assert_eq!(listed::<&str>(&[]), "none");
    }
}
