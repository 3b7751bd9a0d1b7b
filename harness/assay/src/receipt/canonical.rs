//! RFC 8785 bytes: one value, one spelling.
//!
//! Receipts hold integers up to 2^53 - 1 and no floats, so that no reader of JSON can see another number. The
//! checking rule for a file is: parse, serialise again, compare. It alone refuses duplicate keys, white space, a
//! byte order mark, a trailing newline, another key order and `1.0`.

use super::problem::Problem;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};
use std::fmt::Write as _;

/// The largest integer that every reader of JSON keeps exactly.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The canonical bytes of a value.
///
/// # Errors
///
/// When it holds a number that is no integer within ±(2^53 - 1), or a map with keys that are no texts.
pub fn to_bytes<T: Serialize>(value: &T, place: &str) -> Result<Vec<u8>, Problem> {
    let bad = |seen: String| {
        Problem::new(
            place,
            "a value that JSON holds exactly",
            seen,
            "report it: the harness writes only such values",
        )
    };
    let value = serde_json::to_value(value).map_err(|e| bad(e.to_string()))?;
    check_numbers(&value).map_err(bad)?;
    Ok(text(&value).into_bytes())
}

/// The canonical text of a value whose numbers have been looked at: integers are written as they are.
///
/// The same as `serde_json_canonicalizer` makes, without a second tree: it is taken of every variant of a run.
pub(crate) fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out, &mut |_, _| false);
    out
}

/// Writes the canonical text of a value behind another one. `leaf` is asked first about each text and number, and says
/// whether it wrote something in its place.
pub(crate) fn write(value: &Value, out: &mut String, leaf: &mut impl FnMut(&Value, &mut String) -> bool) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(is) => out.push_str(if *is { "true" } else { "false" }),
        Value::Number(_) | Value::String(_) if leaf(value, out) => {}
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out, leaf);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            // Up to U+DFFF, UTF-16 sorts as UTF-8 does, where every byte is below 0xEE.
            if members.iter().all(|(key, _)| key.bytes().all(|byte| byte < 0xEE)) {
                members.sort_unstable_by_key(|(key, _)| key.as_str());
            } else {
                members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            }
            out.push('{');
            for (at, (key, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write(value, out, leaf);
            }
            out.push('}');
        }
    }
}

fn write_number(number: &Number, out: &mut String) {
    let exact = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
    if exact.is_some_and(|size| size <= MAX_INTEGER) {
        // Writing into a String cannot fail.
        let _ = write!(out, "{number}");
    } else {
        // How a double is spelled is the crate's to know. Only what is not finite could fail, and no JSON holds that.
        let spelled = serde_json_canonicalizer::to_string(number);
        out.push_str(&spelled.unwrap_or_else(|_| number.to_string()));
    }
}

/// Writes a text in quotes, with the escapes of RFC 8785, section 3.2.2.2.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            0x09 => "\\t",
            0x0A => "\\n",
            0x0C => "\\f",
            0x0D => "\\r",
            0x00..=0x1F => "",
            _ => continue,
        };
        // An ASCII byte stands on the border of a character.
        out.push_str(text.get(from..at).unwrap_or_default());
        from = at + 1;
        if short.is_empty() {
            // Writing into a String cannot fail.
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(short);
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out.push('"');
}

/// Reads canonical bytes strictly.
///
/// # Errors
///
/// When they are no JSON, not canonical, or not of this shape.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8], place: &str) -> Result<T, Problem> {
    const REMEDY: &str = "restore the file as the harness wrote it";
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|e| Problem::new(place, "canonical JSON (RFC 8785)", e.to_string(), REMEDY))?;
    check_numbers(&value).map_err(|seen| Problem::new(place, "integers within ±(2^53 - 1)", seen, REMEDY))?;
    let again = text(&value);
    if again.as_bytes() != bytes {
        let at = again.bytes().zip(bytes).take_while(|(a, b)| a == *b).count();
        let seen = format!(
            "another spelling from byte {at} on (a duplicate key, white space, key order or a number)"
        );
        return Err(Problem::new(place, "canonical JSON (RFC 8785)", seen, REMEDY));
    }
    serde_json::from_value(value)
        .map_err(|e| Problem::new(place, "the members its schema names", e.to_string(), REMEDY))
}

fn check_numbers(value: &Value) -> Result<(), String> {
    match value {
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
            if size.is_some_and(|size| size <= MAX_INTEGER) {
                Ok(())
            } else {
                Err(format!("the number {number}"))
            }
        }
        Value::Array(items) => items.iter().try_for_each(check_numbers),
        Value::Object(members) => members.values().try_for_each(check_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[\u{0}-\u{7f}]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let key = prop_oneof![any::<String>(), "[a-c\u{e000}\u{1f600}]{0,2}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..4)
                    .prop_map(|members| members.into_iter().collect::<Value>()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_text_is_spelled_as_the_crate_spells_it(value in values()) {
            prop_assert_eq!(text(&value), serde_json_canonicalizer::to_string(&value).unwrap());
        }
    }

    #[test]
    fn keys_sort_by_utf16_and_controls_are_escaped() {
        // RFC 8785, sections 3.2.2 and 3.2.3: U+1F600 sorts before U+FB33 by its first UTF-16 unit.
        let value =
            json!({ "\u{fb33}": 1, "\u{1f600}": 2, "\u{20ac}": 3, "\r": "\u{f}\u{8}\"\\/", "1": null });
        let expected =
            "{\"\\r\":\"\\u000f\\b\\\"\\\\/\",\"1\":null,\"\u{20ac}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}";
        assert_eq!(String::from_utf8(to_bytes(&value, "x").unwrap()).unwrap(), expected);
    }

    #[test]
    fn other_spellings_of_the_same_value_are_refused() {
        let good = br#"{"a":9007199254740991,"b":[-1,"x"]}"#;
        assert_eq!(from_bytes::<Value>(good, "x").unwrap(), json!({ "a": MAX_INTEGER, "b": [-1, "x"] }));
        let bad: [&[u8]; 11] = [
            br#"{"a":1,"a":1}"#,
            br#"{"b":1,"a":1}"#,
            br#"{"a": 1}"#,
            b"{\"a\":1}\n",
            b"\xef\xbb\xbf{\"a\":1}",
            br#"{"a":1.0}"#,
            br#"{"a":1.5}"#,
            br#"{"a":9007199254740992}"#,
            br#"{"a":-9007199254740992}"#,
            br#"{"a":"\u0041"}"#,
            br#"{"a":"#,
        ];
        for bytes in bad {
            let problem = from_bytes::<Value>(bytes, "claims/sse/bom.json").unwrap_err();
            assert_eq!(problem.place, "claims/sse/bom.json");
        }
    }

    #[test]
    fn numbers_that_json_cannot_hold_exactly_are_not_written() {
        assert!(to_bytes(&json!(1.5), "x").is_err());
        assert!(to_bytes(&json!([MAX_INTEGER + 1]), "x").is_err());
        assert!(to_bytes(&json!(i64::MIN), "x").is_err());
    }
}
