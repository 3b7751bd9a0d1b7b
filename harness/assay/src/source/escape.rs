//! Text of files and peers on its way to a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Makes text safe to print on one line: control characters and characters that reorder or hide text are shown
/// as `\n`, `\t`, `\r`, `\x1b` or `\u{202e}`; everything else, backslashes too, stays as it is.
///
/// Peers and drivers may send terminal escapes; nothing of theirs is printed without this.
///
/// ```
/// use mcp_assay::source::escape;
///
/// assert_eq!(escape("plain 雪"), "plain 雪");
/// assert_eq!(escape("\u{1b}[2Jgone\n"), "\\x1b[2Jgone\\n");
/// ```
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_if(text, is_unsafe)
}

/// Like [`escape`], for text that may span lines: LF and TAB stay, and the CR of a CRLF is dropped.
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    let unsafe_here = |c| is_unsafe(c) && !matches!(c, '\n' | '\t');
    if text.contains("\r\n") {
        // Nothing is borrowed any more, yet the text is escaped once only.
        Cow::Owned(escape_if(&text.replace("\r\n", "\n"), unsafe_here).into_owned())
    } else {
        escape_if(text, unsafe_here)
    }
}

fn escape_if(text: &str, is_unsafe: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_unsafe) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match c {
            _ if !is_unsafe(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing into a String cannot fail.
            c if u32::from(c) < 0x100 => drop(write!(out, "\\x{:02x}", u32::from(c))),
            c => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

/// Control characters, and the marks that hide text or turn its direction round.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
