//! `serve`: a case's peer stays up on 127.0.0.1 for any client, until Ctrl-C.

use super::args::Serve;
use super::chosen;
use super::{Context, interrupt};
use crate::case::{Case, Limit};
use crate::catalogue::Catalogue;
use crate::exit::Exit;
use crate::explain::deed;
use crate::judge::finding::line;
use crate::judge::kind::{Kind, steps_of};
use crate::judge::{JudgeInput, Offers, judge};
use crate::peer::{Peer, Script};
use crate::plan::is_open;
use crate::render::live;
use crate::returned::Returned;
use crate::run::DEFAULT_SEED;
use crate::timeline::{Event, EventKind, Recorder};
use crate::variant::{Variant, Wire};
use crate::wire::tcp::TcpSlot;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long the peer may take to let go of its sockets once it is told to stop.
const GOODBYE: Duration = Duration::from_secs(2);

pub(super) fn run(context: &Context, args: &Serve) -> Exit {
    let catalogue = match Catalogue::load(&context.root) {
        Ok(catalogue) => catalogue,
        Err(errors) => return context.show(errors),
    };
    match serve(context, &catalogue, args) {
        Ok(exit) => exit,
        Err(problem) => context.complain(&problem),
    }
}

fn serve(context: &Context, catalogue: &Catalogue, args: &Serve) -> Result<Exit, String> {
    let chosen = chosen::find(catalogue, &args.case, args.revision, &[])?.scripted()?;
    let mut keys = chosen.keys;
    uncut(&mut keys);
    let case = chosen.file.instantiate(&keys).map_err(|error| error.rendered())?;
    let variant = Variant { revision: chosen.revision, server: None, keys, wire: Wire::Tcp };
    // What only a client can measure stays its own; a bound that rests on it is recorded as not carried out.
    let limits: BTreeMap<String, u64> = case
        .limits
        .iter()
        .filter_map(|(name, limit)| match limit {
            Limit::Is(value) => Some((name.clone(), *value)),
            Limit::Measured(_) => None,
        })
        .collect();
    let script = Script {
        case: &case,
        polite: chosen.polite,
        revision: chosen.revision,
        seed: DEFAULT_SEED,
        limits: &limits,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("cannot set up a peer: {e}"))?;
    let interrupted = interrupt::first().map_err(|e| format!("cannot listen for Ctrl-C: {e}"))?;
    let (lines, printed) = channel::<String>();
    // A thread of its own: whoever does not read stderr must not hold up the peer, and with it the client.
    let printing = thread::spawn(move || printed.iter().for_each(|line| tell!("{line}")));
    let timeline = runtime.block_on(async {
        let recorder = Recorder::start();
        let peer = Peer::new(&script, recorder.clone()).map_err(|e| e.to_string())?;
        let mut slot = TcpSlot::bind().map_err(|e| format!("cannot bind a port of 127.0.0.1: {e}"))?;
        let lent = slot.lend(peer).map_err(|e| format!("cannot lend the listener: {e}"))?;
        let _told = context.print(&welcome(chosen.file, &case, &variant, lent.url(), &limits));
        let logging = tokio::spawn(log(recorder.clone(), lines));
        // Its thread lives as long as the process, so the wait ends with the signal.
        let _told = interrupted.await;
        recorder.push(EventKind::Teardown);
        let _at_most_so_long = timeout(GOODBYE, lent.end()).await;
        logging.abort();
        Ok::<_, String>(recorder.snapshot())
    })?;
    runtime.shutdown_background();
    let until = Instant::now() + GOODBYE;
    while !printing.is_finished() && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
    let judged = without_steps(&case);
    let timeline = as_one_step(timeline);
    let input = JudgeInput {
        case: &judged,
        variant: &variant,
        policy: None,
        offers: &Offers::default(),
        clauses: &catalogue.clauses,
        timeline: &timeline,
    };
    Ok(context.print(&verdicts(&case, &input)))
}

