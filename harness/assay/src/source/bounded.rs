//! Files of any size are never read whole.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The largest file of a project that is read, in bytes: texts, recordings and lists are far smaller.
pub(crate) const FILE_MAX: u64 = 16 << 20;

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The system refused it.
    System(io::Error),
    /// It is something that is no regular file.
    NoFile,
    /// It holds more than so many bytes.
    Larger(u64),
}

/// Reads a regular file of at most `most` bytes.
pub(crate) fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, Unread> {
    // Asked before opening: a pipe would block.
    let known = fs::metadata(path).map_err(Unread::System)?;
    if !known.is_file() {
        return Err(Unread::NoFile);
    }
    // One byte more than it holds, so that its end shows in the second read.
    let room = usize::try_from(known.len().min(most)).unwrap_or(0) + 1;
    let mut bytes = Vec::with_capacity(room);
    let file = File::open(path).map_err(Unread::System)?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(Unread::System)?;
    if bytes.len() as u64 > most { Err(Unread::Larger(most)) } else { Ok(bytes) }
}

/// Reads a regular file of at most [`FILE_MAX`] bytes as UTF-8 text.
pub(crate) fn bounded_text(path: &Path) -> io::Result<String> {
    let bytes = bounded(path, FILE_MAX).map_err(io::Error::from)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::NoFile => f.write_str("expected a regular file"),
            Self::Larger(most) => write!(f, "expected a file of at most {most} bytes, found a larger one"),
        }
    }
}

impl From<Unread> for io::Error {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::System(error) => error,
            Unread::NoFile => Self::new(io::ErrorKind::InvalidInput, unread.to_string()),
            Unread::Larger(_) => Self::new(io::ErrorKind::FileTooLarge, unread.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_the_bound_and_not_one_byte_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "12345").unwrap();
        assert_eq!(bounded(&path, 5).unwrap(), b"12345");
        assert!(matches!(bounded(&path, 4), Err(Unread::Larger(4))));
        assert!(matches!(bounded(folder.path(), 5), Err(Unread::NoFile)));
        assert!(matches!(bounded(&folder.path().join("b"), 5), Err(Unread::System(_))));
        assert_eq!(bounded_text(&path).unwrap(), "12345");
        // A hole takes no room on the disk.
        File::options().write(true).open(&path).unwrap().set_len(FILE_MAX + 1).unwrap();
        let error = bounded_text(&path).unwrap_err();
        assert_eq!(error.to_string(), "expected a file of at most 16777216 bytes, found a larger one");
    }
}
