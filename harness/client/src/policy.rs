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