/// What a person needs to know before a client connects.
fn welcome(
    file: &crate::case::CaseFile,
    case: &Case,
    variant: &Variant,
    url: &str,
    limits: &BTreeMap<String, u64>,
) -> String {
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(text, "{}: {}", file.id, line(&case.title));
    let _ = writeln!(text, "  variant   {}", line(&variant.to_string()));
    if !limits.is_empty() {
        let limits: Vec<String> = limits.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let _ = writeln!(text, "  limits    {} (set them on the client)", line(&limits.join(", ")));
    }
    let _ = writeln!(text, "  make the client");
    for step in case.named_steps() {
        let _ = writeln!(text, "    {}", line(&deed(&step)));
        if let Some(hold) = &step.step.release {
            let _ = writeln!(text, "      nothing does so here: replies held as `{}` stay held", line(hold));
        }
    }
    let _ = writeln!(text, "serving at {url}, Ctrl-C ends");
    text
}

/// Tells of events as they come.
async fn log(recorder: Recorder, lines: Sender<String>) {
    let mut seen = 0;
    loop {
        let (len, fresh) = recorder.look(|events| events.get(seen..).unwrap_or_default().to_vec());
        for event in &fresh {
            let _gone = lines.send(live(event).trim_end().to_owned());
        }
        seen = len;
        recorder.grown_past(seen).await;
    }
}

/// An open slice plan is served uncut: which cut was meant, nobody said.
fn uncut(keys: &mut [(String, String)]) {
    for (_, value) in keys {
        if is_open(value) {
            "whole".clone_into(value);
        }
    }
}

/// The case with those checks that bind every client and need no step: nobody has told which step a client performs.
fn without_steps(case: &Case) -> Case {
    let mut judged = case.clone();
    judged.check.retain(|check| {
        let given = check.given.as_ref().is_none_or(|given| {
            given.ended.is_none()
                && given.ok.is_none()
                && given.replied.is_none()
                && given.seen.as_ref().is_none_or(|wanted| steps_of(wanted).is_empty())
        });
        check.policy.is_none() && given && Kind::of(check).is_some_and(|kind| kind.steps().is_empty())
    });
    judged.step.clear();
    judged
}

/// A timeline in which all that a client did is the one step that is left, `connect`: it was there, and nobody has
/// told that anything failed. Where no request came, that step never began.
fn as_one_step(timeline: Vec<Event>) -> Vec<Event> {
    let came = timeline.iter().position(|event| matches!(event.kind, EventKind::Request(_)));
    let end = timeline.iter().position(|event| matches!(event.kind, EventKind::Teardown));
    let (Some(came), Some(end)) = (came, end) else { return timeline };
    let at = |index: usize| timeline.get(index).map_or(0, |event| event.at_us);
    let (step, client) = ("connect".to_owned(), "a".to_owned());
    let began = EventKind::StepBegan { step: step.clone(), verb: "connect", client };
    let ended = EventKind::StepEnded { step, returned: Returned::Ok { text: None, tools: None } };
    let (began, ended) = (Event { at_us: at(came), kind: began }, Event { at_us: at(end), kind: ended });
    let mut whole = Vec::with_capacity(timeline.len() + 2);
    for (index, event) in timeline.into_iter().enumerate() {
        if index == came {
            whole.push(began.clone());
        }
        if index == end {
            whole.push(ended.clone());
        }
        whole.push(event);
    }
    whole
}

/// The judge's view of what was seen, as far as there can be one.
fn verdicts(case: &Case, input: &JudgeInput<'_>) -> String {
    let results = judge(input);
    let mut text = "\nThe judge's view of this dialogue\n".to_owned();
    for result in &results {
        let (outcome, id) = (result.outcome.as_str(), line(&result.id));
        let _ = writeln!(
            text,
            "  {outcome:<12} {id}: expected {}; {}",
            line(&result.expected),
            line(&result.actual)
        );
    }
    if results.is_empty() {
        text.push_str("  no check of the case can be judged without a driver\n");
    }
    let left = case.check.len() - results.len();
    if left > 0 {
        let _ = writeln!(
            text,
            "  {left} of {} checks not judged: they bind another variant, clients of one policy, or need the steps of \
             a driver (what the client's API returned)",
            case.check.len()
        );
    }
    text
}
