//! Byte-exact replies for every knob.

mod bounds;
mod content;
mod framing;
mod marks;
mod properties;

use super::{CompileError, Compiled, Context, compile};
use crate::case::Rule;
use crate::peer::Calls;
use crate::revision::Revision;
use crate::timeline::Request;
use bytes::Bytes;
use std::collections::BTreeMap;

/// The request all rules of these tests answer, unless they say otherwise.
const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a \"b\"\n雪","n":4}}}"#;

fn request(method: &str, body: &str) -> Request {
    Request {
        conn: 1,
        number: 1,
        reused: false,
        method: method.to_owned(),
        target: "/mcp".to_owned(),
        headers: vec![("mcp-session-id".to_owned(), "s1".to_owned())],
        head: Bytes::new(),
        body: Bytes::copy_from_slice(body.as_bytes()),
        json: serde_json::from_str(body).ok(),
        rule: String::new(),
    }
}

fn compile_for(request: &Request, revision: Revision, rule: &str) -> Result<Compiled, CompileError> {
    let rule: Rule = toml::from_str(&format!("on = \"any\"\n{rule}")).expect("the rule parses");
    let limits = BTreeMap::from([
        ("max_line_bytes".to_owned(), 200),
        ("max_session_bytes".to_owned(), 16),
        ("tiny".to_owned(), 3),
    ]);
    compile(&rule, request, &Context { revision, seed: 0, limits: &limits, calls: &Calls::default() })
}

fn try_compiled(rule: &str) -> Result<Compiled, CompileError> {
    compile_for(&request("POST", CALL), Revision::V20250618, rule)
}

fn compiled(rule: &str) -> Compiled {
    try_compiled(rule).expect("the rule can be carried out")
}

/// The whole reply as text.
fn reply(rule: &str) -> String {
    text(&compiled(rule)).to_owned()
}

fn text(compiled: &Compiled) -> &str {
    std::str::from_utf8(&compiled.bytes).expect("text")
}

/// What follows the head.
fn body(rule: &str) -> String {
    let compiled = compiled(rule);
    text(&compiled)[compiled.body.clone()].to_owned()
}

/// The offsets of one mark, from the end of the head.
fn marks(compiled: &Compiled, name: &str) -> Vec<usize> {
    compiled.marks.iter().filter(|mark| mark.name == name).map(|mark| mark.at - compiled.head.end).collect()
}
