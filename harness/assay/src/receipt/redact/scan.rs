//! Which values are replaced, and by which token.

use super::SEARCHED;
use crate::hidden::{self, Kind};
use memchr::memmem::{self, Finder};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Where a colon and a port follow.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The tokens of one variant.
pub(super) struct Tokens<'a> {
    public: Vec<&'a str>,
    /// What was asked of the public texts before: the same few values come in every request and reply.
    asked: RefCell<BTreeMap<Vec<u8>, bool>>,
    known: BTreeMap<(Kind, Vec<u8>), String>,
    counts: BTreeMap<Kind, usize>,
    searched: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(public: &[&'a str]) -> Self {
        let (asked, known, counts) = (RefCell::default(), BTreeMap::new(), BTreeMap::new());
        Self { public: public.to_vec(), asked, known, counts, searched: 0 }
    }

    /// How many values are known that may stand anywhere.
    pub(super) fn searched(&self) -> usize {
        self.searched
    }

    /// Learns the values of a request's headers.
    pub(super) fn learn_headers(&mut self, headers: &[(String, String)]) {
        for (name, value) in headers {
            match hidden::hidden(name, value) {
                Some((kind, range)) => self.add(kind, &value.as_bytes()[range]),
                None => self.learn(value.as_bytes()),
            }
        }
    }

    /// Learns the values in some bytes.
    pub(super) fn learn(&mut self, bytes: &[u8]) {
        for (kind, range) in hidden::hidden_lines(bytes) {
            self.add(kind, &bytes[range]);
        }
        for (host, port) in ports(bytes) {
            if !self.is_public(&bytes[host..port.end]) {
                self.add_private(Kind::Port, &bytes[port]);
            }
        }
        for uuid in uuids(bytes) {
            self.add(Kind::Uuid, &bytes[uuid]);
        }
    }

    /// The token of a header's hidden value; none where it is public.
    pub(super) fn of_field(&self, kind: Kind, value: &[u8]) -> Option<&str> {
        self.known.get(&(kind, value.to_vec())).map(String::as_str)
    }

    /// What is to be replaced in some bytes, in order, without overlaps: what starts first wins, and of two that start
    /// together the header's value goes before a known value, that before a pattern.
    pub(super) fn find(&self, bytes: &[u8]) -> Vec<(Range<usize>, &str)> {
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for (kind, range) in hidden::hidden_lines(bytes) {
            found.extend(self.of_field(kind, &bytes[range.clone()]).map(|token| (range, token)));
        }
        for ((kind, value), token) in &self.known {
            if is_searched(*kind, value) {
                found
                    .extend(memmem::find_iter(bytes, value).map(|at| (at..at + value.len(), token.as_str())));
            }
        }
        for (host, port) in ports(bytes) {
            if !self.is_public(&bytes[host..port.end]) {
                found.extend(self.of_field(Kind::Port, &bytes[port.clone()]).map(|token| (port, token)));
            }
        }
        for uuid in uuids(bytes) {
            found.extend(self.of_field(Kind::Uuid, &bytes[uuid.clone()]).map(|token| (uuid, token)));
        }
        found.sort_by_key(|(range, _)| range.start);
        let mut end = 0;
        found.retain(|(range, _)| {
            let free = range.start >= end;
            end = if free { range.end } else { end };
            free
        });
        found
    }

    fn add(&mut self, kind: Kind, value: &[u8]) {
        if !self.is_public(value) {
            self.add_private(kind, value);
        }
    }

    fn add_private(&mut self, kind: Kind, value: &[u8]) {
        let key = (kind, value.to_vec());
        if self.known.contains_key(&key) || is_token(value) {
            return;
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let (name, filled) = match kind {
            Kind::Port => ("port", 0),
            Kind::Session => ("session", value.len()),
            Kind::Uuid => ("uuid", value.len()),
            Kind::Secret => ("secret", 0),
        };
        let token = format!("{:.<1$}>", format!("<{name}:{count}"), filled.saturating_sub(1));
        self.searched += usize::from(is_searched(kind, value));
        self.known.insert(key, token);
    }

    fn is_public(&self, value: &[u8]) -> bool {
        if let Some(is) = self.asked.borrow().get(value) {
            return *is;
        }
        let value = Finder::new(value);
        let is = self.public.iter().any(|text| value.find(text.as_bytes()).is_some());
        self.asked.borrow_mut().insert(value.needle().to_vec(), is);
        is
    }
}

/// Whether a value is replaced wherever it comes.
fn is_searched(kind: Kind, value: &[u8]) -> bool {
    matches!(kind, Kind::Session | Kind::Secret) && value.len() >= SEARCHED
}

/// Whether the value is a token already, as in a timeline that was redacted before.
fn is_token(value: &[u8]) -> bool {
    ["<session:", "<secret:"].iter().any(|token| value.starts_with(token.as_bytes())) && value.ends_with(b">")
}

/// Ports of the loopback interface: where the host begins, and the digits.
fn ports(bytes: &[u8]) -> impl Iterator<Item = (usize, Range<usize>)> {
    memchr::memchr_iter(b':', bytes).filter_map(|colon| {
        let (before, start) = (&bytes[..colon], colon + 1);
        let digits = bytes[start..].iter().take(6).take_while(|b| b.is_ascii_digit()).count();
        let host = HOSTS.iter().find(|host| before.ends_with(host.as_bytes()));
        host.filter(|_| (1..=5).contains(&digits)).map(|host| (colon - host.len(), start..start + digits))
    })
}

/// UUIDs: 8-4-4-4-12 hexadecimal digits that no further one touches.
fn uuids(bytes: &[u8]) -> Vec<Range<usize>> {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    let mut found: Vec<Range<usize>> = Vec::new();
    for dash in memchr::memchr_iter(b'-', bytes) {
        let Some(start) = dash.checked_sub(8) else { continue };
        let Some(text) = bytes.get(start..start + 36).filter(|text| text[13] == b'-') else { continue };
        let groups = text.split(|b| *b == b'-');
        let shaped = groups.clone().map(<[u8]>::len).eq(GROUPS)
            && groups.flatten().all(u8::is_ascii_hexdigit)
            && !start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_hexdigit)
            && !bytes.get(start + 36).is_some_and(u8::is_ascii_hexdigit);
        if shaped && found.last().is_none_or(|last| last.end <= start) {
            found.push(start..start + 36);
        }
    }
    found
}
