use super::*;

mod against_serde;

const LIMITS: JsonLimits = JsonLimits { depth: 128, nodes: 10_000 };

fn syntax(offset: usize) -> Result<(), Error> {
    Err(Error::InvalidJsonrpc(JsonrpcFault::Syntax { offset }))
}

fn duplicate(offset: usize) -> Result<(), Error> {
    Err(Error::DuplicateJsonKey { offset })
}

fn limited(text: &str, depth: usize, nodes: usize) -> Result<(), Error> {
    check_text(text, JsonLimits { depth, nodes })
}

#[test]
fn every_kind_of_value_is_accepted() {
    for text in [
        "null",
        " \t\r\n true \n",
        "false",
        "0",
        "-0",
        "-0.0e-0",
        "10.25E+10",
        "1e999999",
        "123456789012345678901234567890",
        "\"\"",
        r#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00""#,
        "\"\u{7f}\u{2028}雪\"",
        "[]",
        "{}",
        "[ ]",
        "{ }",
        r#"{"a":[1,{"b":{}}],"c":"d"}"#,
        r#"{"":{"":{"":[]}}}"#,
    ] {
        assert_eq!(check_text(text, LIMITS), Ok(()), "{text}");
    }
}

#[test]
fn what_the_grammar_has_not_is_refused_where_it_stands() {
    for (text, offset) in [
        ("", 0),
        (" ", 1),
        ("\u{feff}1", 0),
        ("tru", 3),
        ("True", 0),
        ("nul1", 3),
        ("NaN", 0),
        ("Infinity", 0),
        ("-", 1),
        ("-a", 1),
        ("+1", 0),
        ("01", 1),
        ("-01", 2),
        (".5", 0),
        ("1.", 2),
        ("1.e5", 2),
        ("1e", 2),
        ("1e+", 3),
        ("0x10", 1),
        ("1 2", 2),
        ("[1,]", 3),
        ("[,1]", 1),
        ("[1 2]", 3),
        ("[", 1),
        ("[1", 2),
        ("[}", 1),
        ("]", 0),
        ("{", 1),
        ("{]", 1),
        ("{a:1}", 1),
        ("{'a':1}", 1),
        ("{\"a\"}", 4),
        ("{\"a\" 1}", 5),
        ("{\"a\":}", 5),
        ("{\"a\":1,}", 7),
        ("{\"a\":1 \"b\":2}", 7),
        ("{1:2}", 1),
        ("[1]]", 3),
        ("[1] // no", 4),
        ("/**/1", 0),
        ("\"", 1),
        ("\"a", 2),
        ("\"a\nb\"", 2),
        ("\"\u{0}\"", 1),
        ("\"\u{1f}\"", 1),
        ("\u{a0}1", 0),
        ("\u{b}1", 0),
    ] {
        assert_eq!(check_text(text, LIMITS), syntax(offset), "{text:?}");
    }
}

