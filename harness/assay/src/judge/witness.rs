//! The kind witness: what an SDK server's own journal says, beside the wire.

use super::finding::Finding;
use super::index::Index;
use crate::case::check::{AnswerForm, WitnessCheck};
use crate::timeline::Request;
use serde_json::Value;
use std::collections::BTreeMap;

/// The servers' tools (see `fixtures/servers`), and whether they have an effect.
const TOOLS: [(&str, bool); 9] = [
    ("add", false),
    ("big", false),
    ("counter_increment", true),
    ("counter_read", false),
    ("echo", false),
    ("fail", false),
    ("image", false),
    ("increment_slow", true),
    ("slow", false),
];

pub(super) fn expected(check: &WitnessCheck) -> String {
    let mut parts = Vec::new();
    if check.agrees {
        parts.push("the server's journal agrees with the wire".to_owned());
    }
    if let Some(effects) = check.effects {
        parts.push(format!("the server had exactly {effects} effects"));
    }
    if let Some(cancelled) = check.cancelled {
        parts.push(format!("the server stopped exactly {cancelled} tools"));
    }
    if let Some(form) = check.answers {
        parts.push(format!("every answer is {}", form.media_type()));
    }
    parts.join("; ")
}

pub(super) fn witness(index: &Index<'_>, check: &WitnessCheck) -> Finding {
    let Some(journal) = index.witness else {
        return Finding::inconclusive("the server's journal was not read".to_owned());
    };
    let Some(journal) = Journal::read(journal) else {
        return Finding::error("the server's journal is not of its documented form".to_owned());
    };
    match problem(index, check, &journal) {
        Some(problem) => Finding::fail(problem),
        None => Finding::pass("so it was".to_owned()),
    }
}

/// Whether a journal that was read may still grow to what is expected.
pub(super) fn lacks(index: &Index<'_>, check: &WitnessCheck) -> bool {
    let journal = index.witness.and_then(Journal::read);
    journal.is_some_and(|journal| problem(index, check, &journal).is_some())
}

fn problem(index: &Index<'_>, check: &WitnessCheck, journal: &Journal<'_>) -> Option<String> {
    let count = |wanted: Option<u64>, seen: usize, what: &str| {
        wanted
            .filter(|wanted| u64::try_from(seen) != Ok(*wanted))
            .map(|_| format!("the server had {seen} {what}"))
    };
    let effects = journal.tools.iter().filter(|tool| tool.effect).count();
    count(check.effects, effects, "effects")
        .or_else(|| count(check.cancelled, journal.cancelled, "tools stopped"))
        .or_else(|| check.answers.and_then(|form| other_form(index, form)))
        .or_else(|| if check.agrees { disagreement(index, journal) } else { None })
}

/// An answer in another form than the server's mode has.
fn other_form(index: &Index<'_>, form: AnswerForm) -> Option<String> {
    let requests = index.requests.iter().map(|record| record.request);
    let messages =
        requests.filter(|request| request.json.as_ref().is_some_and(|json| json.get("id").is_some()));
    messages.filter(|request| request.on() != "reply").find_map(|request| {
        let reply = index.replies.get(&request.number)?;
        let bytes = &reply.reply.bytes;
        if status(bytes) != Some(200) {
            return None;
        }
        let head = bytes.get(..memchr::memmem::find(bytes, b"\r\n\r\n")?)?;
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        let told = head.lines().find_map(|line| line.strip_prefix("content-type:"))?;
        let essence = told.split(';').next().unwrap_or_default().trim();
        (essence != form.media_type()).then(|| format!("{} was answered {essence}", request.on()))
    })
}

/// What is on one side only.
fn disagreement(index: &Index<'_>, journal: &Journal<'_>) -> Option<String> {
    let mut sides: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for record in &index.requests {
        let status = index.replies.get(&record.request.number).and_then(|reply| status(&reply.reply.bytes));
        sides.entry(line(record.request, status)).or_default().0 += 1;
    }
    for entry in &journal.requests {
        sides.entry(entry.clone()).or_default().1 += 1;
    }
    if let Some((line, (wire, server))) = sides.into_iter().find(|(_, (wire, server))| wire != server) {
        return Some(format!("{line}: {wire} on the wire, {server} in the journal"));
    }
    let mut ran = journal.tools.clone();
    for record in index.requests.iter().filter(|record| record.request.on() == "tools/call") {
        let status = index.replies.get(&record.request.number).and_then(|reply| status(&reply.reply.bytes));
        let json = record.request.json.as_ref()?;
        let name = json.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
        let id = json.get("id").unwrap_or(&Value::Null);
        let known = TOOLS.iter().find(|(tool, _)| *tool == name);
        match (ran.iter().position(|tool| tool.name == name && tool.id == id), known) {
            (Some(at), Some((_, effect))) if ran[at].effect == *effect => {
                ran.remove(at);
            }
            (Some(_), _) => return Some(format!("{name} ran with another effect than its name promises")),
            (None, Some(_)) if status == Some(200) => {
                return Some(format!("{name} was answered and did not run"));
            }
            (None, _) => {}
        }
    }
    ran.first().map(|tool| format!("{} ran without a call on the wire", tool.name))
}

/// A request as both witnesses describe it.
fn line(request: &Request, status: Option<u64>) -> String {
    let json = request.json.as_ref();
    let of = |name: &str| json.and_then(|json| json.get(name)).unwrap_or(&Value::Null).to_string();
    describe(&request.method, &of("method"), &of("id"), status)
}

fn describe(method: &str, rpc: &str, id: &str, status: Option<u64>) -> String {
    let status = status.map_or_else(|| "no status".to_owned(), |status| status.to_string());
    format!("{method} {rpc} with id {id} and {status}")
}

/// The status of the final reply's head; interim ones are passed over.
fn status(mut bytes: &[u8]) -> Option<u64> {
    loop {
        let line = bytes.get(..memchr::memchr(b'\n', bytes)?)?;
        let status: u64 = std::str::from_utf8(line.get(9..12)?).ok()?.parse().ok()?;
        if status >= 200 {
            return Some(status);
        }
        bytes = bytes.get(memchr::memmem::find(bytes, b"\r\n\r\n")? + 4..)?;
    }
}

struct Journal<'a> {
    requests: Vec<String>,
    tools: Vec<Ran<'a>>,
    cancelled: usize,
}

#[derive(Clone)]
struct Ran<'a> {
    name: &'a str,
    id: &'a Value,
    effect: bool,
}

impl<'a> Journal<'a> {
    fn read(entries: &'a Value) -> Option<Self> {
        let mut journal = Self { requests: Vec::new(), tools: Vec::new(), cancelled: 0 };
        for entry in entries.as_array()? {
            let text = |name: &str| entry.get(name).and_then(Value::as_str);
            match text("kind")? {
                "http" => {
                    let status = entry.get("status").and_then(Value::as_u64);
                    let of = |name: &str| entry.get(name).unwrap_or(&Value::Null).to_string();
                    journal.requests.push(describe(text("method")?, &of("rpc"), &of("id"), status));
                }
                "tool" => journal.tools.push(Ran {
                    name: text("tool")?,
                    id: entry.get("id")?,
                    effect: entry.get("effect")?.as_bool()?,
                }),
                "cancelled" => journal.cancelled += 1,
                _ => return None,
            }
        }
        Some(journal)
    }
}
