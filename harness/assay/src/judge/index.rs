//! What a timeline holds, arranged for questions: steps, requests, replies, closes and holds, each with its place.

use super::assign;
use crate::case::reply::{Item, Rule, Then};
use crate::case::step::NamedStep;
use crate::case::{Case, TapRule};
use crate::returned::{DRIVER_END, Returned};
use crate::timeline::{Event, EventKind, Reply, Request, Side, Taken};
use std::collections::BTreeMap;

/// A place in a timeline: its index decides order, its time only lower bounds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Place {
    /// Index in the timeline.
    pub(crate) index: usize,
    /// Microseconds of the variant's clock.
    pub(crate) at_us: u64,
}

/// A step of the case, and what became of it.
#[derive(Debug)]
pub(crate) struct StepRecord<'a> {
    pub(crate) name: String,
    pub(crate) verb: &'static str,
    pub(crate) named: NamedStep<'a>,
    pub(crate) began: Option<Place>,
    /// Its end before teardown.
    pub(crate) ended: Option<(Place, &'a Returned)>,
    /// Its own requests, as indices into [`Index::requests`]: those the verb stands for, retries behind the first.
    pub(crate) requests: Vec<usize>,
    /// The arguments of a call, where they are JSON.
    pub(crate) arguments: Option<serde_json::Value>,
}

/// A request the peer read before teardown.
#[derive(Debug)]
pub(crate) struct RequestRecord<'a> {
    pub(crate) place: Place,
    pub(crate) request: &'a Request,
    /// Which of the requests on its method it is, from 1.
    pub(crate) nth: u32,
    /// The step it belongs to, as an index into [`Index::steps`], and in which role.
    pub(crate) owner: Option<(usize, Role)>,
}

/// Why a request belongs to a step. The order is that of the exchange digest.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Role {
    /// The verb stands for it.
    Own,
    /// A standing stream (GET) of the connection the step made.
    Stream,
    /// The client's answer to a request of the server in the step's reply.
    Answer,
    /// The cancellation of the step's request.
    Cancellation,
}

/// A reply, and where its writing ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyRecord<'a> {
    pub(crate) place: Place,
    pub(crate) reply: &'a Reply,
    pub(crate) before_teardown: bool,
}

/// The end of a connection before teardown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CloseRecord {
    pub(crate) place: Place,
    pub(crate) by: Side,
}

/// A hold of the peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldRecord<'a> {
    pub(crate) place: Place,
    pub(crate) name: &'a str,
    pub(crate) request: u32,
    pub(crate) released: Option<Place>,
}

/// A timeline arranged for questions. Everything in it lies before teardown unless said.
#[derive(Debug)]
pub(crate) struct Index<'a> {
    pub(crate) case: &'a Case,
    pub(crate) steps: Vec<StepRecord<'a>>,
    pub(crate) requests: Vec<RequestRecord<'a>>,
    pub(crate) replies: BTreeMap<u32, ReplyRecord<'a>>,
    pub(crate) closes: BTreeMap<u32, CloseRecord>,
    pub(crate) holds: Vec<HoldRecord<'a>>,
    /// Whether the recording reaches teardown. Without it, absence shows nothing.
    pub(crate) whole: bool,
    /// What went wrong in the harness, anywhere in the timeline.
    pub(crate) harness_error: Option<&'a str>,
    /// The first step whose driver broke.
    pub(crate) driver_broke: Option<&'a str>,
    /// How much memory the client's process took, each time it was asked, if that could be told.
    pub(crate) memory: Vec<(Place, Option<Taken>)>,
    /// What an SDK server's journal says, as it was read last.
    pub(crate) witness: Option<&'a serde_json::Value>,
    counters: Counters<'a>,
}

