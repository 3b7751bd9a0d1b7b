//! A driver's process as it sits for one case.

use super::Shared;
use super::link::{Answer, Link};
use crate::driver::protocol::{Reply, Request};
use crate::driver::{ClientUnderTest, Driver, Ending, Pending, Sitting, Verb, Waiting, Way};
use crate::judge::Offers;
use crate::process::shown;
use crate::receipt::observation::ProcessRecord;
use crate::receipt::run::Identity;
use crate::returned::{BROKEN, Returned};
use crate::timeline::Taken;
use crate::variant::Wire;
use std::collections::HashMap;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Keeps a process up between variants, and starts a fresh one where the last one broke, or was measured: what a
/// process grew by in one variant it has at hand in the next.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    client: Arc<Shared>,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    link: Option<Arc<Link>>,
    ended: Vec<ProcessRecord>,
}

impl Seat {
    pub(super) fn take(client: &Arc<Shared>) -> Self {
        Self { client: client.clone(), held: Arc::default() }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process that is up, or a fresh one.
    fn link(&self) -> Result<Arc<Link>, String> {
        let mut held = self.held();
        if let Some(link) = held.link.take() {
            if link.fault().is_none() && !link.was_measured() {
                held.link = Some(link.clone());
                return Ok(link);
            }
            held.end(&link);
        }
        let link = self.client.start(&mut held.ended)?;
        Ok(held.link.insert(Arc::new(link)).clone())
    }
}

impl ClientUnderTest for Seat {
    fn name(&self) -> &str {
        &self.client.hello.name
    }

    fn version(&self) -> &str {
        &self.client.hello.version
    }

    fn policy(&self) -> Option<&str> {
        self.client.hello.policy.as_deref()
    }

    fn offers(&self) -> &Offers {
        &self.client.offers
    }

    fn driver(&self, way: Way) -> Arc<dyn Driver> {
        let link = match way {
            Way::Tcp => self.link(),
            Way::Memory(_) => Err("a client in another process has no memory wire".to_owned()),
        };
        Arc::new(Sat { seat: self.clone(), link, steps: Mutex::default() })
    }

    fn home_wire(&self) -> Wire {
        Wire::Tcp
    }

    fn is_foreign(&self) -> bool {
        self.client.foreign
    }

    fn identity(&self) -> Identity {
        self.client.identity.clone()
    }
}

impl Sitting for Seat {
    fn leave(self: Box<Self>) -> Vec<ProcessRecord> {
        let mut held = self.held();
        if let Some(link) = held.link.take() {
            held.end(&link);
        }
        std::mem::take(&mut held.ended)
    }
}

/// The driver of one variant: verbs become requests.
struct Sat {
    seat: Seat,
    /// The process, or why there is none.
    link: Result<Arc<Link>, String>,
    /// The number of each step's request.
    steps: Mutex<HashMap<String, u64>>,
}

impl Sat {
    /// Sends a verb; what its reply will be heard by.
    fn ask(&self, client: &str, step: &str, verb: Verb) -> Result<(Arc<Link>, Heard), String> {
        let link = self.link.as_ref().map_err(Clone::clone)?;
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let of = match &verb {
            // Nobody was ever asked for a step without a number; 0 is the number of no request.
            Verb::Cancel { step } => Some(steps.get(step).copied().unwrap_or(0)),
            _ => None,
        };
        let (told, heard) = oneshot::channel();
        let seq =
            link.ask(|seq| Request::of_verb(seq, client, verb, &self.seat.client.offers, of), tell(told))?;
        steps.insert(step.to_owned(), seq);
        Ok((link.clone(), heard))
    }
}

type Heard = oneshot::Receiver<Result<Vec<u8>, String>>;

impl Driver for Sat {
    fn perform(&self, client: &str, step: &str, verb: Verb) -> Pending {
        match self.ask(client, step, verb) {
            Ok((link, heard)) => Box::pin(async move {
                match reply(&link, heard).await {
                    Ok(reply) => reply.returned(),
                    Err(fault) => Returned::broken(fault),
                }
            }),
            Err(fault) => Box::pin(ready(Returned::broken(fault))),
        }
    }

    fn begun(&self) -> Waiting<'_> {
        // Drivers take one line after the other, so what was asked before hello has begun once hello is answered.
        Box::pin(async {
            let Ok(link) = &self.link else { return };
            let (told, heard) = oneshot::channel();
            if link.ask(|seq| Ok(Request::plain(seq, "hello")), tell(told)).is_ok() {
                let _hello = heard.await;
            }
        })
    }

    fn memory(&self) -> Option<Taken> {
        self.link.as_ref().ok()?.memory()
    }

    fn end(&self) -> Ending<'_> {
        Box::pin(async {
            // Without a process each verb has told so.
            let Ok(link) = &self.link else { return Ok(()) };
            if let Some(fault) = link.fault() {
                return Err(fault);
            }
            if link.waiting() > 0 {
                // Its steps have no end, which is judged; a fresh process serves the next variant.
                let _told = link.breaks(
                    "expected all verbs answered by the end of the variant, saw none for some".to_owned(),
                );
                return Ok(());
            }
            let (told, heard) = oneshot::channel();
            link.ask(|seq| Ok(Request::plain(seq, "end")), tell(told))?;
            let at_most = self.seat.client.launch.caps.end;
            let saw = match timeout(at_most, reply(link, heard)).await {
                Ok(Ok(Reply::Ok { .. })) => return Ok(()),
                Ok(Err(fault)) => return Err(fault),
                Ok(Ok(Reply::Error { kind, message, .. })) => format!("the error {kind}: {message}"),
                Ok(Ok(Reply::Unsupported { message, .. })) => format!("unsupported: {message}"),
                Err(_) => "nothing".to_owned(),
            };
            Err(link.breaks(format!(
                "expected ok to end within {} s, saw {}",
                at_most.as_secs_f64(),
                shown(saw.as_bytes())
            )))
        })
    }
}

/// Lets a reply be heard, whoever still listens.
fn tell(told: oneshot::Sender<Result<Vec<u8>, String>>) -> Answer {
    Box::new(move |reply| {
        let _gone = told.send(reply);
    })
}

/// The reply to a request, once it is there; or what the driver did in its place.
async fn reply(link: &Link, heard: Heard) -> Result<Reply, String> {
    let line = heard.await.map_err(|_| "its process was given up".to_owned())??;
    let problem = match serde_json::from_slice::<Reply>(&line) {
        Ok(Reply::Error { kind, .. }) if kind == BROKEN => {
            format!("the kind {BROKEN:?} is the harness's own")
        }
        Ok(reply) => return Ok(reply),
        Err(problem) => shown(problem.to_string().as_bytes()),
    };
    Err(link.breaks(format!("expected a reply as the protocol has it: {problem}, saw {}", shown(&line))))
}

impl Held {
    fn end(&mut self, link: &Link) {
        self.ended.push(link.stop());
    }
}
