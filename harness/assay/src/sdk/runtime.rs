//! Finding what runs a server: Node.js or Python, already on this machine.

use serde::Deserialize;
use std::fmt;
use std::process::{Command, Stdio};
use std::str::FromStr;

/// What runs a server.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// Node.js, with npm beside it.
    Node,
    /// CPython, with its `venv` module.
    Python,
}

impl Runtime {
    /// Finds a runtime on the search path that is at least `minimum`.
    ///
    /// # Errors
    ///
    /// When there is none; the error says what is there and what to install.
    pub fn find(self, minimum: Version) -> Result<Found, MissingRuntime> {
        self.find_with(minimum, printed_version)
    }

    /// The lock file beside a server, by which its packages are pinned.
    #[must_use]
    pub fn lock(self) -> &'static str {
        match self {
            Self::Node => "package-lock.json",
            Self::Python => "requirements.txt",
        }
    }

    fn find_with(
        self,
        minimum: Version,
        print: impl Fn(&str) -> Option<String>,
    ) -> Result<Found, MissingRuntime> {
        let mut seen = Vec::new();
        for &program in self.programs() {
            let Some(printed) = print(program) else { continue };
            let Some(version) = Version::printed(&printed) else {
                seen.push(format!("{program} does not say its version"));
                continue;
            };
            if version >= minimum {
                return Ok(Found { program, version });
            }
            seen.push(format!("{program} is {version}"));
        }
        Err(MissingRuntime { runtime: self, minimum, seen })
    }

    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["node"],
            Self::Python => &["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"],
        }
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Node => "Node.js",
            Self::Python => "Python",
        })
    }
}

/// A runtime that was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Found {
    /// Its name on the search path.
    pub program: &'static str,
    /// The version it gave.
    pub version: Version,
}

/// There is no runtime that is new enough.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingRuntime {
    /// What was looked for.
    pub runtime: Runtime,
    /// The oldest version that would do.
    pub minimum: Version,
    seen: Vec<String>,
}

impl fmt::Display for MissingRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runtime, minimum, seen } = self;
        let found = if seen.is_empty() { "there is none".to_owned() } else { seen.join(", ") };
        write!(f, "needs {runtime} {minimum} or newer on the search path, but {found}; install ")?;
        match runtime {
            Runtime::Node => write!(f, "it, with npm, from https://nodejs.org or your system's packages"),
            Runtime::Python => {
                write!(f, "it, with its venv module, from https://www.python.org or your system's packages")
            }
        }
    }
}

impl std::error::Error for MissingRuntime {}

/// The version of a runtime.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(try_from = "String")]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number, 0 when there is none.
    pub minor: u32,
    /// The third number, 0 when there is none.
    pub patch: u32,
}

impl Version {
    /// The version in what `--version` prints: `v20.20.2`, `Python 3.14.0rc1`.
    #[must_use]
    pub fn printed(text: &str) -> Option<Self> {
        let word = text.split_whitespace().last()?;
        let mut numbers = word.strip_prefix('v').unwrap_or(word).split('.').map(|part| {
            let digits = part.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            digits.parse().ok()
        });
        Some(Self {
            major: numbers.next()??,
            minor: numbers.next().unwrap_or(Some(0))?,
            patch: numbers.next().unwrap_or(Some(0))?,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch } = self;
        match (minor, patch) {
            (0, 0) => write!(f, "{major}"),
            (_, 0) => write!(f, "{major}.{minor}"),
            _ => write!(f, "{major}.{minor}.{patch}"),
        }
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[major]) => Ok(Self { major, minor: 0, patch: 0 }),
            Some(&[major, minor]) => Ok(Self { major, minor, patch: 0 }),
            Some(&[major, minor, patch]) => Ok(Self { major, minor, patch }),
            _ => Err(format!("bad version {text:?}, expected one to three numbers with dots between")),
        }
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

fn printed_version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_read_as_they_are_printed() {
        assert_eq!(Version::printed("v20.20.2\n"), Some(version("20.20.2")));
        assert_eq!(Version::printed("Python 3.11.7\n"), Some(version("3.11.7")));
        assert_eq!(Version::printed("Python 3.14.0rc1"), Some(version("3.14.0")));
        assert_eq!(Version::printed("v24.0.0-nightly2026"), Some(version("24")));
        assert_eq!(Version::printed(""), None);
        assert_eq!(Version::printed("command not found"), None);
    }

    #[test]
    fn versions_in_a_manifest_are_exact() {
        assert_eq!(version("3.11"), Version { major: 3, minor: 11, patch: 0 });
        for bad in ["", "v20", "3.", "3.11.7.1", "3.x", "-1"] {
            assert!(bad.parse::<Version>().unwrap_err().starts_with("bad version"), "{bad:?}");
        }
    }

    #[test]
    fn versions_are_in_order_of_their_numbers() {
        assert!(version("3.9") < version("3.11"));
        assert!(version("20.20.2") > version("20"));
    }

    #[test]
    fn the_first_that_is_new_enough_is_taken() {
        let found = Runtime::Python.find_with(version("3.11"), |program| match program {
            "python3" => Some("Python 3.9.2".to_owned()),
            "python3.12" => Some("Python 3.12.1".to_owned()),
            "python3.11" => Some("Python 3.11.7".to_owned()),
            _ => None,
        });
        assert_eq!(found.unwrap(), Found { program: "python3.12", version: version("3.12.1") });
    }

    #[test]
    fn what_is_missing_is_said_with_what_is_there() {
        let none = Runtime::Node.find_with(version("20"), |_| None).unwrap_err().to_string();
        assert!(
            none.starts_with("needs Node.js 20 or newer on the search path, but there is none; install"),
            "{none}"
        );
        let old =
            Runtime::Node.find_with(version("20"), |_| Some("v18.3.0".to_owned())).unwrap_err().to_string();
        assert!(old.contains("but node is 18.3; install it, with npm"), "{old}");
        let dumb = Runtime::Node.find_with(version("20"), |_| Some("hi".to_owned())).unwrap_err().to_string();
        assert!(dumb.contains("but node does not say its version; install it"), "{dumb}");
    }
}
