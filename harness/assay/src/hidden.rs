//! Header fields whose values are hidden by their position.

use std::ops::Range;

/// What a token stands for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Kind {
    /// A port of the loopback interface.
    Port,
    /// A session id.
    Session,
    /// A UUID.
    Uuid,
    /// A credential or a cookie.
    Secret,
}

/// The part of a header's value that is hidden: all of it, or what follows the scheme of credentials, or what
/// precedes the attributes of a cookie.
pub(crate) fn hidden(name: &str, value: &str) -> Option<(Kind, Range<usize>)> {
    hidden_bytes(name.as_bytes(), value.as_bytes())
        // A header's value as text may hold U+FFFD; scheme and attributes end at ASCII bytes, so this always holds.
        .filter(|(_, range)| value.is_char_boundary(range.start) && value.is_char_boundary(range.end))
}

/// The hidden parts of raw bytes, line by line: heads of requests and replies, and whatever looks like one.
pub(crate) fn hidden_lines(bytes: &[u8]) -> Vec<(Kind, Range<usize>)> {
    let mut found = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        let line = &bytes[start..end];
        // The longest name is `proxy-authorization`: a colon further out ends no name of ours.
        if let Some(colon) = memchr::memchr(b':', &line[..line.len().min(20)])
            && let Some((kind, range)) = hidden_bytes(&line[..colon], &line[colon + 1..])
        {
            found.push((kind, start + colon + 1 + range.start..start + colon + 1 + range.end));
        }
        start = end + 1;
    }
    found
}

fn hidden_bytes(name: &[u8], value: &[u8]) -> Option<(Kind, Range<usize>)> {
    let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
    let credentials = is("authorization") || is("proxy-authorization");
    let kind = match () {
        () if is("mcp-session-id") => Kind::Session,
        () if credentials || is("cookie") || is("set-cookie") => Kind::Secret,
        () => return None,
    };
    let lead = value.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let trail = value.iter().rev().take_while(|b| b.is_ascii_whitespace()).count();
    let whole = lead..value.len().saturating_sub(trail).max(lead);
    let inner = &value[whole.clone()];
    let range = if credentials {
        let scheme = memchr::memchr(b' ', inner).map_or(0, |space| space + 1);
        whole.start + scheme..whole.end
    } else if is("set-cookie") {
        whole.start..memchr::memchr(b';', inner).map_or(whole.end, |end| whole.start + end)
    } else {
        whole
    };
    (!range.is_empty()).then_some((kind, range))
}