/// What is counted while a timeline is arranged, so that each event costs the same however many came before it.
#[derive(Debug, Default)]
struct Counters<'a> {
    /// Requests so far, by what they are on.
    seen: BTreeMap<&'a str, u32>,
    /// Steps by name.
    steps: BTreeMap<String, usize>,
    /// Holds not let go of, by name, as indices into [`Index::holds`].
    open: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Index<'a> {
    /// Arranges a timeline. Total: whatever does not fit is left aside.
    pub(crate) fn new(case: &'a Case, timeline: &'a [Event]) -> Self {
        let mut index = Self {
            case,
            steps: case.named_steps().into_iter().map(StepRecord::planned).collect(),
            requests: Vec::new(),
            replies: BTreeMap::new(),
            closes: BTreeMap::new(),
            holds: Vec::new(),
            whole: false,
            harness_error: None,
            driver_broke: None,
            memory: Vec::new(),
            witness: None,
            counters: Counters::default(),
        };
        for (at, step) in index.steps.iter().enumerate() {
            index.counters.steps.entry(step.name.clone()).or_insert(at);
        }
        for (at, event) in timeline.iter().enumerate() {
            index.add(Place { index: at, at_us: event.at_us }, &event.kind);
        }
        assign::owners(&mut index);
        index
    }

    fn add(&mut self, place: Place, event: &'a EventKind) {
        match event {
            EventKind::Teardown => self.whole = true,
            EventKind::HarnessError { problem } => {
                self.harness_error.get_or_insert(problem);
            }
            EventKind::Replied(reply) => {
                let record = ReplyRecord { place, reply, before_teardown: !self.whole };
                // An interim record may come before the one that tells how the reply ended.
                let kept = self.replies.entry(reply.request).or_insert(record);
                if !kept.reply.complete {
                    *kept = record;
                }
            }
            // A driver that broke behind the last step may have told anything before. A step without an answer at
            // teardown is another matter: that is judged.
            EventKind::StepEnded { step, returned }
                if step == DRIVER_END && returned.problem_of_driver().is_some() =>
            {
                self.driver_broke.get_or_insert(step);
            }
            _ if self.whole => {}
            EventKind::Memory(taken) => self.memory.push((place, *taken)),
            EventKind::Witness { journal } => self.witness = Some(journal),
            EventKind::StepBegan { step, .. } => {
                if let Some(step) = self.step_mut(step) {
                    step.began.get_or_insert(place);
                }
            }
            EventKind::StepEnded { step, returned } => {
                if returned.problem_of_driver().is_some() {
                    self.driver_broke.get_or_insert(step);
                }
                if let Some(step) = self.step_mut(step) {
                    step.ended.get_or_insert((place, returned));
                }
            }
            EventKind::Request(request) => {
                let seen = self.counters.seen.entry(request.on()).or_default();
                *seen = seen.saturating_add(1);
                self.requests.push(RequestRecord { place, request, nth: *seen, owner: None });
            }
            EventKind::Held { name, request } => {
                self.counters.open.entry(name).or_default().push(self.holds.len());
                self.holds.push(HoldRecord { place, name, request: *request, released: None });
            }
            EventKind::Released { name } => {
                for at in self.counters.open.remove(name.as_str()).unwrap_or_default() {
                    if let Some(hold) = self.holds.get_mut(at) {
                        hold.released = Some(place);
                    }
                }
            }
            EventKind::Closed { conn, by, .. } => {
                self.closes.entry(*conn).or_insert(CloseRecord { place, by: *by });
            }
            _ => {}
        }
    }

    /// The step with this name; for a step that joins another one, the one it joins.
    pub(crate) fn step(&self, name: &str) -> Option<&StepRecord<'a>> {
        let named = |name: &str| self.steps.get(*self.counters.steps.get(name)?);
        let step = named(name)?;
        match &step.named.step.join {
            Some(joined) if step.began.is_none() => named(joined),
            _ => Some(step),
        }
    }

    fn step_mut(&mut self, name: &str) -> Option<&mut StepRecord<'a>> {
        self.steps.get_mut(*self.counters.steps.get(name)?)
    }

    /// The request a step stands for: its first own one; of a reconnect, which may end the old session first, the
    /// handshake.
    pub(crate) fn request_of(&self, step: &str) -> Option<&RequestRecord<'a>> {
        let own = || {
            self.step(step)
                .into_iter()
                .flat_map(|step| &step.requests)
                .filter_map(|at| self.requests.get(*at))
        };
        own().find(|record| record.request.on() != "DELETE").or_else(|| own().next())
    }

    /// The request that a check names: a step's, or `ON#n`, or the first on `ON`.
    pub(crate) fn named_request(&self, name: &str) -> Option<&RequestRecord<'a>> {
        if self.step(name).is_some() {
            return self.request_of(name);
        }
        let (on, nth) = split_nth(name);
        self.requests.iter().filter(|r| r.request.is_on(on)).nth(nth - 1)
    }

    /// The rule of the case that answers a request; none where the polite peer or the default does.
    pub(crate) fn rule_of(&self, request: &Request) -> Option<&'a Rule> {
        self.case.peer.get(self.rule_number(request)?).map(|rule| &**rule)
    }

    /// The number of that rule.
    pub(crate) fn rule_number(&self, request: &Request) -> Option<usize> {
        request.rule.strip_prefix("case:")?.parse().ok()
    }

    /// The rule of the case by which the tap changes the answer to a request.
    pub(crate) fn tap_of(&self, request: &Request) -> Option<&'a TapRule> {
        let number = request.rule.strip_prefix("tap:")?;
        self.case.tap.get(number.parse::<usize>().ok()?)
    }

    /// Whether the peer leaves a request's connection open after the reply's bytes.
    pub(crate) fn stays_open(&self, request: &Request) -> bool {
        let rule = self.rule_of(request).is_some_and(|rule| matches!(rule.then, Then::Hold | Then::Drip));
        rule || self.tap_of(request).is_some_and(TapRule::stays_open)
    }

    /// All session ids in the order the client first used them.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &'a str> {
        self.requests.iter().flat_map(|r| r.request.header("mcp-session-id"))
    }
}

