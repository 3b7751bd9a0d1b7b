//! Typed tokens: what differs between two runs of the same dialogue (ports, session ids, UUIDs, credentials) is
//! replaced by its kind and a number, so that equal things stay equal and nothing else of them is left.

use std::borrow::Cow;
use std::collections::HashMap;

/// Values already given a token, by kind, in the order they were met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    ports: Numbers,
    sessions: Numbers,
    uuids: Numbers,
    secrets: Numbers,
}

/// Values of one kind, each with its number.
#[derive(Clone, Debug, Default)]
struct Numbers {
    values: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Numbers {
    /// The number of a value, counted from 1 in the order values are first met.
    fn number(&mut self, value: &str) -> usize {
        if let Some(number) = self.numbers.get(value) {
            return *number;
        }
        self.values.push(value.to_owned());
        self.numbers.insert(value.to_owned(), self.values.len());
        self.values.len()
    }
}

/// The shortest session id that is looked for inside other texts: a shorter one may be part of any word.
const SHORTEST_SESSION: usize = 8;

/// The length of a UUID.
const UUID: usize = 36;

/// Hosts of the peer; digits behind one of them and a colon are a port.
const HOSTS: [&str; 3] = ["127.0.0.1:", "localhost:", "[::1]:"];

impl Tokens {
    /// Knows these session ids before any text is read; they are numbered as they come.
    pub(crate) fn with_sessions<'a>(sessions: impl IntoIterator<Item = &'a str>) -> Self {
        let mut tokens = Self::default();
        for session in sessions {
            tokens.sessions.number(session);
        }
        tokens
    }

    /// The token of a session id.
    pub(crate) fn session(&mut self, value: &str) -> String {
        format!("<session:{}>", self.sessions.number(value))
    }

    /// The token of a credential. Its scheme word (`Bearer`) stays.
    pub(crate) fn secret(&mut self, value: &str) -> String {
        match value.split_once(' ') {
            Some((scheme, rest)) => format!("{scheme} <token:{}>", self.secrets.number(rest)),
            None => format!("<token:{}>", self.secrets.number(value)),
        }
    }

    /// A text with the ports, UUIDs and known session ids in it replaced.
    pub(crate) fn text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if !self.may_hold_one(text) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(c) = rest.chars().next() {
            let (len, token) = self.token_at(rest, before).unwrap_or_else(|| (c.len_utf8(), None));
            let (taken, after) = rest.split_at(len);
            match token {
                Some(token) => out.push_str(&token),
                None => out.push_str(taken),
            }
            before = taken.chars().next_back();
            rest = after;
        }
        Cow::Owned(out)
    }

    /// Whether a look at each character can find anything at all: most texts are over before it.
    fn may_hold_one(&self, text: &str) -> bool {
        let mut known = self.sessions.values.iter().filter(|session| session.len() >= SHORTEST_SESSION);
        text.len() >= UUID && text.contains('-')
            || text.contains(':') && HOSTS.iter().any(|host| text.contains(host))
            || known.any(|session| text.contains(session.as_str()))
    }

    /// Whether something that takes a token begins here: its length and what replaces it.
    fn token_at(&mut self, rest: &str, before: Option<char>) -> Option<(usize, Option<String>)> {
        if before.is_some_and(char::is_alphanumeric) {
            return None;
        }
        let ends_word =
            |len: usize| rest.get(len..).is_some_and(|r| !r.starts_with(|c: char| c.is_alphanumeric()));
        if let Some(index) = self.sessions.values.iter().position(|session| {
            session.len() >= SHORTEST_SESSION
                && rest.starts_with(session.as_str())
                && ends_word(session.len())
        }) {
            let len = self.sessions.values.get(index).map_or(0, String::len);
            return Some((len, Some(format!("<session:{}>", index + 1))));
        }
        if let Some(uuid) = rest.get(..UUID).filter(|text| is_uuid(text) && ends_word(UUID)) {
            return Some((UUID, Some(format!("<uuid:{}>", self.uuids.number(uuid)))));
        }
        let host = HOSTS.into_iter().find(|host| rest.starts_with(host))?;
        let digits = rest.get(host.len()..)?.bytes().take_while(u8::is_ascii_digit).count();
        let port = rest.get(host.len()..host.len() + digits).filter(|port| (1..=5).contains(&port.len()))?;
        let token = format!("{host}<port:{}>", self.ports.number(port));
        Some((host.len() + digits, Some(token)))
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == UUID
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_uuids_are_numbered_by_first_sight_and_equal_ones_share_a_number() {
        let mut tokens = Tokens::default();
        let id = "0b2c1e38-94b1-4d8f-9a55-0123456789ab";
        assert_eq!(
            tokens.text(&format!("http://127.0.0.1:4711/mcp {id}, 127.0.0.1:4712 and 127.0.0.1:4711 {id}")),
            "http://127.0.0.1:<port:1>/mcp <uuid:1>, 127.0.0.1:<port:2> and 127.0.0.1:<port:1> <uuid:1>"
        );
    }

    #[test]
    fn a_session_id_is_found_as_a_whole_word_only_and_a_short_one_never() {
        let mut tokens = Tokens::with_sessions(["sess-0001", "s"]);
        assert_eq!(tokens.text("s sess-0001 sess-00011 xsess-0001"), "s <session:1> sess-00011 xsess-0001");
        assert_eq!(tokens.session("s"), "<session:2>");
        assert_eq!(tokens.session("new"), "<session:3>");
    }

    #[test]
    fn a_credential_keeps_its_scheme() {
        let mut tokens = Tokens::default();
        assert_eq!(tokens.secret("Bearer abc"), "Bearer <token:1>");
        assert_eq!(tokens.secret("Bearer xyz"), "Bearer <token:2>");
        assert_eq!(tokens.secret("abc"), "<token:1>");
    }

    #[test]
    fn text_without_anything_of_the_kind_is_unchanged() {
        for text in ["", "雪 127.0.0.1: x", "127.0.0.1:123456", "0b2c1e38-94b1-4d8f-9a55-0123456789abc"] {
            assert_eq!(Tokens::default().text(text), text);
        }
    }
}
