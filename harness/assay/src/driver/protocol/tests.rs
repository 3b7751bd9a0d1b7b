use super::*;
use crate::driver::{Connect, Verb};
use crate::judge::Offers;
use std::time::Duration;

fn offers(limits: &[&str]) -> Offers {
    Offers { limits: Some(limits.iter().map(|name| (*name).to_owned()).collect()), verbs: None }
}

/// The verb as a driver reads it from the line the harness writes.
fn over_the_wire(verb: Verb, offers: &Offers) -> Asked {
    let request = Request::of_verb(7, "b", verb, offers, Some(3)).unwrap();
    let line = serde_json::to_string(&request).unwrap();
    assert!(!line.contains('\n'), "{line}");
    serde_json::from_str::<Request>(&line).unwrap().asked().unwrap()
}

#[test]
fn every_verb_arrives_as_it_was_meant() {
    let call = |arguments: &str, timeout| Verb::CallTool {
        tool: "echo".to_owned(),
        arguments: arguments.to_owned(),
        timeout,
    };
    for verb in [
        Verb::ListTools,
        call("{\"b\":1,\"a\":{\"a\":1e400}}", Some(Duration::from_millis(5))),
        call("null", None),
        call("[1]", None),
        Verb::Reconnect,
        Verb::Close,
        Verb::Kill,
        Verb::Unheard("juggle".to_owned()),
    ] {
        assert_eq!(over_the_wire(verb.clone(), &Offers::default()), Asked::Verb("b".to_owned(), verb));
    }
    let cancel = Verb::Cancel { step: "first".to_owned() };
    let numbered = Verb::Cancel { step: "3".to_owned() };
    assert_eq!(over_the_wire(cancel, &Offers::default()), Asked::Verb("b".to_owned(), numbered));
}

#[test]
fn a_connect_takes_along_only_the_limits_on_offer() {
    let limits = [("timeout", 5), ("max_tools", 7)].map(|(name, value)| (name.to_owned(), value));
    let connect = Connect {
        url: "http://127.0.0.1:1/mcp".to_owned(),
        headers: vec![("a".to_owned(), "b".to_owned())],
        protocol_version: "2025-06-18".to_owned(),
        limits: limits.into(),
    };
    let Asked::Verb(_, Verb::Connect(arrived)) =
        over_the_wire(Verb::Connect(Box::new(connect.clone())), &offers(&["timeout"]))
    else {
        panic!("expected a connect");
    };
    assert_eq!(arrived.limits.keys().collect::<Vec<_>>(), ["timeout"]);
    assert_eq!((arrived.url, arrived.headers), (connect.url, connect.headers));
}

#[test]
fn a_request_grows_and_a_reply_does_not() {
    let request: Request = serde_json::from_str(r#"{"seq":1,"verb":"hello","later":true}"#).unwrap();
    assert_eq!(request.asked(), Ok(Asked::Hello));
    let problem = serde_json::from_str::<Reply>(r#"{"seq":1,"reply":"ok","txt":"snow"}"#).unwrap_err();
    assert!(problem.to_string().contains("txt"), "{problem}");
}

#[test]
fn what_is_missing_is_named() {
    for (line, member) in [
        (r#"{"seq":1,"verb":"connect","client":"a"}"#, "url"),
        (r#"{"seq":1,"verb":"call_tool","client":"a","tool":"echo"}"#, "arguments"),
        (r#"{"seq":1,"verb":"cancel","client":"a"}"#, "of"),
        (r#"{"seq":1,"verb":"close"}"#, "client"),
    ] {
        let problem = serde_json::from_str::<Request>(line).unwrap().asked().unwrap_err();
        assert!(problem.ends_with(&format!("expected the member {member:?}")), "{problem}");
    }
}

#[test]
fn every_answer_arrives_as_it_was_meant() {
    let error = Returned::Error {
        kind: "http_status".to_owned(),
        message: "m".to_owned(),
        effect: Some("answered".to_owned()),
        status: Some(500),
        code: None,
        text: None,
    };
    let listed = Returned::Ok { text: None, tools: Some(vec![serde_json::json!({ "name": "echo" })]) };
    for returned in [
        Returned::Ok { text: Some("snow 雪\n".to_owned()), tools: None },
        listed,
        error,
        Returned::Unsupported { message: "no".to_owned() },
    ] {
        let line = serde_json::to_string(&Reply::new(2, returned.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Reply>(&line).unwrap().returned(), returned, "{line}");
    }
}
