//! `CASE[#VARIANT]`: the case and the one variant of it that a command is about.

use crate::case::{Case, CaseFile};
use crate::catalogue::Catalogue;
use crate::near;
use crate::receipt::catalog::Texts;
use crate::revision::Revision;
use crate::run::unit::{Facing, Unit};
use crate::select::Size;
use crate::source::escape;
use crate::variant::{CaseId, Variant, Wire};
use std::path::Path;

/// What a `CASE[#VARIANT]` stands for.
#[derive(Debug)]
pub(super) enum Found<'a> {
    /// A variant of a case for the scripted peer.
    Scripted(Chosen<'a>),
    /// A variant of a case for SDK servers.
    OnServers(OnServers<'a>),
}

/// Reads `CASE[#VARIANT]`. A variant id may leave parts out: each key's first value, the memory wire where there is a
/// choice, and the newest revision of the case that `spoken` holds stand in for them.
///
/// # Errors
/// What names nothing, with what may have been meant.
pub(super) fn find<'a>(
    catalogue: &'a Catalogue,
    named: &str,
    revision: Option<Revision>,
    spoken: &[&str],
) -> Result<Found<'a>, String> {
    let (case, variant) = named.split_once('#').unwrap_or((named, ""));
    let file = find_case(catalogue, case)?;
    let Named { keys, revision, wire, server } = Named::read(file, variant, revision, spoken)?;
    if file.case.servers.is_some() {
        if wire == Some(Wire::Memory) {
            return Err("SDK servers are on TCP; leave `wire=memory` out".to_owned());
        }
        let variant = Variant { revision, server, keys, wire: Wire::Tcp };
        return Ok(Found::OnServers(OnServers { file, variant }));
    }
    if server.is_some() {
        return Err("cases run against the scripted peer here; leave `server=…` out".to_owned());
    }
    let wire = wire.unwrap_or(Wire::Memory);
    let polite = catalogue
        .polite
        .get(&revision)
        .ok_or_else(|| format!("expected fixtures/cases/polite/{revision}.toml, found no such file"))?;
    Ok(Found::Scripted(Chosen { file, polite, revision, keys, wire }))
}

impl<'a> Found<'a> {
    /// What is for the scripted peer.
    ///
    /// # Errors
    /// It is for SDK servers: says what shows and what runs it.
    pub(super) fn scripted(self) -> Result<Chosen<'a>, String> {
        match self {
            Self::Scripted(chosen) => Ok(chosen),
            Self::OnServers(OnServers { file, .. }) => {
                let id = &file.id;
                Err(format!(
                    "{id} is about SDK servers, so there is no scripted peer that could stay up: `explain {id}` shows \
                     the case, and `conformance --profile NAME --filter {id}` runs it with a profile on such servers \
                     (`profiles` lists them)"
                ))
            }
        }
    }
}

/// One variant of a case. Slice plans may still be open: their first cut is meant.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    /// The case.
    pub(super) file: &'a CaseFile,
    /// The polite peer behind it.
    pub(super) polite: &'a Case,
    /// The revision.
    pub(super) revision: Revision,
    /// The values of the `vary` keys.
    pub(super) keys: Vec<(String, String)>,
    /// The wire.
    pub(super) wire: Wire,
}

impl Chosen<'_> {
    /// The unit of work that this variant belongs to, all of its variants included.
    ///
    /// # Errors
    /// The polite peer has no text.
    pub(super) fn unit<'t>(&'t self, texts: &'t Texts) -> Result<Unit<'t>, String> {
        let text = texts
            .polite
            .get(&self.revision)
            .ok_or_else(|| format!("expected the text of the polite peer of {}", self.revision))?;
        Ok(Unit {
            file: self.file,
            facing: Facing::Scripted { polite: self.polite, text },
            revision: self.revision,
            wire: self.wire,
            size: Size::Full,
            revisions: 1,
            filters: Vec::new(),
        })
    }
}

/// A case for SDK servers, and one variant of it.
#[derive(Debug)]
pub(super) struct OnServers<'a> {
    /// The case.
    pub(super) file: &'a CaseFile,
    /// The variant; it names a server only if the person did.
    pub(super) variant: Variant,
}

/// What a variant id names, and what stands in for what it leaves out.
struct Named {
    keys: Vec<(String, String)>,
    revision: Revision,
    wire: Option<Wire>,
    server: Option<String>,
}

impl Named {
    fn read(
        file: &CaseFile,
        variant: &str,
        revision: Option<Revision>,
        spoken: &[&str],
    ) -> Result<Self, String> {
        let id = &file.id;
        let mut keys: Vec<(String, String)> = file.combinations().next().unwrap_or_default();
        let (mut wanted, mut wire, mut server) = (revision, None, None);
        for part in variant.split(';').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| {
                format!("{:?} is no part of a variant id: expected `key=value`", escape(part))
            })?;
            match name {
                "revision" => {
                    let named: Revision = value.parse().map_err(|e| format!("{e}"))?;
                    if wanted.is_some_and(|wanted| wanted != named) {
                        return Err(format!(
                            "--revision and the variant's revision={named} differ; give one"
                        ));
                    }
                    wanted = Some(named);
                }
                "wire" => {
                    wire = Some(match value {
                        "memory" => Wire::Memory,
                        "tcp" => Wire::Tcp,
                        _ => return Err(format!("no wire {:?}: expected memory or tcp", escape(value))),
                    });
                }
                "server" => server = Some(value.to_owned()),
                name => match keys.iter_mut().find(|(key, _)| key == name) {
                    Some((_, slot)) => value.clone_into(slot),
                    None => {
                        let help = near::help(name, file.keys.iter().map(|key| key.name.as_str()));
                        return Err(format!("{id} has no vary key {:?}: {help}", escape(name)));
                    }
                },
            }
        }
        file.instantiate(&keys).map_err(|error| {
            format!(
                "{id} has no such variant: {}; {}",
                error.message(),
                error.help().unwrap_or("see its [vary]")
            )
        })?;
        let revision = match wanted {
            Some(revision) => revision,
            None => newest(file, spoken).ok_or_else(|| format!("{id} names no revision"))?,
        };
        if !file.case.revisions.contains(&revision) {
            let has: Vec<&str> = file.case.revisions.iter().map(|revision| revision.as_str()).collect();
            return Err(format!("{id} makes no sense in {revision}: expected {}", near::listed(&has)));
        }
        Ok(Self { keys, revision, wire, server })
    }
}

/// The case of this id, or of this file: what a shell completes is understood too.
fn find_case<'a>(catalogue: &'a Catalogue, named: &str) -> Result<&'a CaseFile, String> {
    let of_path = |path: &Path| {
        let mut parts = path.iter().rev().filter_map(|part| part.to_str());
        let (fault, area) = (parts.next()?.strip_suffix(".toml")?, parts.next()?);
        Some(format!("{area}/{fault}"))
    };
    let id = of_path(Path::new(named)).unwrap_or_else(|| named.to_owned());
    let found = id.parse::<CaseId>().ok().and_then(|id| catalogue.cases.get(&id));
    found.ok_or_else(|| {
        let help = near::help(&id, catalogue.cases.keys().map(CaseId::as_str));
        format!("no case {:?}: {help}", escape(named))
    })
}

fn newest(file: &CaseFile, spoken: &[&str]) -> Option<Revision> {
    let revisions = &file.case.revisions;
    let known = revisions.iter().filter(|revision| spoken.contains(&revision.as_str()));
    known.max().or_else(|| revisions.iter().max()).copied()
}
