use super::*;

const LIMITS: JsonLimits = JsonLimits { depth: 128, nodes: 1_000 };

fn decode(text: &str) -> Result<Incoming<'_>, Error> {
    Incoming::decode(text.as_bytes(), LIMITS)
}

fn fault(text: &str) -> JsonrpcFault {
    match decode(text) {
        Err(Error::InvalidJsonrpc(fault)) => fault,
        other => panic!("{text}: {other:?}"),
    }
}

fn answer(text: &str) -> Result<Answer<'_>, Error> {
    decode(text)?.into_response()?.answer_to(1, ResponseId::Exact)
}

fn response(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

/// Rows EX-JS-01, EX-JS-02, EX-JS-03, EX-SSE-25.
#[test]
fn only_the_same_integer_is_the_same_id() {
    assert!(matches!(answer(&response("1")), Ok(Answer::Result(raw)) if raw.get() == "{}"));
    for id in ["1.0", "1e0", "10e-1", "\"1\"", "-1", "0", "2", "11", "null", "true", "{}", "[1]"] {
        assert_eq!(answer(&response(id)).unwrap_err(), Error::ResponseIdMismatch { expected: 1 }, "{id}");
    }
    let absent = r#"{"jsonrpc":"2.0","result":{}}"#;
    assert_eq!(answer(absent).unwrap_err(), Error::ResponseIdMismatch { expected: 1 });
    for id in ["01", "+1", "1.", "0x1"] {
        assert_eq!(answer(&response(id)).unwrap_err().kind(), "invalid_jsonrpc", "{id}");
    }
    let max = response(&u64::MAX.to_string());
    assert!(decode(&max).unwrap().into_response().unwrap().answer_to(u64::MAX, ResponseId::Exact).is_ok());
}

/// Row EX-JS-04.
#[test]
fn the_version_is_the_string_2_0() {
    for version in ["\"1.0\"", "2.0", "null", "\"2.0 \"", "[\"2.0\"]"] {
        assert_eq!(fault(&format!(r#"{{"jsonrpc":{version},"id":1,"result":{{}}}}"#)), JsonrpcFault::Version);
    }
    assert_eq!(fault(r#"{"id":1,"result":{}}"#), JsonrpcFault::Version);
    assert!(answer(r#"{"jsonrpc":"2\u002e0","id":1,"result":{}}"#).is_ok());
}

/// Row EX-JS-05.
#[test]
fn a_response_has_a_result_or_an_error() {
    let both = r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"secret"}}"#;
    assert_eq!(fault(both), JsonrpcFault::Shape);
    // A null is a member that is there.
    assert_eq!(fault(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#), JsonrpcFault::Shape);
    assert_eq!(fault(r#"{"jsonrpc":"2.0","id":1}"#), JsonrpcFault::Shape);
}

/// Row EX-JS-06.
#[test]
fn an_error_has_an_integer_code_and_a_string_message() {
    for error in [
        r#"{"code":"-1","message":"m"}"#,
        r#"{"code":-1.0,"message":"m"}"#,
        r#"{"code":1e2,"message":"m"}"#,
        r#"{"code":99999999999999999999,"message":"m"}"#,
        r#"{"message":"m"}"#,
        r#"{"code":-1}"#,
        r#"{"code":-1,"message":null}"#,
        r#"[-1,"m"]"#,
        "null",
        "\"m\"",
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
        assert_eq!(fault(&text), JsonrpcFault::ErrorObject, "{error}");
    }
}

/// Row EX-JS-12.
#[test]
fn of_an_error_only_the_code_is_kept() {
    let text = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"secret","data":{"x":["secret"]}}}"#;
    let answer = answer(text).unwrap();
    assert!(matches!(answer, Answer::Error { code: -1 }));
    assert!(!format!("{answer:?}").contains("secret"));
}

/// Rows EX-JS-07, EX-JS-14, EX-JS-19.
#[test]
fn what_is_not_json_is_refused_without_being_quoted() {
    let error = decode(r#"{"jsonrpc":"2.0","id":1,"result":{"secret"#).unwrap_err();
    assert_eq!(error.kind(), "invalid_jsonrpc");
    assert!(!format!("{error} {error:?}").contains("secret"));
    assert_eq!(fault(""), JsonrpcFault::Syntax { offset: 0 });
    assert_eq!(
        Incoming::decode(b"\x1f\x8b\x08\x00", LIMITS).unwrap_err(),
        Error::InvalidJsonrpc(JsonrpcFault::Utf8 { offset: 1 })
    );
}

/// Rows EX-JS-09, EX-SSE-26.
#[test]
fn a_batch_is_no_message() {
    assert_eq!(fault(&format!("[{}]", response("1"))), JsonrpcFault::Batch);
    assert_eq!(fault(" []"), JsonrpcFault::Batch);
    for text in ["1", "null", "\"x\""] {
        assert_eq!(fault(text), JsonrpcFault::NotObject);
    }
}

/// Row EX-SSE-21.
#[test]
fn empty_data_is_decoded_and_refused() {
    assert_eq!(
        Incoming::decode_text("", LIMITS).unwrap_err(),
        Error::InvalidJsonrpc(JsonrpcFault::Syntax { offset: 0 })
    );
}

/// Rows EX-JS-10, EX-JS-11.
#[test]
fn a_key_twice_is_refused_at_any_depth() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"\u0069d":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":[{"b":1,"b":2}]}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"a":{"b":1,"b":1}}}"#,
    ] {
        assert_eq!(decode(text).unwrap_err().kind(), "duplicate_json_key", "{text}");
    }
}

/// Row EX-JS-13.
#[test]
fn a_json_body_holds_a_response() {
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
        r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#,
    ] {
        assert_eq!(decode(text).unwrap().into_response().unwrap_err(), Error::InvalidJsonrpcResponse);
    }
}

/// Row EX-JS-20.
#[test]
fn a_result_is_an_object() {
    for result in ["[]", "\"x\"", "null", "1", "true"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        assert_eq!(fault(&text), JsonrpcFault::ResultNotObject, "{result}");
    }
}

/// Row EX-CTL-07.
#[test]
fn a_server_request_has_an_integer_or_a_string_as_id() {
    for id in ["0", "-5", "123456789012345678901234567890", "\"p\"", "\"\"", "\"\\u0070\""] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        match decode(&text) {
            Ok(Incoming::Request(request)) => assert_eq!((request.id, &*request.method), (id, "ping")),
            other => panic!("{other:?}"),
        }
    }
    for id in ["null", "1.5", "1.0", "1e3", "true", "[]", "{}"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(fault(&text), JsonrpcFault::RequestId, "{id}");
    }
}

/// Row EX-CTL-08.
#[test]
fn a_server_message_has_params_as_an_object_and_nothing_of_a_response() {
    for id in ["", r#""id":1,"#] {
        let text = |rest: &str| format!(r#"{{"jsonrpc":"2.0",{id}"method":"m",{rest}}}"#);
        assert!(decode(&text(r#""params":{}"#)).is_ok());
        for params in ["[]", "null", "1", "\"x\""] {
            assert_eq!(fault(&text(&format!(r#""params":{params}"#))), JsonrpcFault::Params);
        }
        assert_eq!(fault(&text(r#""result":{}"#)), JsonrpcFault::Shape);
        assert_eq!(fault(&text(r#""error":{"code":1,"message":"m"}"#)), JsonrpcFault::Shape);
    }
    assert_eq!(fault(r#"{"jsonrpc":"2.0","method":1}"#), JsonrpcFault::Method);
}

#[test]
fn escaped_member_names_are_the_same_members() {
    let text = r#" {"\u006asonrpc":"2.0","i\u0064":1,"re\u0073ult":{"x":1}} "#;
    assert!(matches!(answer(text), Ok(Answer::Result(raw)) if raw.get() == r#"{"x":1}"#));
}

#[test]
fn depth_and_nodes_are_the_limits_own_errors() {
    let nested =
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":{}{}}}}}"#, "[".repeat(200), "]".repeat(200));
    assert_eq!(decode(&nested).unwrap_err(), Error::JsonDepthLimit { limit: 128 });
    let wide = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":[{}0]}}}}"#, "0,".repeat(1_000));
    assert_eq!(decode(&wide).unwrap_err(), Error::JsonNodeLimit { limit: 1_000 });
}
