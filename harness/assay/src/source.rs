//! Files people write (cases, clauses, profiles): reading them, and errors that point into them.
//!
//! Every loader reports through [`SourceError`], so that each mistake in a file shows the same four things: the
//! file, the line, a caret, and what was expected. Syntax and type errors come from [`parse_toml`]; a loader adds
//! what only it can know (an id used twice, a check nobody defined) with [`SourceError::at`] and the span of a
//! [`toml::Spanned`] value.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};
use serde::de::DeserializeOwned;

mod bounded;
mod escape;
mod excerpt;

pub(crate) use bounded::{FILE_MAX, Unread, bounded, bounded_text};
pub use escape::{escape, escape_lines};
use excerpt::Excerpt;

/// A mistake in a file somebody wrote: where it stands, what is wrong and what to do about it.
///
/// `Display` gives one line (`path:line:column: message`); [`rendered`](Self::rendered) and any
/// [`miette`] report handler show the line with a caret. Text of the file is escaped in both.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    path: PathBuf,
    message: String,
    help: Option<String>,
    place: Option<Place>,
}

/// The spot in the text, and what is shown of that.
#[derive(Clone, PartialEq, Eq)]
struct Place {
    span: Range<usize>,
    line: usize,
    column: usize,
    excerpt: Excerpt,
}

impl SourceError {
    /// An error at `span`, in bytes of `text`. A span over several lines is cut to its first one, and one outside
    /// the text to the text's end.
    ///
    /// `help` says what to do or what was expected; an empty one is left out.
    ///
    /// ```
    /// use mcp_assay::source::SourceError;
    ///
    /// let text = "id = \"sse.eol\"\nlevel = \"shall\"\n";
    /// let error = SourceError::at("clauses/sse.toml", text, 23..30, "unknown level", "use must, should or may");
    /// assert_eq!(error.to_string(), "clauses/sse.toml:2:9: unknown level");
    /// ```
    pub fn at(
        path: impl AsRef<Path>,
        text: &str,
        span: Range<usize>,
        message: impl AsRef<str>,
        help: impl AsRef<str>,
    ) -> Self {
        let path = path.as_ref();
        let place = Place::new(path, text, span);
        Self::new(path, message.as_ref(), Some(help.as_ref()), Some(place))
    }

    /// An error about the file as a whole: it is missing, unreadable, or in the wrong place.
    pub fn file(path: impl AsRef<Path>, message: impl AsRef<str>, help: impl AsRef<str>) -> Self {
        Self::new(path.as_ref(), message.as_ref(), Some(help.as_ref()), None)
    }

    /// The file could not be read.
    pub fn unreadable(path: impl AsRef<Path>, error: &io::Error) -> Self {
        Self::new(path.as_ref(), &format!("cannot be read: {error}"), None, None)
    }

    /// The file, as it was named when it was read.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do, or what was expected.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The bytes of the file that the error is about; none if it is about the file as a whole.
    pub fn span(&self) -> Option<Range<usize>> {
        self.0.place.as_ref().map(|place| place.span.clone())
    }

    /// Line and column, both counted from 1, the column in characters.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.0.place.as_ref().map(|place| (place.line, place.column))
    }

    /// File, line, caret and expectation as plain text: no colour, 100 columns, the same on every machine.
    pub fn rendered(&self) -> String {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .with_width(100)
            .with_links(false);
        let mut out = String::new();
        match handler.render_report(&mut out, self) {
            Ok(()) => out,
            // A handler that cannot show the line is no reason to lose the message.
            Err(fmt::Error) => self.to_string(),
        }
    }

    fn new(path: &Path, message: &str, help: Option<&str>, place: Option<Place>) -> Self {
        let message = clipped(message);
        let help = help.filter(|help| !help.is_empty()).map(|help| escape_lines(help).into_owned());
        Self(Box::new(Inner { path: path.to_owned(), message, help, place }))
    }

    fn from_toml(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let (message, help) = match error.message().split_once(", expected ") {
            Some((message, expected)) => (message, Some(format!("expected {expected}"))),
            None => (error.message(), missing(error.message())),
        };
        let place = error.span().map(|span| Place::new(path, text, span));
        Self::new(path, message, help.as_deref(), place)
    }
}