#[test]
fn escapes_name_characters() {
    for (text, offset) in [
        (r#""\x41""#, 2),
        (r#""\'""#, 2),
        (r#""\u12""#, 5),
        (r#""\u12G4""#, 5),
        (r#""\U0041""#, 2),
        (r#""\"#, 2),
        // Half a surrogate pair, at its end, in the wrong order, or with something else between.
        (r#""\uD83D""#, 7),
        (r#""\uD83Dx""#, 7),
        (r#""\uD83D\n""#, 8),
        (r#""\uD83D\uD83D""#, 13),
        (r#""\uDE00\uD83D""#, 7),
    ] {
        assert_eq!(check_text(text, LIMITS), syntax(offset), "{text}");
    }
}

#[test]
fn a_control_byte_is_found_in_long_strings_too() {
    for length in (0..20).chain([100]) {
        let text = format!("\"{}\u{1}{}\"", "é".repeat(length), "x".repeat(length));
        assert_eq!(check_text(&text, LIMITS), syntax(1 + 2 * length));
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    let fault = |bytes: &[u8]| check(bytes, LIMITS).map(drop);
    for (bytes, offset) in [
        (&b"\"\xFF\""[..], 1),
        (b"\"a\xC0\xAF\"", 2),
        (b"\"\xED\xA0\x80\"", 1),
        (b"\"\xF4\x90\x80\x80\"", 1),
        (b"\"\xE9\x9B\"", 1),
    ] {
        assert_eq!(fault(bytes), Err(Error::InvalidJsonrpc(JsonrpcFault::Utf8 { offset })), "{bytes:?}");
    }
}

/// Rows EX-JS-10, EX-JS-11.
#[test]
fn keys_are_compared_after_unescaping() {
    for (text, offset) in [
        (r#"{"a":1,"a":2}"#, 12),
        (r#"{"a":1,"\u0061":2}"#, 17),
        (r#"{"/":1,"\/":2}"#, 13),
        (r#"{"":1,"":2}"#, 10),
        (r#"{"😀":1,"\ud83d\ude00":2}"#, 26),
        (r#"{"\n":1,"\u000A":2}"#, 18),
        (r#"{"a":{"b":[{"c":1,"c":2}]}}"#, 23),
        (r#"[{"k":1},{"k":1,"k":1}]"#, 21),
        (r#"{"prefix-the-same-1":1,"prefix-the-same-2":2,"prefix-the-same-1":3}"#, 66),
    ] {
        assert_eq!(check_text(text, LIMITS), duplicate(offset), "{text}");
    }
    for text in [
        r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#,
        r#"[{"a":1},{"a":1}]"#,
        r#"{"a":1,"A":2,"a ":3,"á":4}"#,
        r#"{"a":1,"a\u0000":2,"a\u0000\u0000":3,"":4,"\u0000":5}"#,
        r#"{"12345678":1,"123456789":2,"1234567":3}"#,
        r#"{"\\u0061":1,"a":2}"#,
    ] {
        assert_eq!(check_text(text, LIMITS), Ok(()), "{text}");
    }
}

#[test]
fn a_key_twice_is_found_among_many() {
    let object = |keys: &[String]| {
        let members: Vec<_> = keys.iter().map(|key| format!("\"{key}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    for count in [2, 8, 9, 100, 1_000] {
        let mut keys: Vec<_> = (0..count).map(|number| format!("a-long-common-prefix-{number}")).collect();
        assert_eq!(check_text(&object(&keys), LIMITS), Ok(()), "{count}");
        keys[count - 1] = r"a-long-common-prefix\u002d0".to_owned();
        assert_eq!(check_text(&object(&keys), LIMITS).unwrap_err().kind(), "duplicate_json_key", "{count}");
    }
}

/// The hash of a key has no secret, so a server can make keys collide; the text then decides.
#[test]
fn keys_that_collide_are_told_apart() {
    // A second word that undoes what the first one did, wherever it happens to be printable.
    let state = |word: u64| word.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(5);
    let keys: Vec<String> = (0..100_000_u64)
        .map(|number| format!("{:08}", number * 499_979 % 100_000_000))
        .filter_map(|first| {
            let word = u64::from_le_bytes(first.as_bytes().try_into().unwrap());
            let second = (state(word) ^ 0x5A5A_5A5A_5A5A_5A5A).to_le_bytes();
            let printable = second.iter().all(|byte| matches!(byte, b' '..=b'~') && !b"\"\\".contains(byte));
            printable.then(|| first + std::str::from_utf8(&second).unwrap())
        })
        .collect();
    assert!(keys.len() > 8, "{}", keys.len());
    let span = |key: &str| scan::Span { start: 0, end: key.len(), escaped: false };
    let hashes: Vec<_> = keys.iter().map(|key| Key::new(key.as_bytes(), span(key)).hash()).collect();
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "they collide");
    let object = |keys: &[String]| {
        let members: Vec<_> = keys.iter().map(|key| format!("\"{key}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert_eq!(check_text(&object(&keys), LIMITS), Ok(()));
    let twice = [&keys[..], &keys[..1]].concat();
    assert_eq!(check_text(&object(&twice), LIMITS).unwrap_err().kind(), "duplicate_json_key");
}

#[test]
fn of_several_faults_the_one_that_ends_first_is_reported() {
    assert_eq!(check_text(r#"[{"a":1,"a":1},x"#, LIMITS), duplicate(13));
    assert_eq!(check_text(r#"{"a":1,"a":1,x"#, LIMITS), syntax(13));
    assert_eq!(limited(r#"[{"a":1,"a":1},0]"#, 9, 4), duplicate(13));
    assert_eq!(limited(r#"{"a":1,"a":1}"#, 9, 2), Err(Error::JsonNodeLimit { limit: 2 }));
}

#[test]
fn depth_counts_arrays_and_objects_inclusively() {
    assert_eq!(limited("0", 1, 9), Ok(()));
    for (text, depth) in [("[]", 1), ("[[]]", 2), (r#"{"a":[{}]}"#, 3), (r#"[[],[],{"a":{}}]"#, 3)] {
        assert_eq!(limited(text, depth, 99), Ok(()), "{text}");
        let limit = depth - 1;
        assert_eq!(limited(text, limit, 99), Err(Error::JsonDepthLimit { limit }), "{text}");
    }
}

#[test]
fn nodes_count_values_and_not_keys_inclusively() {
    for (text, nodes) in [("0", 1), ("[]", 1), ("[1,2]", 3), (r#"{"a":1,"b":[true,null]}"#, 5)] {
        assert_eq!(limited(text, 9, nodes), Ok(()), "{text}");
        let limit = nodes - 1;
        assert_eq!(limited(text, 9, limit), Err(Error::JsonNodeLimit { limit }), "{text}");
    }
}

#[test]
fn depth_costs_no_stack() {
    let depth = 1_000_000;
    let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(limited(&text, depth, depth), Ok(()));
    assert_eq!(check_text(&"[".repeat(depth), LIMITS), Err(Error::JsonDepthLimit { limit: 128 }));
    let objects = "{\"a\":".repeat(depth);
    assert_eq!(limited(&objects, depth, depth + 1), syntax(objects.len()));
}

/// The bound that the module states.
#[test]
fn memory_is_what_the_limits_allow() {
    assert_eq!(size_of::<Frame>(), 16);
    assert_eq!(size_of::<Key>(), 24);
}
