//! Limits that a first run measures: for sizes that only the client can tell.

use crate::case::{Case, Limit, Measure, Measured};
use crate::judge::index::Index;
use crate::layout::Layout;
use crate::peer::compile::sse;
use crate::tap::stream;
use crate::timeline::Event;
use serde_json::Value;
use std::collections::BTreeMap;

/// The case's limits as numbers; `timeline` is that of the run with the measured ones left alone.
///
/// # Errors
/// Something to measure did not happen, or is not larger than what is to be taken off.
pub fn resolve(case: &Case, timeline: &[Event]) -> Result<BTreeMap<String, u64>, String> {
    let resolved = case.limits.iter().map(|(name, limit)| {
        let value = match limit {
            Limit::Is(value) => *value,
            Limit::Measured(measured) => measure(case, timeline, measured)
                .and_then(|size| size.checked_sub(measured.less).filter(|value| *value > 0))
                .ok_or_else(|| {
                    format!(
                        "limits.{name}: expected step {:?} to show more than {} bytes to measure, it showed none",
                        measured.of, measured.less
                    )
                })?,
        };
        Ok((name.clone(), value))
    });
    resolved.collect()
}

fn measure(case: &Case, timeline: &[Event], measured: &Measured) -> Option<u64> {
    let index = Index::new(case, timeline);
    let size = match measured.measure {
        Measure::Request => index.request_of(&measured.of)?.request.body.len(),
        Measure::Control => index.requests.iter().find(|r| r.request.on() == "reply")?.request.body.len(),
        of_answer => {
            let request = index.request_of(&measured.of)?.request;
            let reply = index.replies.get(&request.number)?;
            let layout = Layout::of(&reply.reply.bytes, &request.method);
            answer(&layout, of_answer, request.json.as_ref().and_then(|json| json.get("id")))?
        }
    };
    u64::try_from(size).ok()
}

/// A size of an SDK server's answer.
fn answer(layout: &Layout, measure: Measure, id: Option<&Value>) -> Option<usize> {
    let events = || stream::events(&layout.content).into_iter();
    match measure {
        Measure::Head => Some(layout.headers.iter().map(|(name, value)| name.len() + value.len()).sum()),
        Measure::Body => stream::terminal(layout, id)
            .map_or(Some(layout.content.len()), |(end, free)| end.checked_sub(free)),
        Measure::Line => sse::lines(&layout.content).map(|line| line.len()).max(),
        Measure::Event => events().map(|event| event.data.len()).max(),
        Measure::Session => layout.header("mcp-session-id").next().map(str::len),
        Measure::Tools => message(layout, id)?.pointer("/result/tools")?.as_array().map(Vec::len),
        Measure::Depth => message(layout, id).map(|message| depth(&message)),
        Measure::Nodes => message(layout, id).map(|message| nodes(&message)),
        Measure::Request | Measure::Control => None,
    }
}

/// The message with the answer to the request of this id.
fn message(layout: &Layout, id: Option<&Value>) -> Option<Value> {
    let texts = match layout.is_stream() {
        true => stream::events(&layout.content).into_iter().map(|event| event.data).collect(),
        false => vec![layout.content.clone()],
    };
    let mut messages = texts.iter().filter_map(|text| serde_json::from_slice::<Value>(text).ok());
    messages.find(|message| message.get("method").is_none() && message.get("id") == id)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An answer to request 2, as a body of its own and in a stream behind a request of the server with the same id.
    fn layouts(message: &Value) -> [Layout; 2] {
        let json = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{message}");
        let ping = json!({ "id": 2, "method": "ping", "params": { "a": [[[0]]] } });
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let stream = format!("{head}data: {ping}\n\n: x\n\ndata: {message}\n\n");
        [json, stream].map(|raw| Layout::of(raw.as_bytes(), "POST"))
    }

    #[test]
    fn what_a_message_holds_is_measured_in_either_form() {
        let list =
            json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [{ "name": "a" }, { "name": "b" }] } });
        let empty = json!({ "id": 2, "result": { "tools": [] } });
        for (message, tools, deep, values) in [(&list, 2, 4, 9), (&empty, 0, 3, 4)] {
            for layout in layouts(message) {
                let measured = |measure| answer(&layout, measure, Some(&json!(2)));
                assert_eq!(measured(Measure::Tools), Some(tools), "{message}");
                assert_eq!(measured(Measure::Depth), Some(deep), "{message}");
                assert_eq!(measured(Measure::Nodes), Some(values), "{message}");
            }
        }
    }

    #[test]
    fn without_its_message_an_answer_has_no_such_size() {
        let [json, stream] = layouts(&json!({ "id": 3, "result": {} }));
        for layout in [json, stream] {
            for measure in [Measure::Tools, Measure::Depth, Measure::Nodes] {
                assert_eq!(answer(&layout, measure, Some(&json!(2))), None);
            }
        }
    }
}
