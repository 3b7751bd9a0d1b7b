//! The SDK servers of one profile: found in the list, installed, identified.

use super::install::{InstallError, Installed, install};
use super::manifest::{Manifest, Mode, Server};
use crate::case::Servers;
use crate::digest::Digest;
use crate::profile::{Peer, Profile};
use crate::receipt::run::Identity;
use crate::revision::Revision;
use crate::source::{self, SourceError};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Where the list of servers stands, below the root.
pub(crate) const LIST: &str = "fixtures/servers/servers.toml";

/// The servers of a profile; none for the scripted peer.
#[derive(Debug, Default)]
pub struct Fleet {
    manifest: Option<Manifest>,
    cache: PathBuf,
    /// In the profile's order.
    pub members: Vec<Member>,
}

/// A server in one of its modes.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its id in profiles and variants: `ts1-stateful-sse`.
    pub id: String,
    /// The server.
    pub server: Server,
    /// The mode.
    pub mode: Mode,
}

impl Fleet {
    /// The ids of all servers, each in each of its modes, in the list's order.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn known(root: &Path) -> Result<Vec<String>, SourceError> {
        let text = source::read(root.join(LIST), LIST)?;
        let manifest = Manifest::parse(Path::new(LIST), &text)?;
        Ok(manifest.servers().iter().flat_map(members).map(|member| member.id).collect())
    }

    /// The ids of the servers that a case fits in a revision, in the list's order.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn fitting(root: &Path, servers: &Servers, revision: Revision) -> Result<Vec<String>, SourceError> {
        let text = source::read(root.join(LIST), LIST)?;
        let manifest = Manifest::parse(Path::new(LIST), &text)?;
        let fits =
            |member: &Member| member.mode.era(revision).is_some_and(|era| servers.fit(&member.id, era));
        Ok(manifest.servers().iter().flat_map(members).filter(fits).map(|member| member.id).collect())
    }

    /// Finds the servers that a profile names.
    ///
    /// # Errors
    /// In words: the list cannot be read, or has no such server or mode.
    pub fn of(root: &Path, profile: &Profile) -> Result<Self, String> {
        match &profile.peer {
            Peer::Servers(ids) => Self::named(root, ids),
            Peer::Scripted => Ok(Self::default()),
        }
    }

    /// Finds the servers of these ids.
    ///
    /// # Errors
    /// As [`Fleet::of`].
    pub fn named(root: &Path, ids: &[String]) -> Result<Self, String> {
        let manifest = Manifest::load(&root.join(LIST)).map_err(|error| error.rendered())?;
        let known = || manifest.servers().iter().flat_map(members);
        let members = ids
            .iter()
            .map(|id| {
                known().find(|member| member.id == *id).ok_or_else(|| {
                    let names: Vec<String> = known().map(|member| member.id).collect();
                    format!("there is no server {id:?} in {LIST}: {}", names.join(", "))
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { manifest: Some(manifest), cache: root.join("target/mcp-assay/servers"), members })
    }

    /// Installs what is not there yet, server by server; `tell` hears of each before it begins. Once `stop` is set none
    /// begins any more, and what is not there stays so.
    ///
    /// # Errors
    /// A missing runtime, or what an installer said.
    pub fn install(
        &self,
        tell: &dyn Fn(&str),
        stop: &AtomicBool,
    ) -> Result<BTreeMap<String, Installed>, InstallError> {
        let mut installed = BTreeMap::new();
        let Some(manifest) = &self.manifest else { return Ok(installed) };
        for Member { server, .. } in &self.members {
            let name = server.name.as_str();
            if !installed.contains_key(name) && !stop.load(Ordering::Relaxed) {
                tell(&format!("{name}: {} {}", server.package, server.version));
                installed.insert(name.to_owned(), install(manifest, server, &self.cache)?);
            }
        }
        Ok(installed)
    }

    /// What pins each server, for the manifest of a run.
    ///
    /// # Errors
    /// In words: a lock file cannot be read.
    pub fn identities(&self) -> Result<Vec<Identity>, String> {
        let Some(manifest) = &self.manifest else { return Ok(Vec::new()) };
        let identity = |Member { id, server, mode }: &Member| {
            let path = manifest.directory().join(server.dir.as_str()).join(server.runtime.lock());
            let lock = fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            let command = server.start.fill(
                server.runtime.to_string().as_ref(),
                server.dir.as_str().as_ref(),
                &mode.name,
            );
            Ok(Identity {
                name: format!("{id} ({})", server.package),
                version: server.version.clone(),
                sha256: None,
                lock_sha256: Some(Digest::of(&lock)),
                command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            })
        };
        self.members.iter().map(identity).collect()
    }
}

fn members(server: &Server) -> impl Iterator<Item = Member> + '_ {
    server.modes.iter().map(move |mode| Member {
        id: format!("{}-{}", server.name, mode.name),
        server: server.clone(),
        mode: mode.clone(),
    })
}
