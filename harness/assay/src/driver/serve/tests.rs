use super::*;
use std::io::{Cursor, pipe};

/// What the driver replies to these lines, and how it ends.
fn replies(lines: &str) -> (Vec<serde_json::Value>, io::Result<()>) {
    let client = BuiltinClient::named("exagent").unwrap();
    let (mut read, write) = pipe().unwrap();
    let served = serve(&client, Cursor::new(lines.to_owned()), write);
    let mut text = String::new();
    read.read_to_string(&mut text).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), served)
}

#[test]
fn hello_says_who_is_there_and_what_it_can() {
    let (replies, served) = replies("{\"seq\":1,\"verb\":\"hello\",\"later\":1}\n");
    served.unwrap();
    let hello: Hello = serde_json::from_value(replies[0].clone()).unwrap();
    assert_eq!((hello.seq, hello.policy.as_deref()), (1, Some("exagent")));
    assert_eq!(hello.verbs, ["connect", "list_tools", "call_tool", "cancel", "reconnect", "close", "kill"]);
    assert!(hello.limits.iter().any(|limit| limit == "timeout"));
}

#[test]
fn verbs_before_an_end_are_answered_and_others_are_unsupported() {
    let lines = "{\"seq\":1,\"verb\":\"juggle\"}\n{\"seq\":2,\"verb\":\"list_tools\",\"client\":\"a\"}\n\
                 {\"seq\":3,\"verb\":\"end\"}\n{\"seq\":4,\"verb\":\"hello\"}\n";
    let (replies, served) = replies(lines);
    served.unwrap();
    let said: Vec<_> = replies.iter().map(|reply| (reply["seq"].as_u64(), reply["reply"].as_str())).collect();
    let wanted = [(1, "unsupported"), (2, "error"), (3, "ok"), (4, "ok")];
    assert_eq!(said, wanted.map(|(seq, reply)| (Some(seq), Some(reply))));
}

#[test]
fn a_number_that_was_there_before_ends_the_driver_also_in_a_later_variant() {
    let (replies, served) = replies("{\"seq\":1,\"verb\":\"end\"}\n{\"seq\":1,\"verb\":\"hello\"}\n");
    assert_eq!(replies.len(), 1);
    assert!(served.unwrap_err().to_string().contains("numbered above 1, saw 1"));
}

#[test]
fn a_line_that_is_no_request_ends_the_driver() {
    for (line, told) in [
        ("hello\n", "expected a request"),
        ("{\"seq\":1,\"verb\":\"close\"}\n", "expected the member \"client\""),
        ("{\"seq\":0,\"verb\":\"hello\"}\n", "expected a request numbered above 0, saw 0"),
    ] {
        let (replies, served) = replies(line);
        assert!(replies.is_empty());
        assert!(served.unwrap_err().to_string().contains(told));
    }
    let (_, served) = replies(&format!("{}\n", "x".repeat(LINE_MAX + 1)));
    assert!(served.unwrap_err().to_string().contains("saw more"));
}
