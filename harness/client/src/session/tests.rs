use super::*;

fn ready() -> Session {
    let mut session = Session::new(2);
    let ticket = session.begin_handshake().unwrap();
    assert!(session.establish(ticket, Some(id(b"s"))));
    session
}

fn id(value: &[u8]) -> SessionId {
    SessionId::parse(value, SessionHeader::FixedAtInitialize, 256).unwrap()
}

fn fault(value: &[u8], limit: usize) -> SessionFault {
    match SessionId::parse(value, SessionHeader::FixedAtInitialize, limit) {
        Err(Error::InvalidSessionId(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

/// Row EX-HS-07.
#[test]
fn a_session_with_a_space_is_refused() {
    assert_eq!(fault(b"contains space", 256), SessionFault::Byte { offset: 8 });
}

/// Row EX-HS-08.
#[test]
fn a_session_may_have_as_many_bytes_as_the_limit() {
    assert_eq!(id(&[b's'; 256]).reveal(), "s".repeat(256));
    assert_eq!(fault(&[b'x'; 257], 256), SessionFault::TooLong { limit: 256, actual: 257 });
}

/// Row EX-HS-09.
#[test]
fn a_session_is_visible_ascii() {
    assert_eq!(fault(b"", 256), SessionFault::Empty);
    for byte in (0..=0x20).chain(0x7F..=0xFF) {
        assert_eq!(fault(&[b'a', byte], 256), SessionFault::Byte { offset: 1 }, "{byte:#x}");
    }
    let visible: Vec<u8> = (0x21..=0x7E).collect();
    assert_eq!(id(&visible).reveal().as_bytes(), visible);
}

/// Rows EX-REQ-09, EX-RED-01.
#[test]
fn neither_status_nor_debug_shows_the_session() {
    let mut session = Session::new(1);
    let ticket = session.begin_handshake().unwrap();
    session.establish(ticket, Some(id(b"hunter2")));
    assert!(session.status().has_session);
    assert!(!format!("{session:?} {:?}", session.status()).contains("hunter2"));
}

/// Rows EX-REQ-04, EX-REQ-05.
#[test]
fn one_request_more_than_max_pending_is_busy() {
    let mut session = ready();
    let first = session.admit().unwrap();
    let second = session.admit().unwrap();
    assert_eq!(session.admit(), Err(Error::Busy { limit: 2 }));
    assert!(session.complete(second) && session.complete(first));
    assert!(!session.complete(first), "a request ends once");
    assert_eq!(session.status().pending, 0);
}

/// Row EX-REQ-07.
#[test]
fn ids_grow_and_are_never_reused() {
    let mut session = Session::new(1);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let handshake = session.begin_handshake().unwrap();
        ids.push(handshake.id);
        session.establish(handshake, None);
        for _ in 0..2 {
            let ticket = session.admit().unwrap();
            ids.push(ticket.id);
            session.complete(ticket);
        }
        session.expire(handshake.generation);
    }
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

/// Rows EX-SES-01, EX-SES-02.
#[test]
fn an_expiry_ends_every_pending_call_and_the_session() {
    let mut session = ready();
    let first = session.admit().unwrap();
    let second = session.admit().unwrap();
    assert!(session.expire(first.generation));
    assert!(!session.complete(first) && !session.complete(second));
    assert_eq!(session.admit(), Err(Error::NotReady));
    let status = session.status();
    assert_eq!((status.state, status.pending, status.has_session), (State::Expired, 0, false));
}

/// Row EX-SES-03.
#[test]
fn a_reconnect_is_the_next_generation() {
    let mut session = ready();
    session.expire(1);
    let ticket = session.begin_handshake().unwrap();
    assert_eq!(ticket.generation, 2);
    assert!(session.establish(ticket, None));
    assert_eq!(session.status().state, State::Ready);
    assert!(!session.status().has_session);
}

/// Rows EX-SES-04, EX-REQ-06.
#[test]
fn what_belongs_to_an_older_generation_is_ignored() {
    let mut session = ready();
    let old = session.admit().unwrap();
    session.expire(old.generation);
    let handshake = session.begin_handshake().unwrap();
    session.establish(handshake, None);
    let new = session.admit().unwrap();
    assert!(!session.complete(old));
    assert!(!session.complete(Ticket { id: new.id, ..old }));
    assert!(!session.expire(old.generation));
    assert!(!session.establish(old, None));
    assert_eq!((session.status().state, session.status().pending), (State::Ready, 1));
    assert!(session.complete(new));
}

/// Row EX-SES-09.
#[test]
fn reconnect_is_for_a_lost_session_only() {
    let mut session = ready();
    assert_eq!(session.begin_handshake(), Err(Error::NotAvailable));
    let call = session.admit().unwrap();
    assert_eq!(session.begin_handshake().unwrap_err().kind(), "busy");
    session.complete(call);
    session.expire(1);
    session.begin_handshake().unwrap();
    assert_eq!(session.begin_handshake().unwrap_err().kind(), "busy");
    assert_eq!(session.status().generation, 2);
}

/// Rows EX-SES-10, EX-HS-21.
#[test]
fn close_deletes_only_a_session_that_is_there() {
    let mut session = ready();
    assert!(session.begin_close().unwrap().is_some());
    let mut expired = ready();
    expired.admit().unwrap();
    expired.expire(1);
    assert!(expired.begin_close().unwrap().is_none());
}

/// Rows EX-CL-01, EX-CL-07.
#[test]
fn close_ends_what_is_pending_and_happens_once() {
    let mut session = ready();
    let call = session.admit().unwrap();
    session.begin_close().unwrap();
    assert!(!session.complete(call));
    assert_eq!(session.admit(), Err(Error::NotReady));
    assert_eq!(session.begin_close().unwrap_err().kind(), "closed");
    assert_eq!(session.begin_handshake().unwrap_err().kind(), "closed");
    session.end();
    assert_eq!(session.admit().unwrap_err().kind(), "closed");
    assert_eq!(session.status().state, State::Closed);
}

/// Row EX-HS-22.
#[test]
fn nothing_is_admitted_while_a_handshake_runs() {
    let mut session = Session::new(1);
    let ticket = session.begin_handshake().unwrap();
    assert_eq!(session.admit(), Err(Error::NotReady));
    assert!(session.fail_handshake(ticket));
    assert_eq!(session.admit(), Err(Error::NotReady));
    assert!(!session.establish(ticket, None));
}

/// A close that overtakes a handshake is not undone by its end.
#[test]
fn a_handshake_that_ends_after_close_changes_nothing() {
    let mut session = Session::new(1);
    let ticket = session.begin_handshake().unwrap();
    session.begin_close().unwrap();
    assert!(!session.establish(ticket, Some(id(b"late"))));
    assert_eq!(session.status().state, State::Closing);
    assert!(!session.status().has_session);
}
