//! Finding and reading profile files.

use super::{Deviation, Profile, validate};
use crate::catalogue::Catalogue;
use crate::document;
use crate::near;
use crate::source::{self, SourceError};
use crate::variant::CaseId;
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
        let other: Profile = source::parse_toml(&shown, &text).map_err(|error| vec![error])?;
        let profile = &mut self.profile;
        let runs = |deviation: &Deviation| {
            let case = deviation.case.parse::<CaseId>();
            case.is_ok_and(|case| profile.takes(&case)) && profile.revisions.contains(&deviation.revision)
        };
        let taken: Vec<Deviation> = other.deviation.into_iter().filter(runs).collect();
        profile.deviation.extend(taken);
        Ok(())
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
        let profile = source::parse_toml(path, text)?;
        let table: toml::Table = source::parse_toml(path, text)?;
        let (named, path) = (path.display().to_string(), path.to_owned());
        Ok(Self { named, path, text: text.into(), profile, digest: document::digest(&table) })
    }

    /// What is wrong with the profile beyond its form. Empty if nothing is. The list of SDK servers below the root is
    /// read if the profile names some.
    #[must_use]
    pub fn validate(&self, root: &Path, catalogue: &Catalogue) -> Vec<SourceError> {
        validate::profile(self, root, catalogue)
    }
}
