//! How much memory JSON takes once it is parsed, told before it is: a short text may stand for very much of it.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::cell::Cell;
use std::fmt;

/// One value in a list, bytes.
const VALUE: u64 = 32;

/// One node of an object's tree, which has room for some members, bytes.
const NODE: u64 = 640;

/// How many members fill a node at least, but for the last one.
const MEMBERS: u64 = 5;

/// What a parsed value takes, in bytes: an estimate that is rather too large.
#[must_use]
pub(crate) fn weight(value: &Value) -> u64 {
    let below = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => len(text),
        Value::Array(values) => values.iter().map(weight).fold(0, u64::saturating_add),
        Value::Object(members) => {
            let each = members.iter().map(|(name, value)| len(name).saturating_add(weight(value)));
            each.fold(nodes(members.len() as u64), u64::saturating_add)
        }
    };
    VALUE.saturating_add(below)
}

/// What JSON text would take as a parsed value, in bytes, without parsing it into one; `Err` if that is more than
/// `most`, and nothing for what is no JSON. Takes no memory of its own.
pub(crate) fn weigh(text: &[u8], most: u64) -> Result<Option<u64>, TooHeavy> {
    let scale = Scale { weight: Cell::new(0), most };
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = (&scale).deserialize(&mut reader).and_then(|()| reader.end());
    match read {
        _ if scale.weight.get() > most => Err(TooHeavy),
        Ok(()) => Ok(Some(scale.weight.get())),
        Err(_) => Ok(None),
    }
}

/// It would take too much memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TooHeavy;

fn len(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

fn nodes(members: u64) -> u64 {
    members.div_ceil(MEMBERS).saturating_mul(NODE)
}

struct Scale {
    weight: Cell<u64>,
    most: u64,
}

impl Scale {
    fn add<E: serde::de::Error>(&self, weight: u64) -> Result<(), E> {
        self.weight.set(self.weight.get().saturating_add(weight));
        if self.weight.get() > self.most { Err(E::custom("too heavy")) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for &Scale {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &Scale {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.add(VALUE.saturating_add(len(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        self.add::<A::Error>(VALUE)?;
        while values.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.add::<A::Error>(VALUE)?;
        let mut count = 0;
        while members.next_key_seed(self)?.is_some() {
            // A node's price is due with its first member.
            if count % MEMBERS == 0 {
                self.add::<A::Error>(NODE)?;
            }
            count += 1;
            members.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{TooHeavy, weigh, weight};
    use serde_json::Value;

    #[test]
    fn text_weighs_about_what_it_becomes() {
        for text in ["null", "[]", "{}", "[1,2.5,-3,true]", r#"{"a":{"b":["c","d"]},"e":"f"}"#] {
            let value: Value = serde_json::from_str(text).unwrap();
            let (before, after) = (weigh(text.as_bytes(), 1 << 20).unwrap().unwrap(), weight(&value));
            assert!(before >= after && before - after < 400, "{text}: {before} and {after}");
        }
    }

    #[test]
    fn a_short_text_may_be_too_heavy() {
        let text = format!("[{}0]", "0,".repeat(10_000));
        assert_eq!(weigh(text.as_bytes(), 100_000), Err(TooHeavy));
        assert!(weigh(text.as_bytes(), 1 << 20).unwrap().is_some_and(|weight| weight > 300_000));
        let text = format!("[{}0]", r#"{"a":0},"#.repeat(1_000));
        assert_eq!(weigh(text.as_bytes(), 500_000), Err(TooHeavy));
    }

    #[test]
    fn what_is_no_json_weighs_nothing() {
        for text in ["", "{", "[1] 2", "\u{1}"] {
            assert_eq!(weigh(text.as_bytes(), 1 << 20), Ok(None), "{text}");
        }
        assert_eq!(weigh(b"\"\xff\"", 1 << 20), Ok(None));
    }
}
