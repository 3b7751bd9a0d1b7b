//! Performs a case's steps with a driver, and says when a variant is over.

use crate::case::Case;
use crate::case::step::{Connect as ConnectStep, NamedStep, Step};
use crate::driver::{Connect, Driver, Verb};
use crate::judge::Moment;
use crate::judge::index::Index;
use crate::timeline::{EventKind, Recorder};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};

/// What steps are performed with.
pub struct Stage<'a> {
    /// The case.
    pub case: &'a Case,
    /// The peer's endpoint.
    pub url: &'a str,
    /// The revision the dialogue speaks.
    pub revision: &'a str,
    /// The limits the client is given.
    pub limits: &'a BTreeMap<String, u64>,
    /// The client under test.
    pub driver: Arc<dyn Driver>,
    /// What the peer offers to steps.
    pub peer: &'a dyn Backstage,
    /// The timeline.
    pub recorder: &'a Recorder,
    /// How long one step may take on the variant's clock.
    pub deadline: Duration,
}

/// What steps do to the peer, out of band.
pub trait Backstage {
    /// Lets go of a hold.
    fn release(&self, name: &str);

    /// Calls an admin route of an SDK server. Nothing else has any.
    fn admin(&self, route: &str) -> std::pin::Pin<Box<dyn Future<Output = Result<(), String>> + '_>>;
}

/// The least time that a step has on the variant's clock, in milliseconds.
pub(super) const STEP_MS: u64 = 10_000;

/// How long a step may take on the variant's clock: 10 s, or ten times the longest time limit the case sets
/// itself.
#[must_use]
pub fn deadline(case: &Case, limits: &BTreeMap<String, u64>) -> Duration {
    let own = case
        .step
        .iter()
        .filter_map(|step| step.timeout_ms.or_else(|| step.linger.as_ref().map(|l| l.ms)))
        .chain(["timeout", "control_timeout"].iter().filter_map(|name| limits.get(*name).copied()))
        .max()
        .unwrap_or(0);
    Duration::from_millis(own.saturating_mul(10).max(STEP_MS))
}

/// Performs all steps in order. A step that does not settle within its deadline ends the performance: what it left
/// open stands in the timeline as a step without an end.
pub async fn perform(stage: &Stage<'_>) {
    let mut started: HashMap<String, JoinHandle<()>> = HashMap::new();
    let limit = stage.deadline;
    if stage.case.measures_memory() {
        take_memory(&*stage.driver, stage.recorder);
    }
    for NamedStep { name, step } in stage.case.named_steps() {
        // The loader has refused what names no moment.
        if let Some(after) = step.after.as_ref().and_then(|after| after.parse::<Moment>().ok())
            && timeout_at(Instant::now() + limit, reached(stage, &after)).await.is_err()
        {
            break;
        }
        let until = Instant::now() + limit;
        if let Some(joined) = &step.join {
            if let Some(task) = started.remove(joined)
                && timeout_at(until, task).await.is_err()
            {
                break;
            }
            continue;
        }
        let client = step.client.as_deref().unwrap_or("a").to_owned();
        if stage.case.measures_since(&name) {
            take_memory(&*stage.driver, stage.recorder);
        }
        if begin_backstage(stage, &name, &client, &step).await {
            continue;
        }
        let Some(verb) = verb(stage, &name, &step) else { continue };
        stage.recorder.push(EventKind::StepBegan {
            step: name.clone(),
            verb: verb.name(),
            client: client.clone(),
        });
        let pending = stage.driver.perform(&client, &name, verb);
        let (recorder, step_name) = (stage.recorder.clone(), name.clone());
        let task = tokio::spawn(async move {
            let returned = pending.await;
            recorder.push(EventKind::StepEnded { step: step_name, returned });
        });
        if step.start {
            started.insert(name, task);
            if timeout_at(until, stage.driver.begun()).await.is_err() {
                break;
            }
        } else if timeout_at(until, task).await.is_err() {
            break;
        }
    }
    let until = Instant::now() + limit;
    for (_, task) in started {
        // A step that nothing joined still gets its time to settle.
        let _unsettled = timeout_at(until, task).await;
    }
}

