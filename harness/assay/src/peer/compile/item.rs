//! Small parts of items.

use super::CompileError;
use crate::case::reply::{Eol, Item};
use serde_json::Value;

/// The beginning of a message; an empty id is none.
pub(super) fn opening(id: &str) -> String {
    if id.is_empty() {
        "{\"jsonrpc\":\"2.0\",".to_owned()
    } else {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},")
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A line end as bytes.
pub(super) fn eol_text(eol: Eol) -> &'static [u8] {
    match eol {
        Eol::Lf => b"\n",
        Eol::Crlf => b"\r\n",
        Eol::Cr => b"\r",
    }
}

/// Bytes out of pairs of hexadecimal digits; spaces between them are nothing.
pub(super) fn unhex(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> =
        hex.chars().filter(|c| *c != ' ').map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    let whole = pairs.remainder().is_empty();
    whole.then(|| pairs.map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap_or(0)).collect())
}

/// An item is exactly one thing.
pub(super) fn one_content_key(item: &Item) -> Result<(), CompileError> {
    let keys = [
        ("result", item.result.is_some()),
        ("result_json", item.result_json.is_some()),
        ("error", item.error.is_some()),
        ("request", item.request.is_some()),
        ("note", item.note.is_some()),
        ("json", item.json.is_some()),
        ("event", item.event.is_some()),
        ("text", item.text.is_some()),
        ("hex", item.hex.is_some()),
        ("repeat", item.repeat.is_some()),
        ("bytes", item.bytes.is_some()),
        ("items", item.items.is_some()),
        ("pause_ms", item.pause_ms.is_some()),
        ("hold", item.hold.is_some()),
    ];
    let names: Vec<&str> = keys.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect();
    match names.len() {
        1 => Ok(()),
        found => Err(CompileError::ContentKeys { found, names: names.join(", ") }),
    }
}
