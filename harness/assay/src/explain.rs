//! A case for people: what it is about, what the peer sends byte by byte, and what is expected of the client.

mod steps;
mod tap;

use crate::case::check::{Check, Given};
use crate::case::{Limit, Measure};
use crate::catalogue::CaseFile;
use crate::clauses::Clauses;
use crate::judge::JudgeInput;
use crate::judge::finding::line;
use crate::judge::index::Index;
use crate::judge::kind::Kind;
use crate::judge::requests::describe_match;
use crate::render::{Detail, dialogue, returned};
use crate::source::escape;
use crate::verdict::{CheckResult, Level};
use std::fmt::{self, Display, Formatter};

pub use steps::deed;

/// A case, shown by one variant of it: `to_string` gives the text.
#[derive(Clone, Copy, Debug)]
pub struct Explained<'a> {
    /// The case.
    pub file: &'a CaseFile,
    /// The variant, and what happened if it ran.
    pub input: JudgeInput<'a>,
    /// What is shown of it beside the case.
    pub shown: Shown<'a>,
}

/// What there is to show of a variant: what came of it, or why it did not run.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    /// It ran against the scripted peer, and the judge says this of it.
    Ran(&'a [CheckResult]),
    /// It did not run, since nobody knows the answers of SDK servers before they come. It fits these.
    OnServers(&'a [String]),
    /// It did not run, since the built-in client does not speak its revision. It speaks these.
    Unspoken(&'a [&'a str]),
}

impl Display for Explained<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { file, input, .. } = self;
        writeln!(f, "{}: {}", file.id, line(&input.case.title))?;
        self.facts(f)?;
        self.sources(f)?;
        writeln!(f, "\nThe client is made to")?;
        for step in input.case.named_steps() {
            writeln!(f, "  {:<12} {}", line(&step.name), line(&deed(&step)))?;
        }
        match self.shown {
            Shown::Ran(_) => self.wire(f)?,
            Shown::OnServers(_) => {
                writeln!(f, "\nWhat the tap does to the server's answers")?;
                f.write_str(&tap::rules(input.case, input.variant.revision))?;
            }
            Shown::Unspoken(spoken) => {
                let (revision, spoken) = (input.variant.revision, spoken.join(", "));
                writeln!(f, "\nThe wire is not shown: the built-in client speaks {spoken}, not {revision}.")?;
                writeln!(f, "`serve {}` keeps the scripted peer up for a client that does.", file.id)?;
            }
        }
        writeln!(f, "\nWhat is expected")?;
        input.case.check.iter().try_for_each(|check| self.check(check, f))
    }
}

impl Explained<'_> {
    /// What went over the wire, and what the client's API returned.
    fn wire(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { input, .. } = self;
        writeln!(f, "\nThe wire, as the built-in client meets it")?;
        f.write_str(&dialogue(input.case, input.timeline, Detail::Sketch))?;
        let index = Index::new(input.case, input.timeline);
        writeln!(f, "What its API returned")?;
        for step in index.steps.iter().filter(|step| step.verb != "await") {
            writeln!(f, "  {}", line(&returned(step)))?;
        }
        Ok(())
    }

    fn facts(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { file, input, .. } = self;
        let revisions: Vec<&str> = file.case.revisions.iter().map(|revision| revision.as_str()).collect();
        writeln!(f, "  file       {}", line(&file.path.to_string_lossy()))?;
        writeln!(f, "  revisions  {}", revisions.join(", "))?;
        for (at, (name, limit)) in input.case.limits.iter().enumerate() {
            writeln!(f, "  {:<10} {} = {}", label(at, "limits"), line(name), limit_text(limit))?;
        }
        for (at, key) in file.keys.iter().enumerate() {
            let names: Vec<&str> = key.names().collect();
            writeln!(f, "  {:<10} {}: {}", label(at, "vary"), line(&key.name), line(&names.join(" ")))?;
        }
        if file.case.timing {
            writeln!(f, "  timing     rests on real waiting: one variant on TCP, alone")?;
        }
        if let Shown::OnServers(servers) = self.shown {
            let none = "none of those there are";
            let fits = if servers.is_empty() { none.to_owned() } else { servers.join(", ") };
            // Our own words, however many: never cut.
            writeln!(f, "  servers    {}", escape(&fits))?;
        }
        writeln!(f, "  shown      {}", line(&input.variant.to_string()))
    }

    /// The clauses and rows that its checks are tied to, each once, in the order of the checks.
    fn sources(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { input, .. } = self;
        let mut seen: Vec<&str> = Vec::new();
        writeln!(f, "\nWhat it rests on")?;
        for check in &input.case.check {
            for id in check.clause.iter().chain(&check.row).chain(&check.rows).map(toml::Spanned::get_ref) {
                if !seen.contains(&id.as_str()) {
                    seen.push(id);
                    source(id, input.clauses, f)?;
                }
            }
        }
        Ok(())
    }

    fn check(&self, check: &Check, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { input, .. } = self;
        let results = match self.shown {
            Shown::Ran(results) => results,
            Shown::OnServers(_) | Shown::Unspoken(_) => &[],
        };
        let id = check.id.get_ref();
        let ties: Vec<&str> = check
            .clause
            .iter()
            .chain(&check.row)
            .chain(&check.rows)
            .map(|id| id.get_ref().as_str())
            .collect();
        let result = results.iter().find(|result| result.id == *id);
        let strength = result.map_or_else(|| own_level(check, input.clauses), |result| result.level);
        let binds = check.policy.as_ref().map_or_else(
            || "every client".to_owned(),
            |policy| format!("clients of the policy {}", line(policy)),
        );
        writeln!(f, "  {} ({}, {binds}; {})", line(id), strength.as_str(), line(&ties.join(", ")))?;
        let expected = Kind::of(check).map(Kind::expected).unwrap_or_default();
        writeln!(f, "    {}", line(&expected))?;
        for condition in conditions(check) {
            writeln!(f, "    {}", line(&condition))?;
        }
        match (result, self.shown) {
            (Some(result), _) => {
                let outcome = result.outcome.as_str();
                writeln!(f, "    the built-in client here: {outcome}, {}", line(&result.actual))
            }
            (None, Shown::Ran(_)) => writeln!(f, "    does not bind the variant shown"),
            (None, Shown::OnServers(_) | Shown::Unspoken(_)) => Ok(()),
        }
    }
}

