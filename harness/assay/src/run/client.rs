//! The client that a profile names, opened: the built-in one, or a process that has said hello.

use crate::driver::ClientUnderTest;
use crate::driver::builtin::BuiltinClient;
use crate::driver::process::{Caps, Launch, ProcessClient};
use crate::exit::Exit;
use crate::process::shown;
use crate::profile::{Client, Profile};
use crate::receipt::run::Identity;
use crate::sdk::drivers::Driver;
use std::env;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why a profile's client cannot be had.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unavailable {
    /// The profile asks for something that does not exist.
    #[error("{0}")]
    Unknown(String),
    /// Something is missing on this machine, or the driver is not as it should be.
    #[error("{0}")]
    Missing(String),
}

impl Unavailable {
    /// What it does to the exit.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Unknown(_) => Exit::Usage,
            Self::Missing(_) => Exit::Incomplete,
        }
    }
}

/// Opens the client of a profile. Blocks while a driver is installed, which `tell` hears of before; a process is
/// started once, to hear who it is.
///
/// # Errors
/// There is no such policy or driver; a runtime is missing; the driver does not say hello as it should, or does not
/// speak the profile's revisions.
pub fn open(
    root: &Path,
    profile: &Profile,
    deadline_scale: f64,
    stop: &Arc<AtomicBool>,
    tell: &dyn Fn(&str),
) -> Result<Box<dyn ClientUnderTest>, Unavailable> {
    let caps = Caps::default().scaled(deadline_scale);
    match &profile.client {
        Client::Builtin(policy) => Ok(Box::new(builtin(policy)?)),
        Client::Process(policy) => {
            let client = process(&builtin(policy)?, policy, caps, stop)?;
            speaks(&client, profile)?;
            Ok(Box::new(client))
        }
        Client::Driver(name) => {
            let client = foreign(root, name, caps, stop, tell)?;
            speaks(&client, profile)?;
            Ok(Box::new(client))
        }
    }
}

/// The built-in client under a policy, in this process.
///
/// # Errors
/// It has no such policy.
pub fn builtin(policy: &str) -> Result<BuiltinClient, Unavailable> {
    BuiltinClient::named(policy).ok_or_else(|| {
        let policy = crate::source::escape(policy);
        Unavailable::Unknown(format!("the built-in client has no policy {policy}: expected exagent"))
    })
}

/// The built-in client as a process: this program again, as a driver.
fn process(
    client: &BuiltinClient,
    policy: &str,
    caps: Caps,
    stop: &Arc<AtomicBool>,
) -> Result<ProcessClient, Unavailable> {
    let program = env::current_exe()
        .map_err(|e| Unavailable::Missing(format!("expected to find this program's own file: {e}")))?;
    let words = ["driver", "--policy", policy];
    let mut command = vec![program.into_os_string()];
    command.extend(words.map(Into::into));
    let launch = Launch {
        name: format!("driver {policy}"),
        runtime: "none".to_owned(),
        command,
        caps,
        stop: stop.clone(),
    };
    let words = std::iter::once("mcp-assay").chain(words).map(str::to_owned);
    let identity = Identity { command: words.collect(), ..client.identity() };
    ProcessClient::open(launch, identity, false).map_err(Unavailable::Missing)
}

/// A client of others, behind its driver.
fn foreign(
    root: &Path,
    name: &str,
    caps: Caps,
    stop: &Arc<AtomicBool>,
    tell: &dyn Fn(&str),
) -> Result<ProcessClient, Unavailable> {
    let driver = Driver::load(root, name).map_err(|error| Unavailable::Unknown(error.rendered()))?;
    tell(&format!("driver {name}: {} {}", driver.package, driver.version));
    let placed = driver.install(root).map_err(|problem| Unavailable::Missing(problem.to_string()))?;
    let command = driver.command(&placed);
    let identity = driver.identity(root).map_err(Unavailable::Missing)?;
    let launch =
        Launch { name: format!("driver {name}"), runtime: placed.version, command, caps, stop: stop.clone() };
    let client = ProcessClient::open(launch, identity, true).map_err(Unavailable::Missing)?;
    let hello = client.hello();
    if (&hello.name, &hello.version) != (&driver.package, &driver.version) {
        return Err(Unavailable::Missing(format!(
            "driver {name}: expected the client {} {} of its manifest, saw {} {}",
            driver.package,
            driver.version,
            shown(hello.name.as_bytes()),
            shown(hello.version.as_bytes())
        )));
    }
    Ok(client)
}

/// Whether the client is bound by the profile's policy, and speaks all its revisions.
fn speaks(client: &ProcessClient, profile: &Profile) -> Result<(), Unavailable> {
    let hello = client.hello();
    if hello.policy.as_deref() != profile.client.policy() {
        return Err(Unavailable::Missing(format!(
            "expected a client under {}, its hello says {}",
            profile.client.policy().unwrap_or("no policy"),
            shown(hello.policy.as_deref().unwrap_or("none").as_bytes())
        )));
    }
    let unspoken =
        profile.revisions.iter().find(|revision| !hello.revisions.iter().any(|r| r == revision.as_str()));
    match unspoken {
        Some(revision) => Err(Unavailable::Missing(format!(
            "expected a client that speaks {revision}, its hello names {}",
            shown(hello.revisions.join(", ").as_bytes())
        ))),
        None => Ok(()),
    }
}
