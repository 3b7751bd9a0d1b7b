//! The strict pass says what serde_json says of the same bytes, read with a visitor that looks for a key twice.

use std::collections::BTreeSet;
use std::fmt;

use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::*;

/// Reads any value with serde_json, and refuses a key that an object has twice.
struct Reference;

const DUPLICATE: &str = "a key twice";

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Reference {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut keys = BTreeSet::new();
        let mut twice = false;
        while let Some((key, _)) = map.next_entry::<String, Self>()? {
            twice |= !keys.insert(key);
        }
        if twice { Err(A::Error::custom(DUPLICATE)) } else { Ok(self) }
    }
}

/// What serde_json says: accepted, a key twice, or not JSON. None where it has a rule of its own.
fn reference(bytes: &[u8]) -> Option<&'static str> {
    // We check this for the whole text first, serde_json for each string as it comes.
    if std::str::from_utf8(bytes).is_err() {
        return Some("invalid_jsonrpc");
    }
    match serde_json::from_slice::<Reference>(bytes) {
        Ok(_) => Some("ok"),
        Err(error) if error.to_string().starts_with(DUPLICATE) => Some("duplicate_json_key"),
        Err(error) if error.to_string().starts_with("number out of range") => None,
        Err(_) => Some("invalid_jsonrpc"),
    }
}

fn ours(bytes: &[u8]) -> &'static str {
    check(bytes, LIMITS).map_or_else(|error| error.kind(), |_| "ok")
}

fn agree(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Some(expected) = reference(bytes) {
        prop_assert_eq!(ours(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
    }
    Ok(())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,8}", "[ -~]{30,40}"]
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false", "0", "-1.5e3", "\"\"", "[]", "{}"])
            .prop_map(str::to_owned),
        any::<f64>().prop_map(|number| serde_json::json!(number).to_string()),
        any_text().prop_map(|text| serde_json::json!(text).to_string()),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let key = prop_oneof![
            prop::sample::select(vec!["\"a\"", "\"b\"", r#""\u0061""#, "\"\""]).prop_map(str::to_owned),
            any_text().prop_map(|text| serde_json::json!(text).to_string()),
        ];
        let member = (key, inner.clone()).prop_map(|(key, value)| format!("{key} : {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(" ,"))),
            prop::collection::vec(member, 0..12).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

fn token() -> impl Strategy<Value = &'static [u8]> {
    prop::sample::select(vec![
        &b"{"[..],
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b"\"a\"",
        br#""\u0061""#,
        br#""\ud83d\ude00""#,
        br#""\ud83d""#,
        b"\"",
        b"\\",
        b"0",
        b"1",
        b"-",
        b".5",
        b"e5",
        b"true",
        b"nul",
        b" ",
        b"\n",
        b"\xE9\x9B\xAA",
        b"\xFF",
        b"\x01",
    ])
}

proptest! {
    #[test]
    fn on_values(text in value()) {
        agree(text.as_bytes())?;
    }

    #[test]
    fn on_values_with_a_byte_changed(text in value(), at in any::<prop::sample::Index>(), to in token()) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes.splice(at..=at, to.iter().copied());
        agree(&bytes)?;
    }

    #[test]
    fn on_values_cut_short(text in value(), at in any::<prop::sample::Index>()) {
        let bytes = text.as_bytes();
        agree(&bytes[..at.index(bytes.len() + 1)])?;
    }

    #[test]
    fn on_tokens_in_any_order(tokens in prop::collection::vec(token(), 0..12)) {
        agree(&tokens.concat())?;
    }

    #[test]
    fn on_any_bytes(bytes in any::<Vec<u8>>()) {
        agree(&bytes)?;
    }

    /// Keys written in two ways are one key, keys of different text are two.
    #[test]
    fn on_keys_spelt_in_any_way(a in key(), b in key()) {
        let text = format!("{{{}:0,{}:0}}", a.1, b.1);
        let expected = if a.0 == b.0 { "duplicate_json_key" } else { "ok" };
        prop_assert_eq!(ours(text.as_bytes()), expected, "{}", text);
    }
}

/// A short text, and a JSON string for it with some characters escaped.
fn key() -> impl Strategy<Value = (String, String)> {
    let character = prop::sample::select(vec!['a', 'b', 'é', '雪', '😀', '\n', '"', '\\', '\0']);
    prop::collection::vec((character, any::<bool>()), 0..4).prop_map(|characters| {
        let text: String = characters.iter().map(|(character, _)| *character).collect();
        let mut spelt = String::from("\"");
        for (character, escaped) in characters {
            if escaped || matches!(character, '\0'..='\u{1f}' | '"' | '\\') {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    spelt.push_str(&format!("\\u{unit:04X}"));
                }
            } else {
                spelt.push(character);
            }
        }
        spelt.push('"');
        (text, spelt)
    })
}
