//! Installing an SDK server or a driver into a cache, once, from its lock file.
//!
//! A cache entry is named by what decides its content: the lock, the manifest beside it and the runtime's version.
//! It is built under another name and moved into place whole, so that an entry that is there is complete, also when
//! two runs install at once or one is killed. With its entry in the cache a program needs no network.

use crate::sdk::manifest::{Manifest, Name, Server};
use crate::sdk::runtime::{Found, MissingRuntime, Runtime, Version};
use crate::source::escape;
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is installed: a program with a lock file, in a directory of its own.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// Its name, which the cache entry has too.
    pub name: &'a Name,
    /// What runs it.
    pub runtime: Runtime,
    /// The oldest version of the runtime that does.
    pub minimum: Version,
    /// Where its directory lies.
    pub home: &'a Path,
    /// Its directory.
    pub dir: &'a Name,
    /// Directories beside its own that its source reaches into.
    pub shared: &'a [Name],
}

/// A program that can be started.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The runtime as a word of a command.
    pub runtime: OsString,
    /// The runtime with its version: `Node.js 20.20.2`.
    pub version: String,
    /// The directory of the program's source, from where its packages are found.
    pub source: PathBuf,
}

/// A server that can be started.
#[derive(Clone, Debug)]
pub struct Installed {
    server: Server,
    placed: Placed,
}

impl Installed {
    /// The server as the manifest has it.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// What runs it, with its version: `Node.js 20.20.2`.
    #[must_use]
    pub fn runtime(&self) -> &str {
        &self.placed.version
    }

    /// The command that starts the server in a mode, program first.
    #[must_use]
    pub fn command(&self, mode: &Name) -> Vec<OsString> {
        self.server.start.fill(&self.placed.runtime, self.placed.source.as_os_str(), mode)
    }
}

/// Makes sure that a server of `manifest` is in `cache`, and says how to start it.
///
/// # Errors
///
/// As [`place`].
pub fn install(manifest: &Manifest, server: &Server, cache: &Path) -> Result<Installed, InstallError> {
    let program = Program {
        name: &server.name,
        runtime: server.runtime,
        minimum: server.minimum,
        home: manifest.directory(),
        dir: &server.dir,
        shared: &server.shared,
    };
    Ok(Installed { server: server.clone(), placed: place(program, cache)? })
}

/// Makes sure that a program is in `cache`, and says where.
///
/// Blocks while npm or pip works, up to minutes the first time. Their output is kept for the error.
///
/// # Errors
///
/// When the runtime is missing or too old, the installer fails, or the cache cannot be written. None of these says
/// anything about a client: the variants that need the program are incomplete.
pub fn place(program: Program<'_>, cache: &Path) -> Result<Placed, InstallError> {
    let found = program
        .runtime
        .find(program.minimum)
        .map_err(|missing| InstallError::Runtime { name: program.name.clone(), missing })?;
    let cache = std::path::absolute(cache).map_err(at(cache))?;
    let entry = dependencies(program, found, &cache)?;
    let stage = stage(program, &entry)?;
    let runtime = match program.runtime {
        Runtime::Node => OsString::from(found.program),
        Runtime::Python => python_of(&entry).into_os_string(),
    };
    let version = format!("{} {}", program.runtime, found.version);
    Ok(Placed { runtime, version, source: stage.join(program.dir.as_str()) })
}

/// The files that decide what is installed, the lock first.
fn locks(runtime: Runtime) -> &'static [&'static str] {
    match runtime {
        Runtime::Node => &["package-lock.json", "package.json"],
        Runtime::Python => &["requirements.txt"],
    }
}

fn python_of(entry: &Path) -> PathBuf {
    entry.join("venv/bin/python")
}

