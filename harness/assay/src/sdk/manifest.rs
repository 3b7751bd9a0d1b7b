//! The list of SDK servers, read from `servers.toml`.

use crate::revision::Revision;
use crate::sdk::runtime::{Runtime, Version};
use crate::sdk::template::Template;
use crate::source::{self, SourceError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// All SDK servers the harness can run clients against.
#[derive(Debug)]
pub struct Manifest {
    directory: PathBuf,
    servers: Vec<Server>,
}

impl Manifest {
    /// Reads a manifest from a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or does not say exactly what it should.
    pub fn load(path: &Path) -> Result<Self, SourceError> {
        Self::parse(path, &source::read(path, path)?)
    }

    /// Reads a manifest from its text; `path` is where the text comes from.
    ///
    /// # Errors
    ///
    /// As [`Manifest::load`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, SourceError> {
        let File { servers } = source::parse_toml(path, text)?;
        Ok(Self { directory: path.parent().unwrap_or_else(|| Path::new("")).to_owned(), servers })
    }

    /// The directory the servers' own directories lie in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The servers, in the file's order.
    #[must_use]
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The server of that name.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name.as_str() == name)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "server", deserialize_with = "distinct")]
    servers: Vec<Server>,
}

/// One server program on one generation of an SDK.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The server's name in profiles and claims: `ts1`.
    pub name: Name,
    /// The SDK package the server is there for: `@modelcontextprotocol/sdk`.
    pub package: String,
    /// The package's exact version, as the server's lock file has it.
    pub version: String,
    /// What runs it.
    pub runtime: Runtime,
    /// The oldest version of the runtime that it and its lock work with.
    pub minimum: Version,
    /// Its directory, inside [`Manifest::directory`].
    pub dir: Name,
    /// Directories beside its own that its source reaches into.
    #[serde(default)]
    pub shared: Vec<Name>,
    /// How it is started.
    pub start: Start,
    /// The ways it can be set up.
    #[serde(rename = "mode", deserialize_with = "distinct")]
    pub modes: Vec<Mode>,
}

impl Server {
    /// The mode of that name.
    #[must_use]
    pub fn mode(&self, name: &str) -> Option<&Mode> {
        self.modes.iter().find(|mode| mode.name.as_str() == name)
    }
}

/// One way to set up a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// What the server's command line calls it: `stateful-sse`.
    pub name: Name,
    /// What it does, revision by revision; a revision that stands in none is not spoken.
    pub eras: Vec<Era>,
}

impl Mode {
    /// What the server does for a client of that revision; `None` if it does not speak it.
    #[must_use]
    pub fn era(&self, revision: Revision) -> Option<&Era> {
        self.eras.iter().find(|era| era.revisions.contains(&revision))
    }
}

/// What a server does, in one mode, for some revisions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Era {
    /// The revisions this holds for.
    pub revisions: Vec<Revision>,
    /// Whether `initialize` gives a session id, so that there is a DELETE and an expiry.
    pub session: bool,
    /// How `tools/call` is answered.
    pub answers: Answers,
}

/// How a server answers `tools/call`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Answers {
    /// With an event stream.
    Sse,
    /// With one JSON body.
    Json,
    /// With JSON, unless the tool notified first.
    Either,
}

/// A name that is also a directory name and a command line word: lower-case letters, digits and inner dashes.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[serde(try_from = "String")]
pub struct Name(String);

impl Name {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if text.is_empty() || text.starts_with('-') || text.ends_with('-') || !text.chars().all(inner) {
            return Err(format!("bad name {text:?}, expected lower-case letters, digits and inner dashes"));
        }
        Ok(Self(text))
    }
}

/// The command that starts a server: with a place for the mode, and others for the runtime and the server's directory.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Start(Template);

impl Start {
    /// The command, program first, with every place filled in.
    #[must_use]
    pub fn fill(&self, runtime: &OsStr, dir: &OsStr, mode: &Name) -> Vec<OsString> {
        self.0.fill(&[("runtime", runtime), ("dir", dir), ("mode", mode.as_str().as_ref())])
    }
}

impl TryFrom<Vec<String>> for Start {
    type Error = String;

    fn try_from(words: Vec<String>) -> Result<Self, Self::Error> {
        let template = Template::new(words, &["runtime", "dir", "mode"])?;
        if !template.has("mode") {
            return Err("a start command without {mode}, expected it in one of the words".to_owned());
        }
        Ok(Self(template))
    }
}

/// Something that is told from its neighbours by a name.
trait Named {
    fn name(&self) -> &Name;
}

impl Named for Server {
    fn name(&self) -> &Name {
        &self.name
    }
}

impl Named for Mode {
    fn name(&self) -> &Name {
        &self.name
    }
}

/// Reads a list that is not empty and has no name twice.
fn distinct<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Named,
{
    let list = Vec::<T>::deserialize(deserializer)?;
    if list.is_empty() {
        return Err(D::Error::custom("an empty list, expected at least one"));
    }
    for (index, one) in list.iter().enumerate() {
        if list.iter().take(index).any(|earlier| earlier.name() == one.name()) {
            return Err(D::Error::custom(format!("{} is there twice, expected every name once", one.name())));
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests;
