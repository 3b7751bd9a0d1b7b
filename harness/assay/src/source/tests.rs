use std::borrow::Cow;

use serde::Deserialize;
use toml::Spanned;

use super::*;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    #[expect(dead_code, reason = "only its place in the file matters")]
    title: String,
    #[serde(default)]
    item: Vec<Item>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    id: Spanned<String>,
    #[expect(dead_code, reason = "only its type matters")]
    count: u32,
}

fn failure(text: &str) -> SourceError {
    parse_toml::<Sample>("cases/sse/sample.toml", text).expect_err("the sample is wrong")
}

#[test]
fn an_unknown_key_shows_its_line_and_the_known_keys() {
    let error = failure("title = 'a'\n\n[[item]]\nid = 'x'\ncuont = 3\n");
    assert_eq!(error.position(), Some((5, 1)));
    insta::assert_snapshot!(error.rendered());
}

#[test]
fn a_wrong_type_shows_what_was_expected() {
    insta::assert_snapshot!(failure("title = 'a'\n[[item]]\nid = 'x'\ncount = 'three'\n").rendered());
}

#[test]
fn a_missing_key_points_at_its_table() {
    insta::assert_snapshot!(failure("title = 'a'\n\n[[item]]\nid = 'x'\n").rendered());
}

#[test]
fn bad_syntax_points_at_the_byte() {
    insta::assert_snapshot!(failure("title = 'a\n").rendered());
}

#[test]
fn a_semantic_error_points_at_the_value() {
    let text = "title = 'a'\n[[item]]\nid = 'x'\ncount = 1\n[[item]]\nid = 'x'\ncount = 2\n";
    let sample: Sample = parse_toml("cases/sse/sample.toml", text).expect("the sample parses");
    let second = &sample.item[1].id;
    let message = format!("the id {} is used twice", second.get_ref());
    let error = SourceError::at("cases/sse/sample.toml", text, second.span(), message, "give it another id");
    assert_eq!(error.span(), Some(second.span()));
    insta::assert_snapshot!(error.rendered());
}

#[test]
fn control_characters_are_shown_and_the_caret_stays_put() {
    let text = "# \u{1b}[31m red \u{202e}\r\ntitle = '\u{7f}雪' # bad\r\n";
    let at = text.find("# bad").expect("it is there");
    let error =
        SourceError::at("cases/\u{1b}c.toml", text, at..at + 5, "wrong \u{1b}[1m", "line\nline \u{9b}");
    assert_eq!(error.position(), Some((2, 14)));
    let rendered = error.rendered();
    assert!(!rendered.chars().any(|c| c.is_control() && c != '\n'), "{rendered:?}");
    assert!(!error.to_string().contains(char::is_control), "{error}");
    insta::assert_snapshot!(rendered);
}

#[test]
fn a_long_line_is_shown_around_the_mark() {
    let line = format!("title = '{}', other = '{}'", "雪".repeat(3_000), "x".repeat(3_000));
    let text = format!("# {}\n{line}\n# {}\n", "a".repeat(3_000), "b".repeat(3_000));
    let at = text.find("other").expect("it is there");
    let error = SourceError::at("a.toml", &text, at..at + 5, "wrong", "write another one");
    // The column is that of the file, whatever is shown of its line.
    assert_eq!(error.position(), Some((2, 3_013)));
    let rendered = error.rendered();
    assert!(rendered.contains("[a.toml:2:3013]") && rendered.contains("雪', other = 'xxx"), "{rendered}");
    assert!(rendered.len() < 2_500, "{} bytes: {rendered}", rendered.len());
    let value = failure(&format!("title = 'a'\n[[item]]\nid = 'x'\ncount = '{}'\n", "y".repeat(9_000)));
    assert!(value.rendered().len() < 3_000 && value.to_string().len() < 1_000, "{value}");
    let all = SourceError::at("a.toml", &text, at - 3_000..at + 2_000, "wrong", "");
    assert!(all.rendered().len() < 2_500, "{}", all.rendered());
}

#[test]
fn a_control_character_in_toml_is_an_error_that_shows_it() {
    let error = failure("title = 'a'\n# \u{1b}[2J\n");
    assert_eq!(error.position(), Some((2, 3)));
    assert!(error.rendered().contains("# \\x1b[2J"), "{}", error.rendered());
}

#[test]
fn a_span_outside_the_text_is_cut_to_its_end() {
    let error = SourceError::at("a.toml", "雪", 1..90, "wrong", "");
    assert_eq!((error.span(), error.position(), error.help()), (Some(0..3), Some((1, 1)), None));
    let error = SourceError::at("a.toml", "", 5..9, "wrong", "");
    assert_eq!((error.span(), error.position()), (Some(0..0), Some((1, 1))));
    assert!(error.rendered().contains("wrong"));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let error = read(folder.path().join("none.toml"), "cases/none.toml").expect_err("there is no file");
    assert!(error.to_string().starts_with("cases/none.toml: cannot be read: "), "{error}");
    let path = folder.path().join("latin1.toml");
    std::fs::write(&path, b"title = 'a'\nname = '\xe9'\n").expect("written");
    let error = read(&path, "cases/latin1.toml").expect_err("not UTF-8");
    assert_eq!(error.to_string(), "cases/latin1.toml:2:9: not UTF-8");
}

#[test]
fn escaping_borrows_what_is_plain() {
    assert!(matches!(escape("a\\b 雪"), Cow::Borrowed("a\\b 雪")));
    assert!(matches!(escape_lines("a\n\tb"), Cow::Borrowed("a\n\tb")));
    assert_eq!(escape_lines("a\r\nb\rc\u{9b}"), "a\nb\\rc\\x9b");
    assert_eq!(escape("a\u{feff}b\0"), "a\\u{feff}b\\x00");
}

proptest::proptest! {
    /// Nothing in a file, and no span a loader gets wrong, brings the report down or reaches the terminal raw.
    #[test]
    fn any_text_and_span_can_be_reported(text in "(\\PC|[\\x00-\\x7f]|雪|\u{202e}){0,60}", start in 0_usize..80, length in 0_usize..80) {
        let error = SourceError::at("a\u{7}.toml", &text, start..start + length, &text, &text);
        let rendered = error.rendered();
        proptest::prop_assert!(!rendered.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')), "{rendered:?}");
        proptest::prop_assert!(!error.to_string().contains(char::is_control));
        let span = error.span().unwrap_or_default();
        proptest::prop_assert!(text.get(span).is_some_and(|marked| !marked.contains('\n')));
    }
}
