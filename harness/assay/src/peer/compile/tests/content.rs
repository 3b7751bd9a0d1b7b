//! Items, tokens and server-sent events.

use super::{CALL, CompileError, body, compile_for, compiled, marks, request, text, try_compiled};
use crate::revision::Revision;

fn stream(items: &str) -> String {
    body(&format!("framing = \"close\"\nstream = [{items}]"))
}

fn plain(items: &str) -> String {
    body(&format!("body = [{items}]"))
}

#[test]
fn messages_have_their_keys_in_order() {
    assert_eq!(
        plain(r#"{ result = "snow \"雪\"" }"#),
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"snow \"雪\""}]}}"#
    );
    assert_eq!(
        plain("{ result_json = { tools = [], x = \"{{id}}{{arg.text}}\" } }"),
        r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[],"x":"7a \"b\"\n雪"}}"#
    );
    assert_eq!(
        plain(r#"{ error = { code = -32000, message = "no {{session}}", data = { a = 1 } } }"#),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"no s1","data":{"a":1}}}"#
    );
    assert_eq!(
        plain(r#"{ error = { code = 1, message = "m" } }"#),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#
    );
    assert_eq!(
        plain(r#"{ request = { id = "\"ping\"", method = "ping" } }"#),
        r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#
    );
    assert_eq!(
        plain(r#"{ note = { method = "notifications/progress", params = { progress = 1 } } }"#),
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#
    );
}

#[test]
fn a_modern_result_says_it_is_complete() {
    let modern = compile_for(&request("POST", CALL), Revision::V20260728, "body = [{ result = \"x\" }]");
    let modern = modern.expect("the rule can be carried out");
    assert!(
        text(&modern)
            .ends_with(r#""result":{"content":[{"type":"text","text":"x"}],"resultType":"complete"}}"#)
    );
}

#[test]
fn ids_are_as_the_item_says() {
    for (id, key) in [
        (r#""\"7\"""#, r#""id":"7","#),
        (r#""{{id}}.0""#, r#""id":7.0,"#),
        (r#""null""#, r#""id":null,"#),
        (r#""""#, ""),
    ] {
        let expected = format!(r#"{{"jsonrpc":"2.0",{key}"result":{{"ok":true}}}}"#);
        assert_eq!(plain(&format!("{{ result_json = {{ ok = true }}, id = {id} }}")), expected);
    }
}

#[test]
fn tokens_in_raw_text_are_escaped_for_json() {
    assert_eq!(
        plain(
            r#"{ json = '{"id":{{id}},"a":"{{arg.text}}","n":{{arg.n}},"none":"{{arg.none}}","o":{{"x":1}}}' }"#
        ),
        r#"{"id":7,"a":"a \"b\"\n雪","n":4,"none":"","o":{{"x":1}}}"#
    );
    let unknown = try_compiled("body = [{ text = \"{{arg}}\" }]");
    assert_eq!(unknown, Err(CompileError::UnknownToken("arg".to_owned())));
}

#[test]
fn the_host_is_the_one_that_the_request_names() {
    let rule = r#"body = [{ text = '{"at":"http://{{host}}/x"}' }]"#;
    for (host, expected) in [(Some("127.0.0.1:9"), "127.0.0.1:9"), (Some("a\"b"), r#"a\"b"#), (None, "")] {
        let mut request = request("POST", CALL);
        request.headers.extend(host.map(|host| ("host".to_owned(), host.to_owned())));
        let compiled = compile_for(&request, Revision::V20250618, rule).expect("the rule can be carried out");
        assert_eq!(&text(&compiled)[compiled.body.clone()], format!(r#"{{"at":"http://{expected}/x"}}"#));
    }
}

#[test]
fn streams_encode_messages_as_events() {
    let message = r#"data: {"jsonrpc":"2.0","id":7,"result":{"ok":1}}"#;
    let item = "{ result_json = { ok = 1 } }";
    assert_eq!(stream(item), format!("{message}\n\n"));
    assert_eq!(
        body(&format!("framing = \"close\"\neol = \"crlf\"\nstream = [{item}]")),
        format!("{message}\r\n\r\n")
    );
    assert_eq!(stream(r#"{ result_json = { ok = 1 }, eol = "cr" }"#), format!("{message}\r\r"));
    assert_eq!(stream(r#"{ json = "[1,\n2]" }"#), "data: [1,\ndata: 2]\n\n");
    assert_eq!(stream(r#"{ event = ["id: {{id}}", "data:"], eol = "crlf" }"#), "id: 7\r\ndata:\r\n\r\n");
    assert_eq!(stream(r#"{ text = ": x\n" }, { hex = "EF bb bf" }"#), ": x\n\u{FEFF}");
}

#[test]
fn items_repeat_and_nest() {
    assert_eq!(plain(r#"{ repeat = ":", times = 5, then = "\n" }"#), ":::::\n");
    assert_eq!(plain(r#"{ repeat = "{{n}},", times = 3 }"#), "1,2,3,");
    assert_eq!(plain(r#"{ text = "{{n}};", times = 3 }"#), "1;2;3;");
    assert_eq!(plain(r#"{ items = [{ text = "a{{n}}" }, { text = "b" }], times = 2 }"#), "a1ba2b");
    assert_eq!(
        plain(r#"{ bytes = { result_json = {} }, id = "9" }"#),
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#
    );
    let nested = stream(r#"{ bytes = { items = [{ result_json = {} }] }, eol = "cr" }"#);
    assert_eq!(nested, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\r\r");
}

#[test]
fn the_terminal_is_the_reply_to_the_request_or_what_the_case_says() {
    let terminal = |items: &str| {
        let compiled = compiled(&format!("framing = \"close\"\nstream = [{items}]"));
        (marks(&compiled, "terminal"), compiled.suffix.start - compiled.head.end)
    };
    let message = stream("{ result_json = {} }").len();
    assert_eq!(terminal("{ result_json = {} }, { text = \"later\" }"), (vec![message], message));
    let foreign = "{ result_json = {}, id = \"9\" }";
    assert_eq!(terminal(&format!("{foreign}, {{ result_json = {{}} }}")), (vec![2 * message], 2 * message));
    assert_eq!(terminal(&format!("{{ text = \"\\n\" }}, {foreign}")), (vec![message + 1], message + 1));
    assert_eq!(
        terminal("{ event = [\"data: x\"], mark = \"terminal\" }, { result_json = {} }"),
        (vec![9], 9)
    );
    assert_eq!(terminal("{ text = \"none\" }"), (vec![], 4));
}

#[test]
fn bad_items_are_errors() {
    let problem = |items: &str| try_compiled(&format!("body = [{items}]")).expect_err("an error");
    assert_eq!(problem("{ mark = \"x\" }"), CompileError::ContentKeys { found: 0, names: String::new() });
    let two = CompileError::ContentKeys { found: 2, names: "text, hex".to_owned() };
    assert_eq!(problem("{ text = \"a\", hex = \"00\" }"), two);
    assert_eq!(problem("{ hex = \"0\" }"), CompileError::Hex("0".to_owned()));
    assert_eq!(problem("{ hex = \"0g\" }"), CompileError::Hex("0g".to_owned()));
    assert_eq!(problem("{ repeat = \"x\", times = 9000000000000 }"), CompileError::TooLarge);
    assert_eq!(
        problem(&format!("{{ text = \"{}\", times = 100 }}", "x".repeat(1 << 20))),
        CompileError::TooLarge
    );
}
