//! The choices in which reasonable clients differ, as values.
//!
//! A [`Policy`] has one field for each decision that the client makes, each an enum that names the
//! alternatives in use, and each read in one place. Numbers are not here: they are
//! [`Limits`](crate::limits::Limits). Decisions that need no code (no resumption, no GET stream, no redirects)
//! have no field.

/// How the client behaves where the specification leaves room.
///
/// ```
/// use mcp_assay_client::policy::Policy;
///
/// assert_eq!(Policy::default(), Policy::exagent());
/// assert_eq!(Policy::exagent().name, "exagent");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The policy's name, for reports.
    pub name: &'static str,
    /// Which protocol versions are spoken. Decision 1.
    pub versions: Versions,
    /// What a 404 within a session means. Decision 3.
    pub session_404: Session404,
    /// Which session headers are accepted, and when. Decision 4.
    pub session_header: SessionHeader,
    /// How the server must acknowledge a notification or a reply. Decisions 5 and 6.
    pub acknowledgement: Acknowledgement,
    /// Which statuses can carry the response to a request. Decisions 9 and 11 to 16.
    pub request_status: RequestStatus,
    /// What an event with empty data is. Decision 25.
    pub empty_event: EmptyEvent,
    /// When a response belongs to a request. Decision 26.
    pub response_id: ResponseId,
    /// How requests of the server are answered. Decision 31.
    pub server_requests: ServerRequests,
    /// What a caller's giving up does on the wire. Decision 37.
    pub cancellation: Cancellation,
    /// Which answers to DELETE make a close succeed. Decision 39.
    pub delete: Delete,
    /// What a catalogue's `nextCursor` means. Decision 40.
    pub pages: Pages,
    /// What a tool may return. Decisions 42 and 43.
    pub content: Content,
    /// Which headers the caller cannot set. Decision 44.
    pub owned_headers: OwnedHeaders,
    /// Which bytes a configured header value may have. Decision 45.
    pub header_values: HeaderValues,
    /// Which URLs are accepted. Decision 52.
    pub url: UrlRule,
}

impl Policy {
    /// The choices of ExAgent's Streamable HTTP client.
    pub const fn exagent() -> Self {
        Self {
            name: "exagent",
            versions: Versions::Only20250618,
            session_404: Session404::ExpireAll,
            session_header: SessionHeader::FixedAtInitialize,
            acknowledgement: Acknowledgement::AcceptedAndEmpty,
            request_status: RequestStatus::OkOnly,
            empty_event: EmptyEvent::Message,
            response_id: ResponseId::Exact,
            server_requests: ServerRequests::PingOnly,
            cancellation: Cancellation::CloseThenPost,
            delete: Delete::ReportFailure,
            pages: Pages::First,
            content: Content::TextOnly,
            owned_headers: OwnedHeaders::Transport,
            header_values: HeaderValues::Printable,
            url: UrlRule::OriginAndTarget,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::exagent()
    }
}

/// Which protocol versions are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Versions {
    /// 2025-06-18, which the server must echo. Rows EX-CFG-12, EX-HS-05.
    Only20250618,
}

impl Versions {
    /// The versions, newest first.
    pub const fn all(self) -> &'static [&'static str] {
        match self {
            Self::Only20250618 => &["2025-06-18"],
        }
    }
}

/// What a 404 within a session means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Session404 {
    /// `session_expired` for every pending call, no ready session until an explicit reconnect, nothing sent
    /// again. Row EX-SES-01.
    ExpireAll,
}

/// Which session headers are accepted, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionHeader {
    /// One header of visible ASCII with the initialize response; later responses may only repeat it. Rows
    /// EX-HS-07 to EX-HS-10, EX-SES-06 to EX-SES-08.
    FixedAtInitialize,
}

/// How the server must acknowledge a notification or a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Acknowledgement {
    /// 202 without a body. Rows EX-HS-11 to EX-HS-13, EX-CTL-09.
    AcceptedAndEmpty,
}

/// Which statuses can carry the response to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestStatus {
    /// 200; any other is the error, its body unread. Rows EX-ST-01 to EX-ST-09.
    OkOnly,
}

/// What an event with empty data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmptyEvent {
    /// A message like any other, so a malformed one. Row EX-SSE-21.
    Message,
}

/// When a response belongs to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResponseId {
    /// When its id is the same JSON integer; any other response is an error. Rows EX-JS-01 to EX-JS-03,
    /// EX-SSE-25.
    Exact,
}

/// How requests of the server are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerRequests {
    /// `ping` with an empty result, all others with -32601, before the stream is read on. Row EX-CTL-01.
    PingOnly,
}

/// What a caller's giving up does on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cancellation {
    /// Closes the socket, then posts one `notifications/cancelled`. Row EX-TO-01.
    CloseThenPost,
}

/// Which answers to DELETE make a close succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delete {
    /// 200, 202, 204 and 405 without a body; anything else is reported. The client ends in any case. Rows
    /// EX-CL-01 to EX-CL-06.
    ReportFailure,
}

/// What a catalogue's `nextCursor` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pages {
    /// Only a catalogue of one page is accepted. Row EX-TL-02.
    First,
}

/// What a tool may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text, joined; a failed tool is an error with its text. Rows EX-TR-01 to EX-TR-06.
    TextOnly,
}

/// Which headers the caller cannot set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedHeaders {
    /// The nine that frame or route a message; `authorization` is the caller's. Rows EX-CFG-04, EX-CFG-17.
    Transport,
}

impl OwnedHeaders {
    /// The names, in lower case.
    pub(crate) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Transport => &[
                "accept",
                "content-type",
                "content-length",
                "host",
                "connection",
                "transfer-encoding",
                "mcp-session-id",
                "mcp-protocol-version",
                "last-event-id",
            ],
        }
    }
}

/// Which bytes a configured header value may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderValues {
    /// 0x20 to 0x7E. Rows EX-CFG-05, EX-CFG-06.
    Printable,
}

/// Which URLs are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlRule {
    /// `http` or `https`, a host, a path and a query; no user info and no fragment; at most 8 192 bytes. Rows
    /// EX-CFG-02, EX-CFG-03, EX-CFG-10, EX-CFG-11, EX-CFG-15.
    OriginAndTarget,
}
