//! A stage for whole runs: a project's data, a folder for its runs, and an audience that writes everything down.

use mcp_assay::catalogue::Catalogue;
use mcp_assay::driver::ClientUnderTest;
use mcp_assay::profile::ProfileFile;
use mcp_assay::receipt::catalog::Texts;
use mcp_assay::run::Choice;
use mcp_assay::run::estimate::Estimate;
use mcp_assay::run::profile::{Audience, Conduct, ProfileRun, run};
use mcp_assay::source::SourceError;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// A project and a place for its runs.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) catalogue: Catalogue,
    pub(crate) texts: Texts,
    pub(crate) profile: ProfileFile,
    pub(crate) out: TempDir,
}

impl Project {
    /// A profile of the project below `root`.
    pub(crate) fn open(root: &Path, profile: &str) -> Self {
        let shown =
            |errors: Vec<SourceError>| -> String { errors.iter().map(SourceError::rendered).collect() };
        let catalogue = Catalogue::load(root).unwrap_or_else(|errors| panic!("{}", shown(errors)));
        let profile =
            ProfileFile::open(root, profile, &catalogue).unwrap_or_else(|errors| panic!("{}", shown(errors)));
        let texts = Texts::load(root).unwrap();
        Self { root: root.to_owned(), catalogue, texts, profile, out: tempfile::tempdir().unwrap() }
    }

    /// Runs the profile, and says what the audience heard.
    pub(crate) fn run_heard(
        &self,
        client: &dyn ClientUnderTest,
        choice: &Choice,
        strict: bool,
    ) -> (ProfileRun, Vec<String>) {
        let heard = Heard::default();
        let conduct = Conduct {
            program: "mcp-assay",
            root: &self.root,
            catalogue: &self.catalogue,
            profile: &self.profile,
            choice,
            client,
            strict,
            out: self.out.path(),
            command: vec!["a test".to_owned()],
            repetition: 0,
            stop: &AtomicBool::new(false),
        };
        let ran = run(&conduct, &heard).unwrap();
        (ran, heard.0.into_inner().unwrap())
    }
}

/// The folder of this repository.
pub(crate) fn own_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A project without a profile: this repository's clauses, polite peers and smoke case, and a folder `mini` for more.
pub(crate) fn bare_root() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for folder in ["fixtures/clauses", "fixtures/cases/polite", "fixtures/cases/smoke"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
        for entry in fs::read_dir(own_root().join(folder)).unwrap() {
            let from = entry.unwrap().path();
            fs::copy(&from, root.path().join(folder).join(from.file_name().unwrap())).unwrap();
        }
    }
    for folder in ["fixtures/cases/mini", "profiles"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    root
}

/// Writes down what a run tells.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Audience for Heard {
    fn planned(&self, _cases: usize, _estimate: Option<Estimate>) {}
    fn variant(&self) {}
    fn case(&self) {}
    fn installing(&self, _what: &str) {}

    fn unexpected(&self, failure: &dyn Display) {
        self.0.lock().unwrap().push(failure.to_string());
    }

    fn problem(&self, problem: &str) {
        self.0.lock().unwrap().push(problem.to_owned());
    }
}
