//! Drivers of SDK clients: `fixtures/drivers/<name>/driver.toml`, installed like servers.

use super::install::{InstallError, Placed, Program, place};
use super::manifest::Name;
use super::runtime::{Runtime, Version};
use super::template::Template;
use crate::digest::Digest;
use crate::receipt::run::Identity;
use crate::source::{self, SourceError};
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// Where the drivers stand, below the root.
pub const FOLDER: &str = "fixtures/drivers";

/// A driver's manifest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// The driver's name in profiles: that of its folder.
    pub name: Name,
    /// The SDK package whose client it drives: `@modelcontextprotocol/client`.
    pub package: String,
    /// The package's exact version, as the driver's lock file has it.
    pub version: String,
    /// What runs it.
    pub runtime: Runtime,
    /// The oldest version of the runtime that it and its lock work with.
    pub minimum: Version,
    /// The command that starts it; `{runtime}` and `{dir}` are filled in.
    pub start: Start,
}

/// The command that starts a driver, with places for the runtime and the driver's directory.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Start(Template);

impl TryFrom<Vec<String>> for Start {
    type Error = String;

    fn try_from(words: Vec<String>) -> Result<Self, Self::Error> {
        if words.is_empty() {
            return Err("an empty start command, expected a program".to_owned());
        }
        Template::new(words, &["runtime", "dir"]).map(Self)
    }
}

impl Start {
    fn fill(&self, runtime: &OsStr, dir: &OsStr) -> Vec<OsString> {
        self.0.fill(&[("runtime", runtime), ("dir", dir)])
    }
}

impl Driver {
    /// The names of the drivers below a root, sorted: folders that hold a manifest.
    #[must_use]
    pub fn names(root: &Path) -> Vec<String> {
        let folders = fs::read_dir(root.join(FOLDER)).into_iter().flatten();
        let mut names: Vec<String> = folders
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.join("driver.toml").is_file())
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    /// Reads the manifest of the driver with this name.
    ///
    /// # Errors
    /// There is none, or it does not say exactly what it should.
    pub fn load(root: &Path, name: &str) -> Result<Self, SourceError> {
        let path = Path::new(FOLDER).join(name).join("driver.toml");
        let driver: Self = source::parse_toml(&path, &source::read(root.join(&path), &path)?)?;
        if driver.name.as_str() == name {
            Ok(driver)
        } else {
            let help = format!("write `name = \"{name}\"`, or rename the folder");
            Err(SourceError::file(path, "the name is not the folder's", help))
        }
    }

    /// Makes sure that the driver is in the cache below the root; blocks while it is installed.
    ///
    /// # Errors
    /// A missing runtime, or what an installer said.
    pub fn install(&self, root: &Path) -> Result<Placed, InstallError> {
        let program = Program {
            name: &self.name,
            runtime: self.runtime,
            minimum: self.minimum,
            home: &root.join(FOLDER),
            dir: &self.name,
            shared: &[],
        };
        place(program, &root.join("target/mcp-assay/drivers"))
    }

    /// The command that starts it once it is installed, program first.
    #[must_use]
    pub fn command(&self, placed: &Placed) -> Vec<OsString> {
        self.start.fill(&placed.runtime, placed.source.as_os_str())
    }

    /// What pins it, for the manifest of a run.
    ///
    /// # Errors
    /// In words: its lock file cannot be read.
    pub fn identity(&self, root: &Path) -> Result<Identity, String> {
        let path: PathBuf = Path::new(FOLDER).join(self.name.as_str()).join(self.runtime.lock());
        let lock = fs::read(root.join(&path)).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let command = self.start.fill(self.runtime.to_string().as_ref(), self.name.as_str().as_ref());
        Ok(Identity {
            name: self.package.clone(),
            version: self.version.clone(),
            sha256: None,
            lock_sha256: Some(Digest::of(&lock)),
            command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        })
    }
}

#[cfg(test)]
mod tests;
