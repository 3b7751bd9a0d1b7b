//! What every error answers.

use super::*;

/// Row EX-RED-01.
#[test]
fn tool_text_is_behind_its_accessor_only() {
    let error = Error::Tool(ToolText("hunter2".into()));
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    assert_eq!(error.to_string(), "the tool reported a failure (7 bytes of text, withheld)");
    assert_eq!(error.tool_text(), Some("hunter2"));
}

/// Row EX-CTL-09.
#[test]
fn a_failed_control_reply_has_its_cause_and_leaves_the_call_uncertain() {
    let error = Error::ControlReply(Box::new(Error::HttpStatus { status: 500 }));
    assert_eq!((error.kind(), error.http_status()), ("http_status", Some(500)));
    assert_eq!(error.effect(), Effect::Uncertain);
}
