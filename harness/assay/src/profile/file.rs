//! Finding and reading profile files.

use super::{Deviation, Profile, validate};
use crate::catalogue::Catalogue;
use crate::document::{self, Document};
use crate::near;
use crate::source::{self, SourceError};
use crate::variant::CaseId;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where profiles with a name stand, below the root.
const PROFILES: &str = "profiles";

/// A profile with its file.
#[derive(Clone, Debug)]
pub struct ProfileFile {
    /// What a command line calls it: its name, or the path the person gave.
    pub named: String,
    /// The file, as messages show it.
    pub path: PathBuf,
    /// The file's text.
    pub text: Arc<str>,
    /// What it says.
    pub profile: Profile,
    /// SHA-256 over the RFC 8785 form of the parsed file: comments and layout do not count.
    pub digest: [u8; 32],
    /// The text of the profile whose deviations were taken over.
    other: Option<Arc<str>>,
}

impl ProfileFile {
    /// Opens a profile by name (`profiles/<name>.toml` below the root) or by path (anything with a `/` or ending in
    /// `.toml`, from the current folder), and checks it against the catalogue.
    ///
    /// # Errors
    /// All mistakes: no such file, malformed, naming what does not exist, without a reason.
    pub fn open(root: &Path, named: &str, catalogue: &Catalogue) -> Result<Self, Vec<SourceError>> {
        let is_path = named.contains(['/', '\\']) || named.ends_with(".toml");
        let (real, shown) = if is_path {
            (PathBuf::from(named), PathBuf::from(named))
        } else {
            let shown = Path::new(PROFILES).join(format!("{named}.toml"));
            (root.join(&shown), shown)
        };
        if !is_path && !real.exists() {
            let names = Self::names(root).map_err(|error| vec![error])?;
            let help = near::help(named, names.iter().map(String::as_str));
            return Err(vec![SourceError::file(shown, format!("there is no profile `{named}`"), help)]);
        }
        let text = source::read(real, &shown).map_err(|error| vec![error])?;
        let mut file = Self::parse(&shown, &text).map_err(|error| vec![error])?;
        named.clone_into(&mut file.named);
        let errors = file.validate(root, catalogue);
        if !errors.is_empty() {
            return Err(errors);
        }
        file.take_over(root)?;
        Ok(file)
    }

    /// Takes over the deviations of another profile, which must speak of something that runs here.
    fn take_over(&mut self, root: &Path) -> Result<(), Vec<SourceError>> {
        let Some(other) = &self.profile.deviations_of else { return Ok(()) };
        let shown = Path::new(PROFILES).join(format!("{other}.toml"));
        let text = source::read(root.join(&shown), &shown).map_err(|error| vec![error])?;
        self.take_over_from(&shown, &text).map_err(|error| vec![error])
    }

    /// The same from the other profile's text.
    fn take_over_from(&mut self, path: &Path, text: &str) -> Result<(), SourceError> {
        let Self { profile: other, .. } = Self::parse(path, text)?;
        self.other = Some(text.into());
        let profile = &mut self.profile;
        let runs = |deviation: &Deviation| {
            let case = deviation.case.parse::<CaseId>();
            case.is_ok_and(|case| profile.takes(&case)) && profile.revisions.contains(&deviation.revision)
        };
        let taken: Vec<Deviation> = other.deviation.into_iter().filter(runs).collect();
        profile.deviation.extend(taken);
        Ok(())
    }

    /// The profile's text, and that of the one whose deviations it takes over, by name.
    #[must_use]
    pub fn texts(&self) -> BTreeMap<String, String> {
        let own = (self.profile.name.clone(), self.text.to_string());
        let other = self.profile.deviations_of.clone().zip(self.other.as_ref().map(ToString::to_string));
        [own].into_iter().chain(other).collect()
    }

    /// The profile of this name as [`ProfileFile::texts`] gave it: as it was when it ran, whatever there is now.
    /// Nothing it names is looked up.
    ///
    /// # Errors
    /// A text that is missing or is no profile.
    pub fn from_texts(name: &str, texts: &BTreeMap<String, String>) -> Result<Self, SourceError> {
        let find = |name: &str| {
            let path = Path::new(PROFILES).join(format!("{name}.toml"));
            let missing = || SourceError::file(&path, "there is no text of this profile", "");
            texts.get(name).ok_or_else(missing).map(|text| (path.clone(), text))
        };
        let (path, text) = find(name)?;
        let mut file = Self::parse(&path, text)?;
        if let Some(other) = &file.profile.deviations_of {
            let (path, text) = find(other)?;
            file.take_over_from(&path, text)?;
        }
        Ok(file)
    }

    /// The names of the profiles below the root, sorted.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(root: &Path) -> Result<Vec<String>, SourceError> {
        let read = || -> io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in std::fs::read_dir(root.join(PROFILES))? {
                let path = entry?.path();
                if path.extension().is_some_and(|ending| ending == "toml") {
                    names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
                }
            }
            names.sort();
            Ok(names)
        };
        read().map_err(|error| SourceError::unreadable(PROFILES, &error))
    }

    /// Parses a profile. What its names mean is checked by [`ProfileFile::validate`].
    ///
    /// # Errors
    /// The first mistake of form, with its place in `text`.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SourceError> {
        let table: toml::Table = source::parse_toml(path, text)?;
        // Each pattern is compiled as it is read.
        if let Some(error) = too_many(path, text, &table) {
            return Err(error);
        }
        let profile = source::parse_toml(path, text)?;
        let (named, path) = (path.display().to_string(), path.to_owned());
        let digest = document::digest(&table);
        Ok(Self { named, path, text: text.into(), profile, digest, other: None })
    }

    /// What is wrong with the profile beyond its form. Empty if nothing is. The list of SDK servers below the root is
    /// read if the profile names some.
    #[must_use]
    pub fn validate(&self, root: &Path, catalogue: &Catalogue) -> Vec<SourceError> {
        validate::profile(self, root, catalogue)
    }
}

/// The most entries of one list of a profile, of which each has patterns.
const ENTRIES: usize = 1_000;

/// A list that is too long.
fn too_many(path: &Path, text: &str, table: &toml::Table) -> Option<SourceError> {
    let document = Document::parse(text)?;
    let len = |value: &toml::Value| value.as_array().map_or(0, Vec::len);
    let lists = ["cases", "exclude", "deviation", "expect"].map(|key| (key, table.get(key).map_or(0, len)));
    let wires = table.get("wires").and_then(toml::Value::as_table);
    let wires = wires.map_or(0, |wires| wires.values().map(len).fold(0, usize::saturating_add));
    let tiers = table.get("tiers").and_then(toml::Value::as_table);
    let tiers = tiers.map_or(0, |tiers| {
        let cases = tiers.values().filter_map(|tier| tier.get("cases"));
        cases.map(len).fold(0, usize::saturating_add)
    });
    let (key, len) =
        lists.into_iter().chain([("wires", wires), ("tiers", tiers)]).find(|(_, len)| *len > ENTRIES)?;
    let message = format!("{len} entries of `{key}` where {ENTRIES} are allowed");
    Some(SourceError::at(
        path,
        text,
        document.get(key).span(),
        message,
        "a pattern takes many at once: `sse/*`",
    ))
}
