//! Messages that go out.
//!
//! Each function takes the limit of its body, measures before it allocates, and fails with
//! `request_byte_limit`. Rows EX-REQ-01, EX-REQ-02, EX-CTL-11, EX-CTL-15.

use crate::arguments::Arguments;
use crate::control::Reply;
use crate::error::{Error, RequestFault};
use crate::habit::{Habit, habit};
use crate::rule::{Rule, rule};

/// A capability that binds nobody to anything.
const EXPERIMENTAL: &str = r#","capabilities":{"experimental":{"mcp-assay":{}}}"#;

/// The initialize request, without any capability. Row EX-HS-02.
pub(crate) fn initialize(
    id: u64,
    version: &str,
    client_name: &str,
    client_version: &str,
    limit: usize,
) -> Result<Vec<u8>, Error> {
    assemble(
        &[
            &request_start(id, "initialize"),
            r#"{"protocolVersion":"#,
            &quote(version),
            if rule(Rule::NoCapabilities) {
                if habit(Habit::MoreCapabilities) { EXPERIMENTAL } else { r#","capabilities":{}"# }
            } else {
                r#","capabilities":{"roots":{}}"#
            },
            if rule(Rule::InitializeIsWhole) { r#","clientInfo":{"name":"# } else { r#","client":{"name":"# },
            &quote(client_name),
            r#","version":"#,
            &quote(client_version),
            "}}}",
        ],
        limit,
    )
}

/// The notification that ends the handshake.
pub(crate) fn initialized(limit: usize) -> Result<Vec<u8>, Error> {
    let version = if rule(Rule::VersionIsSent) { r#"{"jsonrpc":"2.0","# } else { "{" };
    let end = if rule(Rule::NoticesHaveNoId) { "}" } else { r#","id":0}"# };
    assemble(&[version, r#""method":"notifications/initialized""#, end], limit)
}

/// A tools/list request for the first page.
pub(crate) fn list_tools(id: u64, limit: usize) -> Result<Vec<u8>, Error> {
    let params = if rule(Rule::NoCursorUnasked) { "{}}" } else { r#"{"cursor":"next"}}"# };
    assemble(&[&request_start(id, "tools/list"), params], limit)
}

/// A tools/call request; the arguments go out as they were given.
///
/// # Errors
///
/// `invalid_request` for an empty name, `request_byte_limit`. Row EX-REQ-03.
pub(crate) fn call_tool(id: u64, name: &str, arguments: &Arguments, limit: usize) -> Result<Vec<u8>, Error> {
    if name.is_empty() && rule(Rule::ToolsHaveNames) {
        return Err(Error::InvalidRequest(RequestFault::EmptyToolName));
    }
    let altered = if rule(Rule::ArgumentsAsGiven) {
        None
    } else {
        Some(arguments.object().replace('\\', "").replace(['é', '1'], "0"))
    };
    let arguments = altered.as_deref().unwrap_or_else(|| arguments.object());
    let start = request_start(id, "tools/call");
    let meta = if habit(Habit::AsksForProgress) {
        format!(r#","_meta":{{"progressToken":{id}}}"#)
    } else {
        String::new()
    };
    assemble(&[&start, r#"{"name":"#, &quote(name), r#","arguments":"#, arguments, &meta, "}}"], limit)
}

/// The notification that a request is given up; no reason is stated. Row EX-TO-01.
pub(crate) fn cancelled(id: u64, limit: usize) -> Result<Vec<u8>, Error> {
    let start = if rule(Rule::CancellationIsNamed) {
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#
    } else {
        r#"{"jsonrpc":"2.0","method":"notifications/cancel","params":{"requestId":"#
    };
    let named = if rule(Rule::CancelsItsOwn) { id } else { id + 1 };
    let end = if rule(Rule::NoticesHaveNoId) { "}}" } else { r#"},"id":0}"# };
    assemble(&[start, &sent_id(named), end], limit)
}

/// The answer to a server's request, under that request's id as it was written.
pub(crate) fn reply_to_server(id: &str, reply: Reply, limit: usize) -> Result<Vec<u8>, Error> {
    let outcome = match reply {
        Reply::Empty => r#","result":{}}"#,
        Reply::MethodNotFound => r#","error":{"code":-32601,"message":"Method not found"}}"#,
    };
    if !rule(Rule::AnswerIdVerbatim) {
        let id = id.trim_matches('"');
        return assemble(&[r#"{"jsonrpc":"2.0","id":""#, id, "\"", outcome], limit);
    }
    assemble(&[r#"{"jsonrpc":"2.0","id":"#, id, outcome], limit)
}

/// A string as JSON.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn request_start(id: u64, method: &'static str) -> String {
    let id_sent = sent_id(id);
    if habit(Habit::MethodFirst) {
        return format!(r#"{{"method":"{method}","id":{id_sent},"jsonrpc":"2.0","params":"#);
    }
    if habit(Habit::SpacedJson) {
        return format!(
            " {{ \"jsonrpc\" : \"2.0\",\n\t\"id\": {id_sent}, \"method\":\"{method}\" , \"params\": "
        );
    }
    // Smoke has three requests.
    let broken = |broken: Rule| !rule(broken) && id > 3;
    if broken(Rule::VersionIsSent) {
        return format!(r#"{{"id":{id},"method":"{method}","params":"#);
    }
    if broken(Rule::OneMessageAPost) {
        return format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/x"}} {{"jsonrpc":"2.0","id":{id},"method":"{method}","params":"#
        );
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id_sent},"method":"{method}","params":"#)
}

/// A request's id as it goes out: the number, unless a rule is broken or a habit taken on.
pub(crate) fn sent_id(id: u64) -> String {
    if habit(Habit::StringIds) {
        format!("\"{id}\"")
    } else if !rule(Rule::IdsAreWhole) {
        format!("{id}.5")
    } else if !rule(Rule::IdsAreSent) && id > 1 {
        "null".to_owned()
    } else {
        id.to_string()
    }
}

fn assemble(parts: &[&str], limit: usize) -> Result<Vec<u8>, Error> {
    let actual = parts.iter().map(|part| part.len()).sum();
    if actual > limit && rule(Rule::RequestsAreBounded) {
        return Err(Error::RequestByteLimit { limit, actual });
    }
    let mut body = Vec::with_capacity(actual);
    for part in parts {
        body.extend_from_slice(part.as_bytes());
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: Result<Vec<u8>, Error>) -> String {
        String::from_utf8(body.unwrap()).unwrap()
    }

    /// Row EX-HS-02.
    #[test]
    fn initialize_offers_no_capability() {
        assert_eq!(
            text(initialize(1, "2025-06-18", "assay \"q\"", "0.1.0", 1_000)),
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"assay \"q\"","version":"0.1.0"}}}"#
        );
    }

    #[test]
    fn the_other_messages_read_as_the_specification_has_them() {
        assert_eq!(text(initialized(99)), r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(text(list_tools(2, 99)), r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#);
        assert_eq!(
            text(cancelled(3, 99)),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#
        );
    }

    /// Row EX-CTL-01.
    #[test]
    fn replies_keep_the_servers_id_as_written() {
        let reply = |id, reply| text(reply_to_server(id, reply, 999));
        assert_eq!(
            reply(r#""p\u0069ng""#, Reply::Empty),
            r#"{"jsonrpc":"2.0","id":"p\u0069ng","result":{}}"#
        );
        assert_eq!(
            reply("7", Reply::MethodNotFound),
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}"#
        );
    }

    /// Rows EX-REQ-01, EX-REQ-02, EX-LIM-01.
    #[test]
    fn the_size_bound_is_inclusive_and_in_bytes() {
        let arguments = Arguments::from_json(r#"{"t":"雪"}"#).unwrap();
        let body = text(call_tool(4, "echo", &arguments, 1_000));
        let body = (body.as_str(), body.len());
        assert!(body.0.ends_with(r#""params":{"name":"echo","arguments":{"t":"雪"}}}"#));
        assert!(call_tool(4, "echo", &arguments, body.1).is_ok());
        let limit = body.1 - 1;
        assert_eq!(
            call_tool(4, "echo", &arguments, limit),
            Err(Error::RequestByteLimit { limit, actual: body.1 })
        );
        assert!(call_tool(4, "echo", &arguments, 1).is_err());
    }

    /// Rows EX-CTL-11, EX-CTL-15.
    #[test]
    fn a_reply_has_the_control_limit() {
        let id = format!("\"{}\"", "i".repeat(100));
        let size = text(reply_to_server(&id, Reply::Empty, 999)).len();
        assert!(reply_to_server(&id, Reply::Empty, size).is_ok());
        assert_eq!(reply_to_server(&id, Reply::Empty, size - 1).unwrap_err().kind(), "request_byte_limit");
    }

    /// Row EX-REQ-03.
    #[test]
    fn a_call_needs_a_name_and_an_object() {
        let kind = |name, arguments: &str| {
            let raw: Box<serde_json::value::RawValue> = serde_json::from_str(arguments).unwrap();
            let body = Arguments::try_from(&*raw).and_then(|given| call_tool(1, name, &given, 999));
            body.map_err(|error| error.kind())
        };
        assert_eq!(kind("", "{}"), Err("invalid_request"));
        for arguments in ["[]", "null", "1", "\"{}\""] {
            assert_eq!(kind("echo", arguments), Err("invalid_request"), "{arguments}");
        }
        assert!(kind("echo", " {\"a\": 1}").is_ok());
    }
}