fn source(id: &str, clauses: &Clauses, f: &mut Formatter<'_>) -> fmt::Result {
    if let Some(clause) = clauses.get(id) {
        writeln!(f, "  {} ({}) {}", line(id), clause.keyword, line(&clause.text))?;
        return writeln!(f, "    {}", line(&clause.source));
    }
    match clauses.row(id) {
        Some(row) => writeln!(f, "  {} (policy {}) {}", line(id), line(&row.policy), line(&row.title)),
        None => writeln!(f, "  {}", line(id)),
    }
}

/// When a check says anything.
fn conditions(check: &Check) -> Vec<String> {
    let mut conditions = Vec::new();
    if let Some(revisions) = &check.revisions {
        let revisions: Vec<&str> = revisions.iter().map(|revision| revision.as_str()).collect();
        conditions.push(format!("only in {}", revisions.join(", ")));
    }
    conditions.extend(
        check.when.iter().map(|(key, values)| format!("only when {key} is {}", values.0.join(" or "))),
    );
    if !check.needs.is_empty() {
        conditions.push(format!("the client must offer {}", check.needs.join(", ")));
    }
    if let Some(Given { ended, ok, seen, replied }) = &check.given {
        conditions.extend(ended.iter().map(|step| format!("given that step `{step}` ended")));
        conditions.extend(ok.iter().map(|step| format!("given that step `{step}` succeeded")));
        conditions
            .extend(seen.iter().map(|wanted| format!("given that {} was sent", describe_match(wanted))));
        conditions
            .extend(replied.iter().map(|step| format!("given that the reply to step `{step}` was sent")));
    }
    conditions
}

fn own_level(check: &Check, clauses: &Clauses) -> Level {
    let clause = check.clause.as_ref().and_then(|id| clauses.get(id.get_ref()));
    check.level.unwrap_or_else(|| clause.map_or(Level::Must, |clause| clause.keyword.level()))
}

fn limit_text(limit: &Limit) -> String {
    match limit {
        Limit::Is(value) => value.to_string(),
        Limit::Measured(measured) => {
            let what = match measured.measure {
                Measure::Request => "the request body",
                Measure::Control => "the answer to the server's request",
                Measure::Head => "the answer's header names and values",
                Measure::Body => "the answer's body",
                Measure::Line => "the answer's longest line",
                Measure::Event => "the answer's longest event",
                Measure::Session => "the answer's session id",
                Measure::Tools => "the answer's list of tools",
                Measure::Depth => "the nesting in the answer's message",
                Measure::Nodes => "the values in the answer's message",
            };
            let size = format!("the size of {what} of step `{}`", line(&measured.of));
            match measured.less {
                0 => format!("{size}, measured first"),
                less => format!("{size} less {less}, measured first"),
            }
        }
    }
}

fn label(at: usize, word: &str) -> &str {
    if at == 0 { word } else { "" }
}