impl Place {
    fn new(path: &Path, text: &str, span: Range<usize>) -> Self {
        let start = floor_char(text, span.start);
        let line_end = text[start..].find(['\r', '\n']).map_or(text.len(), |length| start + length);
        let end = floor_char(text, span.end).clamp(start, line_end);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count();
        let column = text[line_start..start].chars().count();
        let excerpt = Excerpt::new(path, text, &(start..end), line, column);
        Self { span: start..end, line: line + 1, column: column + 1, excerpt }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { path, message, place, .. } = &*self.0;
        let path = path.to_string_lossy();
        write!(f, "{}:", escape(&path))?;
        if let Some(place) = place {
            write!(f, "{}:{}:", place.line, place.column)?;
        }
        write!(f, " {message}")
    }
}

impl fmt::Debug for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceError")
            .field("at", &format_args!("{self}"))
            .field("span", &self.span())
            .field("help", &self.0.help)
            .finish()
    }
}

impl std::error::Error for SourceError {}

impl Diagnostic for SourceError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.place.as_ref().map(|place| &place.excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let marked = &self.0.place.as_ref()?.excerpt.marked;
        let label = LabeledSpan::new(None, marked.start, marked.len());
        Some(Box::new(std::iter::once(label)))
    }
}

/// Parses TOML; `path` is only named in errors.
///
/// # Errors
///
/// [`SourceError`] with the place and what was expected: bad syntax, an unknown key, a wrong type, a missing key.
///
/// ```
/// use std::path::Path;
///
/// #[derive(serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct File {
///     title: String,
/// }
///
/// let file: File = mcp_assay::source::parse_toml(Path::new("a.toml"), "title = 'Polite'").unwrap();
/// assert_eq!(file.title, "Polite");
/// let error = mcp_assay::source::parse_toml::<File>(Path::new("a.toml"), "titel = 'Polite'").err().unwrap();
/// assert_eq!(error.to_string(), "a.toml:1:1: unknown field `titel`");
/// ```
pub fn parse_toml<T: DeserializeOwned>(path: impl AsRef<Path>, text: &str) -> Result<T, SourceError> {
    toml::from_str(text).map_err(|error| SourceError::from_toml(path.as_ref(), text, &error))
}

/// The longest message, in characters: parsers quote values, and those may be as long as the file.
const MESSAGE: usize = 600;

/// A message as one line, cut where it is too long.
fn clipped(message: &str) -> String {
    match message.char_indices().nth(MESSAGE) {
        Some((at, _)) => format!("{}…", escape(&message[..at])),
        None => escape(message).into_owned(),
    }
}

/// What to do about a key that is not there.
fn missing(message: &str) -> Option<String> {
    let key = message.strip_prefix("missing field `")?.strip_suffix('`')?;
    Some(format!("expected the key `{key}` in this table: add `{key} = …`"))
}

/// The largest file somebody may have written by hand, in bytes.
const TEXT_MAX: u64 = 1 << 20;

/// Reads a file as UTF-8 text; `shown` is the name that errors use (relative to the project, as a rule).
///
/// # Errors
///
/// [`SourceError`] if the file is missing or unreadable, or points at the first byte that is no UTF-8.
pub fn read(path: impl AsRef<Path>, shown: impl AsRef<Path>) -> Result<String, SourceError> {
    let bytes = bounded(path.as_ref(), TEXT_MAX).map_err(|unread| {
        let found = match unread {
            Unread::System(error) => return SourceError::unreadable(&shown, &error),
            Unread::NoFile => "something that is no regular file",
            Unread::Larger(_) => "a larger one",
        };
        let message = format!("expected a file of at most {TEXT_MAX} bytes, found {found}");
        SourceError::file(&shown, message, "name another file")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes());
        // The text before the bad byte is the same in both, so the place holds.
        SourceError::at(shown, &text, valid..valid + 1, "not UTF-8", "save the file as UTF-8")
    })
}

/// The largest character border in `text` that is at most `index`.
fn floor_char(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

#[cfg(test)]
mod tests;