impl<'a> StepRecord<'a> {
    fn planned(named: NamedStep<'a>) -> Self {
        let call = named.step.call.is_some();
        Self {
            name: named.name.clone(),
            verb: verb(&named),
            arguments: call.then(|| serde_json::from_str(&named.step.arguments(&named.name)).ok()).flatten(),
            named,
            began: None,
            ended: None,
            requests: Vec::new(),
        }
    }

    /// Whether the step had begun, and not ended, at this place.
    pub(crate) fn runs_at(&self, place: Place) -> bool {
        self.began_by(place) && self.ended.is_none_or(|(end, _)| end > place)
    }

    /// Whether the step had begun at this place.
    pub(crate) fn began_by(&self, place: Place) -> bool {
        self.began.is_some_and(|began| began < place)
    }
}

/// The step's verb as the timeline names it; `await` for a step that only joins another one.
fn verb(named: &NamedStep<'_>) -> &'static str {
    let step = &named.step;
    match () {
        () if step.connect.is_some() => "connect",
        () if step.list => "list_tools",
        () if step.call.is_some() => "call_tool",
        () if step.cancel.is_some() => "cancel",
        () if step.reconnect => "reconnect",
        () if step.close => "close",
        () if step.kill => "kill",
        () if step.join.is_some() => "await",
        () if step.release.is_some() => "release",
        () if step.linger.is_some() => "linger",
        () => "admin",
    }
}

/// Splits `ON#3` into its parts; 1 unless said.
pub(crate) fn split_nth(text: &str) -> (&str, usize) {
    match text.rsplit_once('#').map(|(on, nth)| (on, nth.parse::<usize>())) {
        Some((on, Ok(nth))) if nth > 0 => (on, nth),
        _ => (text, 1),
    }
}

/// All items of a rule, nested ones included, depth first.
pub(crate) fn items(rule: &Rule) -> Vec<&Item> {
    fn walk<'r>(item: &'r Item, out: &mut Vec<&'r Item>) {
        out.push(item);
        item.bytes.iter().for_each(|inner| walk(inner, out));
        item.items.iter().flatten().for_each(|inner| walk(inner, out));
    }
    let mut out = Vec::new();
    for item in [&rule.body, &rule.stream, &rule.wire].into_iter().flatten().flatten() {
        walk(item, &mut out);
    }
    if let Some(drip) = &rule.drip {
        walk(&drip.item, &mut out);
    }
    out
}
