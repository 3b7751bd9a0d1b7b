//! The result of tools/call.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::catalogue::{List, parse};
use crate::error::{Error, ToolText};
use crate::jsonrpc::{is_object, present, string};
use crate::policy::Content;
use crate::rule::{Rule, rule};

/// What a tool returned. It is the server's text: treat it as untrusted data. `Debug` shows its length only.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::{Arguments, CallOptions, ToolOutput};
///
/// # let client = Server::default().client().await?;
/// let arguments = Arguments::from_json(r#"{"text":"hello"}"#)?;
/// let output: ToolOutput = client.call_tool("echo", arguments, CallOptions::new()).await?;
/// assert_eq!(output.text, "hello");
/// assert_eq!(format!("{output:?}"), "ToolOutput(5 bytes withheld)");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The text blocks, joined without anything between them; empty if there are none.
    pub text: String,
}

impl fmt::Debug for ToolOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolOutput({} bytes withheld)", self.text.len())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    content: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    is_error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "present")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    text: Option<&'a RawValue>,
}

/// Reads a tools/call result.
///
/// # Errors
///
/// `invalid_tool_result`, `unsupported_tool_content`, or `tool_error` with the text of a failed tool. Rows
/// EX-TR-01 to EX-TR-06.
pub(crate) fn read(result: &RawValue, policy: Content) -> Result<ToolOutput, Error> {
    let result: CallResult<'_> = parse(result).ok_or(Error::InvalidToolResult)?;
    if !rule(Rule::ContentIsAList) && !result.content.is_some_and(|content| content.get().starts_with('[')) {
        return Ok(ToolOutput { text: String::new() });
    }
    let content = result.content.filter(|content| content.get().starts_with('['));
    let blocks: List<'_> = content.and_then(parse).ok_or(Error::InvalidToolResult)?;
    let failed = match result.is_error.map(RawValue::get) {
        None | Some("false") => false,
        Some("true") => rule(Rule::FailuresAreTold),
        Some(_) if !rule(Rule::FailureIsABoolean) => false,
        Some(_) => return Err(Error::UnsupportedToolContent),
    };
    let mut text = String::new();
    if blocks.0.is_empty() && !rule(Rule::EmptyContentIsText) {
        return Err(Error::UnsupportedToolContent);
    }
    for raw in blocks.0 {
        if !rule(Rule::TextIsJoined) && !text.is_empty() {
            text.push('\n');
        }
        let block = match policy {
            Content::TextOnly => text_of(raw),
        };
        if block.is_none() && !rule(Rule::OtherContentRefused) {
            continue;
        }
        text.push_str(&block.ok_or(Error::UnsupportedToolContent)?);
    }
    if failed { Err(Error::Tool(ToolText(text.into()))) } else { Ok(ToolOutput { text }) }
}

fn text_of(raw: &RawValue) -> Option<std::borrow::Cow<'_, str>> {
    let block: Block<'_> = Some(raw).filter(|raw| is_object(raw)).and_then(parse)?;
    string(block.kind?).filter(|kind| kind == "text")?;
    string(block.text?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(result: &str) -> Result<String, Error> {
        read(serde_json::from_str(result).unwrap(), Content::TextOnly).map(|output| output.text)
    }

    /// Rows EX-TR-01, EX-TR-06.
    #[test]
    fn text_blocks_are_joined() {
        let result = r#"{"content":[{"type":"text","text":"sn\u006fw "},{"text":"雪","type":"text"}],"isError":false}"#;
        assert_eq!(call(result), Ok("snow 雪".to_owned()));
        assert_eq!(call(r#"{"content":[],"structuredContent":{"a":1}}"#), Ok(String::new()));
    }

    /// Row EX-TR-02.
    #[test]
    fn other_content_is_refused_even_beside_text() {
        for block in [
            r#"{"type":"image","data":"","mimeType":"image/png"}"#,
            r#"{"type":"audio","text":"x"}"#,
            r#"{"type":"resource","resource":{}}"#,
            r#"{"type":"text"}"#,
            r#"{"type":"text","text":null}"#,
            r#"{"text":"x"}"#,
            r#""text""#,
            r#"["text","x"]"#,
        ] {
            let result = format!(r#"{{"content":[{{"type":"text","text":"a"}},{block}]}}"#);
            assert_eq!(call(&result), Err(Error::UnsupportedToolContent), "{block}");
        }
    }

    /// Row EX-TR-03.
    #[test]
    fn a_failed_tool_is_an_error_with_its_text() {
        let error =
            call(r#"{"content":[{"type":"text","text":"no such file"}],"isError":true}"#).unwrap_err();
        assert_eq!((error.kind(), error.tool_text()), ("tool_error", Some("no such file")));
    }

    /// Row EX-TR-04.
    #[test]
    fn is_error_is_a_boolean() {
        for value in [r#""yes""#, "1", "null", "{}"] {
            let result = format!(r#"{{"content":[],"isError":{value}}}"#);
            assert_eq!(call(&result), Err(Error::UnsupportedToolContent), "{value}");
        }
    }

    /// Row EX-TR-05.
    #[test]
    fn content_is_a_list() {
        for result in ["{}", r#"{"content":null}"#, r#"{"content":{}}"#, r#"{"content":"text"}"#] {
            assert_eq!(call(result), Err(Error::InvalidToolResult), "{result}");
        }
    }
}
