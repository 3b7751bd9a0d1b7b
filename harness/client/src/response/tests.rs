use super::*;

const JSON: (&str, &str) = ("content-type", "application/json");

fn session(value: &str) -> SessionId {
    SessionId::parse(value.as_bytes(), SessionHeader::FixedAtInitialize, 256).unwrap()
}

fn judge(
    purpose: Purpose,
    known: Known<'_>,
    limits: &Limits,
    status: u16,
    headers: &[(&str, &str)],
) -> Result<Head, Error> {
    let context = HeadContext { policy: &Policy::exagent(), limits, purpose, known };
    check_head(status, headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())), &context)
}

fn kind(purpose: Purpose, known: Known<'_>, status: u16, headers: &[(&str, &str)]) -> &'static str {
    judge(purpose, known, &Limits::default(), status, headers).map_or_else(|error| error.kind(), |_| "ok")
}

/// Rows EX-HB-01, EX-HB-02.
#[test]
fn header_bytes_are_names_and_values_bounded_inclusively() {
    let headers = [JSON, ("content-length", "99"), ("connection", "close")];
    let sum: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    let with = |limit| {
        let limits = Limits::default().max_header_bytes(limit);
        judge(Purpose::Request, Known::Stateless, &limits, 200, &headers)
    };
    assert_eq!(with(sum).unwrap().header_bytes, sum);
    assert_eq!(with(sum - 1).unwrap_err(), Error::HeaderByteLimit { limit: sum - 1 });
    assert_eq!(with(1).unwrap_err(), Error::HeaderByteLimit { limit: 1 });
}

/// Row EX-HB-03.
#[test]
fn trailers_add_to_the_headers_and_set_nothing() {
    let limits = Limits::default().max_header_bytes(100);
    let trailers = |list: &[(&'static str, &'static str)], head| {
        let list = list.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        check_trailers(head, list, &limits)
    };
    assert_eq!(trailers(&[("x", "y")], 98), Ok(()));
    assert_eq!(trailers(&[("x", "y")], 99), Err(Error::InvalidTrailers));
    assert_eq!(trailers(&[("Mcp-Session-Id", "s")], 0), Err(Error::InvalidTrailers));
    assert_eq!(trailers(&[("x", "y"), ("content-type", "x")], 0), Err(Error::InvalidTrailers));
}

/// Row EX-HB-04.
#[test]
fn several_faults_are_judged_in_one_order() {
    let faulty = [("mcp-session-id", "a b"), ("content-type", "text/plain")];
    let small = Limits::default().max_header_bytes(1);
    let with = |limits: &Limits, headers: &[(&str, &str)]| {
        judge(Purpose::Initialize, Known::Undecided, limits, 200, headers).unwrap_err().kind()
    };
    assert_eq!(with(&small, &faulty), "header_byte_limit");
    assert_eq!(with(&Limits::default(), &faulty), "invalid_session_id");
    assert_eq!(with(&Limits::default(), &faulty[1..]), "invalid_content_type");
    // A status that ends the request comes before the content type, which nobody will need.
    assert_eq!(kind(Purpose::Request, Known::Stateless, 503, &faulty[1..]), "http_status");
}

/// Rows EX-HS-07, EX-HS-08, EX-HS-09, EX-HS-10.
#[test]
fn initialize_may_issue_one_well_formed_session() {
    let issue = |headers: &[(&str, &str)]| {
        let mut all = vec![JSON];
        all.extend_from_slice(headers);
        judge(Purpose::Initialize, Known::Undecided, &Limits::default(), 200, &all)
    };
    assert_eq!(issue(&[("Mcp-Session-Id", "abc")]).unwrap().session, Some(session("abc")));
    assert_eq!(issue(&[]).unwrap().session, None);
    let repeated = Error::InvalidSessionId(SessionFault::Repeated);
    assert_eq!(issue(&[("mcp-session-id", "a"), ("MCP-SESSION-ID", "a")]).unwrap_err(), repeated);
    assert_eq!(issue(&[("mcp-session-id", "a"), ("mcp-session-id", "b")]).unwrap_err(), repeated);
    assert_eq!(issue(&[("mcp-session-id", "")]).unwrap_err().kind(), "invalid_session_id");
    assert_eq!(issue(&[("mcp-session-id", "contains space")]).unwrap_err().kind(), "invalid_session_id");
    assert_eq!(issue(&[("mcp-session-id", &"x".repeat(257))]).unwrap_err().kind(), "invalid_session_id");
}

/// Rows EX-SES-06, EX-SES-07, EX-SES-08.
#[test]
fn a_later_response_may_only_repeat_the_session() {
    let id = session("abc");
    let later = |known, value| {
        judge(Purpose::Request, known, &Limits::default(), 200, &[JSON, ("mcp-session-id", value)])
            .map(|head| head.session)
    };
    assert_eq!(later(Known::Session(&id), "abc"), Ok(None));
    assert_eq!(later(Known::Session(&id), "changed"), Err(Error::InvalidSessionId(SessionFault::Changed)));
    assert_eq!(later(Known::Stateless, "abc"), Err(Error::InvalidSessionId(SessionFault::Late)));
}

/// Rows EX-ST-01, EX-ST-02, EX-ST-03, EX-ST-04, EX-ST-05, EX-ST-06, EX-ST-07, EX-ST-09.
#[test]
fn only_200_carries_a_response() {
    for status in [201, 202, 204, 206, 301, 302, 307, 308, 400, 405, 429, 500, 503] {
        let error =
            judge(Purpose::Request, Known::Stateless, &Limits::default(), status, &[JSON]).unwrap_err();
        assert_eq!(error, Error::HttpStatus { status });
    }
    assert_eq!(kind(Purpose::Request, Known::Stateless, 401, &[]), "unauthorized");
    assert_eq!(kind(Purpose::Request, Known::Stateless, 403, &[]), "forbidden");
}

/// Row EX-HS-18.
#[test]
fn initialize_can_be_refused() {
    assert_eq!(kind(Purpose::Initialize, Known::Undecided, 401, &[]), "unauthorized");
    assert_eq!(kind(Purpose::Initialize, Known::Undecided, 403, &[]), "forbidden");
}

/// Rows EX-ST-08, EX-HS-17, EX-SES-01, EX-SES-05, EX-CL-05.
#[test]
fn a_404_means_expiry_only_within_a_session() {
    let id = session("abc");
    for purpose in [Purpose::Request, Purpose::Acknowledged, Purpose::Delete] {
        assert_eq!(kind(purpose, Known::Session(&id), 404, &[]), "session_expired");
        assert_eq!(kind(purpose, Known::Stateless, 404, &[]), "http_status");
    }
    assert_eq!(kind(Purpose::Initialize, Known::Undecided, 404, &[]), "http_status");
}

/// Rows EX-HS-11, EX-HS-12, EX-CTL-09, EX-CTL-13.
#[test]
fn an_acknowledgement_is_202_without_a_body() {
    let head = judge(Purpose::Acknowledged, Known::Stateless, &Limits::default(), 202, &[]).unwrap();
    assert_eq!(head.body, Body::Empty);
    for status in [200, 201, 204, 500] {
        let error = judge(Purpose::Acknowledged, Known::Stateless, &Limits::default(), status, &[JSON]);
        assert_eq!(error.unwrap_err(), Error::HttpStatus { status });
    }
}

/// Rows EX-CL-01, EX-CL-02, EX-CL-03.
#[test]
fn four_statuses_make_a_close_succeed() {
    let id = session("abc");
    for status in [200, 202, 204, 405] {
        let head = judge(Purpose::Delete, Known::Session(&id), &Limits::default(), status, &[]).unwrap();
        assert_eq!(head.body, Body::Empty);
    }
    for status in [201, 400, 500] {
        assert_eq!(kind(Purpose::Delete, Known::Session(&id), status, &[]), "http_status");
    }
}

fn body(headers: &[(&str, &str)]) -> Result<Body, Error> {
    judge(Purpose::Request, Known::Stateless, &Limits::default(), 200, headers).map(|head| head.body)
}

/// Rows EX-JS-08, EX-JS-15.
#[test]
fn there_is_exactly_one_known_content_type() {
    for value in ["text/plain", "", ";", "application/jsonx", "application/json, text/event-stream", "json"] {
        assert_eq!(body(&[("content-type", value)]), Err(Error::InvalidContentType), "{value}");
    }
    assert_eq!(body(&[]), Err(Error::InvalidContentType));
    assert_eq!(body(&[JSON, JSON]), Err(Error::InvalidContentType));
}

/// Row EX-JS-16.
#[test]
fn parameters_and_case_of_a_content_type_do_not_matter() {
    assert_eq!(body(&[("Content-Type", "Application/JSON ; charset=x")]), Ok(Body::Json));
    assert_eq!(body(&[("content-type", "TEXT/event-stream;charset=utf-8")]), Ok(Body::Stream));
    assert_eq!(body(&[("content-type", " application/json;")]), Ok(Body::Json));
}