/// The cache entry with the program's packages, made now if it is not there.
fn dependencies(program: Program<'_>, found: Found, cache: &Path) -> Result<PathBuf, InstallError> {
    let dir = program.home.join(program.dir.as_str());
    let mut hash = Sha256::new();
    hash.update(format!("{}.{}\n", found.version.major, found.version.minor));
    for lock in locks(program.runtime) {
        let path = dir.join(lock);
        hash.update(std::fs::read(&path).map_err(at(&path))?);
    }
    let entry = cache.join(format!("{}-{}", program.name, short(hash)));
    let proof = match program.runtime {
        Runtime::Node => entry.join("node_modules"),
        // A link to the Python it was made with, which may have gone since.
        Runtime::Python => python_of(&entry),
    };
    if proof.exists() {
        return Ok(entry);
    }
    if entry.exists() {
        std::fs::remove_dir_all(&entry).map_err(at(&entry))?;
    }
    build(cache, &entry, |draft| {
        for lock in locks(program.runtime) {
            std::fs::copy(dir.join(lock), draft.join(lock)).map_err(at(draft))?;
        }
        match program.runtime {
            Runtime::Node => run(
                program.name,
                draft,
                "npm".as_ref(),
                &["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            ),
            Runtime::Python => {
                run(program.name, draft, found.program.as_ref(), &["-m", "venv", "venv"])?;
                let pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input"];
                let strict = ["--require-hashes", "--only-binary", ":all:", "-r", "requirements.txt"];
                run(program.name, draft, python_of(draft).as_os_str(), &[&pip[..], &strict[..]].concat())
            }
        }
    })?;
    Ok(entry)
}

/// A copy of the program's source inside the cache entry, where it finds its packages and may leave files.
fn stage(program: Program<'_>, entry: &Path) -> Result<PathBuf, InstallError> {
    let mut sources = Vec::new();
    for dir in std::iter::once(program.dir).chain(program.shared) {
        for file in files(&program.home.join(dir.as_str()))? {
            let content = std::fs::read(&file).map_err(at(&file))?;
            let name = file.file_name().unwrap_or_default().to_owned();
            sources.push((Path::new(dir.as_str()).join(name), content));
        }
    }
    sources.sort();
    let mut hash = Sha256::new();
    for (path, content) in &sources {
        hash.update(format!("{}\n{}\n", path.display(), content.len()));
        hash.update(content);
    }
    let stage = entry.join(format!("source-{}", short(hash)));
    if !stage.exists() {
        build(entry, &stage, |draft| {
            for (path, content) in &sources {
                let path = draft.join(path);
                std::fs::create_dir_all(path.parent().unwrap_or(draft)).map_err(at(&path))?;
                std::fs::write(&path, content).map_err(at(&path))?;
            }
            Ok(())
        })?;
    }
    Ok(stage)
}

/// The files that lie in a directory itself; packages and caches are in directories below.
fn files(dir: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(at(dir))? {
        let path = entry.map_err(at(dir))?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// Fills a directory under another name in `parent` and moves it to `place`. Who comes second uses the first one's.
fn build(
    parent: &Path,
    place: &Path,
    fill: impl FnOnce(&Path) -> Result<(), InstallError>,
) -> Result<(), InstallError> {
    std::fs::create_dir_all(parent).map_err(at(parent))?;
    let draft = tempfile::Builder::new().prefix(".draft-").tempdir_in(parent).map_err(at(parent))?;
    fill(draft.path())?;
    match std::fs::rename(draft.path(), place) {
        Err(error) if !place.is_dir() => Err(InstallError::Cache { path: place.to_owned(), source: error }),
        _ => Ok(()),
    }
}

fn run(name: &Name, dir: &Path, program: &OsStr, arguments: &[&str]) -> Result<(), InstallError> {
    let failed = |what: String, output: &[u8]| InstallError::Installer {
        name: name.clone(),
        command: format!("{} {}", program.display(), arguments.join(" ")),
        what,
        output: readable(output),
    };
    let output = Command::new(program)
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string(), b""))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(output.status.to_string(), &[output.stdout, output.stderr].concat()))
}

/// The end of an installer's output, indented, with everything a terminal would obey made visible.
fn readable(output: &[u8]) -> String {
    const LINES: usize = 20;
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines.iter().skip(lines.len().saturating_sub(LINES));
    end.fold(String::new(), |shown, line| shown + "\n  " + &escape(line))
}

fn short(hash: Sha256) -> String {
    hash.finalize().iter().take(8).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> InstallError + '_ {
    move |source| InstallError::Cache { path: path.to_owned(), source }
}

/// Why a program is not installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The runtime is missing or too old.
    #[error("{name} {missing}")]
    Runtime {
        /// The program that needs it.
        name: Name,
        /// What is missing.
        missing: MissingRuntime,
    },
    /// npm, venv or pip did not do its work.
    #[error("{name} is not installed: `{command}`: {what}{output}")]
    Installer {
        /// The program.
        name: Name,
        /// The command that failed.
        command: String,
        /// How it failed.
        what: String,
        /// The end of what it printed, safe to show.
        output: String,
    },
    /// A file of the program or of the cache cannot be read or written.
    #[error("{}: {source}", path.display())]
    Cache {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

#[cfg(test)]
mod tests;