/// Records how much memory the client's process takes.
pub(super) fn take_memory(driver: &dyn Driver, recorder: &Recorder) {
    recorder.push(EventKind::Memory(driver.memory()));
}

/// Steps that are about the peer or the clock, not the client.
async fn begin_backstage(stage: &Stage<'_>, name: &str, client: &str, step: &Step) -> bool {
    let began = |verb: &'static str| {
        stage.recorder.push(EventKind::StepBegan { step: name.to_owned(), verb, client: client.to_owned() });
    };
    if let Some(hold) = &step.release {
        began("release");
        stage.peer.release(hold);
    } else if let Some(linger) = &step.linger {
        began("linger");
        sleep(Duration::from_millis(linger.ms)).await;
    } else if let Some(route) = &step.admin {
        began("admin");
        if let Err(problem) = stage.peer.admin(route).await {
            stage.recorder.push(EventKind::HarnessError { problem });
        }
    } else {
        return false;
    }
    stage.recorder.push(EventKind::StepEnded {
        step: name.to_owned(),
        returned: crate::returned::Returned::Ok { text: None, tools: None },
    });
    true
}

fn verb(stage: &Stage<'_>, name: &str, step: &Step) -> Option<Verb> {
    if let Some(connect) = &step.connect {
        return Some(Verb::Connect(Box::new(connect_with(stage, connect))));
    }
    if step.list {
        return Some(Verb::ListTools);
    }
    if let Some(tool) = &step.call {
        return Some(Verb::CallTool {
            tool: tool.clone(),
            arguments: step.arguments(name),
            timeout: step.timeout_ms.map(Duration::from_millis),
        });
    }
    if let Some(cancelled) = &step.cancel {
        return Some(Verb::Cancel { step: cancelled.clone() });
    }
    match (step.reconnect, step.close, step.kill) {
        (true, ..) => Some(Verb::Reconnect),
        (_, true, _) => Some(Verb::Close),
        (.., true) => Some(Verb::Kill),
        _ => None,
    }
}

fn connect_with(stage: &Stage<'_>, connect: &ConnectStep) -> Connect {
    let host = stage.url.split('/').nth(2).unwrap_or_default();
    Connect {
        url: connect.url.as_ref().map_or_else(|| stage.url.to_owned(), |url| fill(url, host, connect.pad_to)),
        headers: connect.headers.clone(),
        protocol_version: connect.protocol_version.clone().unwrap_or_else(|| stage.revision.to_owned()),
        limits: stage.limits.clone(),
    }
}

/// A case's URL with the peer's host, padded to `pad_to` bytes if it is shorter.
fn fill(url: &str, host: &str, pad_to: Option<u32>) -> String {
    let url = url.replace("{{host}}", host);
    let have = url.len().saturating_sub(PAD.len());
    let missing = pad_to.map_or(0, |len| (len as usize).saturating_sub(have));
    url.replacen(PAD, &"x".repeat(missing), 1)
}

/// Where a URL takes its padding.
const PAD: &str = "{{pad}}";

/// Waits for what a step's `after` names.
async fn reached(stage: &Stage<'_>, after: &Moment) {
    loop {
        let (len, reached) = stage.recorder.look(|timeline| {
            let index = Index::new(stage.case, timeline);
            // What a broken driver should have brought about never comes.
            after.place(&index).is_some() || index.driver_broke.is_some() || stage.recorder.is_full()
        });
        if reached {
            return;
        }
        stage.recorder.grown_past(len).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_brought_to_its_length_whatever_the_host() {
        for host in ["127.0.0.1:9", "127.0.0.1:65535"] {
            let url = fill("http://{{host}}/{{pad}}?q", host, Some(100));
            assert_eq!((url.len(), url.ends_with("x?q")), (100, true));
            assert!(url.starts_with(&format!("http://{host}/x")));
        }
        assert_eq!(fill("http://{{host}}/mcp", "h:1", None), "http://h:1/mcp");
        assert_eq!(fill("http://{{host}}/{{pad}}", "h:1", Some(3)), "http://h:1/");
    }
}
