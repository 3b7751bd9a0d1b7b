//! The choices in which reasonable clients differ, as values.
//!
//! A [`Policy`] has one field for each decision that the client makes, each an enum that names the
//! alternatives in use, and each read in one place. Numbers are not here: they are
//! [`Limits`](crate::limits::Limits). Decisions that need no code (no resumption, no GET stream, no redirects)
//! have no field.

mod configuration;
mod life;
mod message;
mod tools;

pub use configuration::{HeaderValues, OwnedHeaders, UrlRule};
pub use life::{Delete, Session404, SessionHeader, Versions};
pub use message::{Acknowledgement, Cancellation, EmptyEvent, RequestStatus, ResponseId, ServerRequests};
pub use tools::{Content, Pages};

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
    /// Which protocol versions are spoken. A client may know several, and may take one it did not ask for.
    pub versions: Versions,
    /// What a 404 within a session means. A new session is due, but not what becomes of the calls that lost theirs.
    pub session_404: Session404,
    /// Which session headers are accepted, and when. No length is specified, nor what a second or a later header means.
    pub session_header: SessionHeader,
    /// How the server must acknowledge a notification or a reply. 202 is specified; many clients take any success.
    pub acknowledgement: Acknowledgement,
    /// Which statuses can carry the response to a request. Some clients follow redirects, or read JSON-RPC out of errors.
    pub request_status: RequestStatus,
    /// What an event with empty data is. Later revisions send one first, so that a stream can be resumed.
    pub empty_event: EmptyEvent,
    /// When a response belongs to a request. Some clients compare numbers by value, or skip what is not theirs.
    pub response_id: ResponseId,
    /// How requests of the server are answered. It depends on which capabilities a client offers; this one offers none.
    pub server_requests: ServerRequests,
    /// What a caller's giving up does on the wire. A notification should be sent; before or after the close is left open.
    pub cancellation: Cancellation,
    /// Which answers to DELETE make a close succeed. Servers may refuse it, and some clients ignore the outcome.
    pub delete: Delete,
    /// What a catalogue's `nextCursor` means. Following it costs a request a page, without an end that is specified.
    pub pages: Pages,
    /// What a tool may return. Some clients hand on every kind of content, and a failed tool as a result.
    pub content: Content,
    /// Which headers the caller cannot set. A second value of these would contradict what the client says itself.
    pub owned_headers: OwnedHeaders,
    /// Which bytes a configured header value may have. HTTP allows more than servers agree on how to read.
    pub header_values: HeaderValues,
    /// Which URLs are accepted. Some clients drop user info or a fragment in silence.
    pub url: UrlRule,
}

impl Policy {
    /// The choices of ExAgent's Streamable HTTP client.
    ///
    /// ```
    /// use mcp_assay_client::Policy;
    /// use mcp_assay_client::policy::Pages;
    ///
    /// let policy = Policy::exagent();
    /// assert_eq!((policy.name, policy.pages), ("exagent", Pages::First));
    /// ```
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
