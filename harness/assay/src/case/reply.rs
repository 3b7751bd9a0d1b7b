//! Rules of the scripted peer: what a reply holds (content), how HTTP frames it (framing), and what really goes
//! over the wire. Every misbehaviour is one named knob.

use schemars::JsonSchema;
use serde::Deserialize;

/// One rule of the peer: which request it answers, and how.
///
/// Content is `body` (one JSON or other body) or `stream` (an SSE body); `wire` replaces the whole reply by raw
/// bytes. With none of them the reply has no body.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A JSON-RPC method (`tools/call`), `reply` (a JSON-RPC response of the client), an HTTP method other than
    /// POST (`GET`, `DELETE`), `resume` (a GET that carries `Last-Event-ID`), or `any`.
    pub on: String,
    /// Only the n-th request this rule's other conditions match, counted from 1.
    #[serde(default)]
    pub nth: Option<u32>,
    /// Only requests with this header.
    #[serde(default)]
    pub with: Option<HeaderMatch>,

    /// Wait before answering until `release` names this hold.
    #[serde(default)]
    pub hold: Option<String>,
    /// Let go of this hold when the rule matches.
    #[serde(default)]
    pub release: Option<String>,
    /// Milliseconds of the variant's clock between request and reply.
    #[serde(default)]
    pub delay_ms: Option<u64>,

    /// Status code; 200 unless said (202 to notifications and replies without content).
    #[serde(default)]
    pub status: Option<u16>,
    /// Reason phrase; the usual one unless said.
    #[serde(default)]
    pub reason: Option<String>,
    /// Content type; by content unless said. An empty text leaves the header out.
    #[serde(default)]
    pub content_type: Option<String>,
    /// `mcp-session-id` of the reply.
    #[serde(default)]
    pub session: Option<String>,
    /// Further header lines, name and value, as they go on the wire after the others.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Statuses of interim replies sent before.
    #[serde(default)]
    pub interim: Vec<u16>,

    /// The body: its items one after the other.
    #[serde(default)]
    pub body: Option<Vec<Item>>,
    /// The SSE body: its items one after the other, messages as events.
    #[serde(default)]
    pub stream: Option<Vec<Item>>,
    /// Line ends of encoded events.
    #[serde(default)]
    pub eol: Eol,
    /// Pads `{{pad}}` so that a unit of the reply is exactly at a limit, or over it.
    #[serde(default)]
    pub bound: Option<Bound>,

    /// How the body's end is told. `chunked` for `stream`, else `length`, unless said.
    #[serde(default)]
    pub framing: Option<Framing>,
    /// Where chunks end inside the body (chunked only). One chunk an item unless said.
    #[serde(default)]
    pub chunks: Option<String>,
    /// Text after each chunk size, with its `;` (chunked only).
    #[serde(default)]
    pub chunk_extension: Option<String>,
    /// Trailer lines (chunked only).
    #[serde(default)]
    pub trailers: Vec<(String, String)>,
    /// What is added to the true length in `content-length`: a lie.
    #[serde(default)]
    pub length_lie: i64,
    /// Raw bytes in place of the whole reply.
    #[serde(default)]
    pub wire: Option<Vec<Item>>,

    /// Where writes end; `whole` unless said. See [`crate::plan`].
    #[serde(default)]
    pub slice: Option<String>,
    /// The part of the reply that `slice` cuts.
    #[serde(default)]
    pub slice_over: Region,
    /// What follows the reply.
    #[serde(default)]
    pub then: Then,
    /// What `then = "drip"` keeps sending.
    #[serde(default)]
    pub drip: Option<Drip>,
}

/// A condition on a request header.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HeaderMatch {
    /// Header name, lower case.
    pub name: String,
    /// Its value; any unless said.
    #[serde(default)]
    pub is: Option<String>,
    /// The header must be absent instead.
    #[serde(default)]
    pub absent: bool,
}

/// One item of a body or stream: exactly one content key, and modifiers.
///
/// In every text, `{{id}}` is the request's id as JSON, `{{arg.NAME}}` a text argument of the call (JSON-escaped),
/// `{{pad}}` the padding of `bound`, `{{session}}` the session id the request carried, `{{host}}` the host and port it
/// named, which are the peer's, `{{revision}}` the revision spoken, and `{{call.NAME}}` the id as JSON of the latest
/// call before whose `text` argument is NAME (a step's name, unless the case gives it others): what a stream resumed
/// by GET answers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// A tool result with this one text. The terminal message.
    #[serde(default)]
    pub result: Option<String>,
    /// A result with this value. The terminal message.
    #[serde(default)]
    pub result_json: Option<serde_json::Value>,
    /// A JSON-RPC error. The terminal message.
    #[serde(default)]
    pub error: Option<ErrorItem>,
    /// A request of the server.
    #[serde(default)]
    pub request: Option<RequestItem>,
    /// A notification.
    #[serde(default)]
    pub note: Option<NoteItem>,
    /// A message as JSON text, as it stands (in a stream: one event).
    #[serde(default)]
    pub json: Option<String>,
    /// An event of these lines, each with the rule's line end, and a blank line.
    #[serde(default)]
    pub event: Option<Vec<String>>,
    /// Text as it stands.
    #[serde(default)]
    pub text: Option<String>,
    /// Bytes in hexadecimal.
    #[serde(default)]
    pub hex: Option<String>,
    /// A text repeated `times` times.
    #[serde(default)]
    pub repeat: Option<String>,
    /// Another item: where a `vary` value goes.
    #[serde(default)]
    pub bytes: Option<Box<Self>>,
    /// Several items: where a `vary` value with more than one goes.
    #[serde(default)]
    pub items: Option<Vec<Self>>,
    /// Nothing is sent for this many milliseconds of the variant's clock.
    #[serde(default)]
    pub pause_ms: Option<u64>,
    /// Nothing more is sent until `release` names this hold.
    #[serde(default)]
    pub hold: Option<String>,

    /// How often the item comes; `{{n}}` counts from 1.
    #[serde(default)]
    pub times: Option<u64>,
    /// Text after the last repetition of `repeat`.
    #[serde(default)]
    pub then: Option<String>,
    /// The message's id as JSON text in place of `{{id}}` (`"1"` with quotes, `{{id}}.0`, `null`); empty: no id.
    #[serde(default)]
    pub id: Option<String>,
    /// Line ends of this event in place of the rule's.
    #[serde(default)]
    pub eol: Option<Eol>,
    /// A mark of this name at the item's end.
    #[serde(default)]
    pub mark: Option<String>,
}

/// A JSON-RPC error.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ErrorItem {
    /// Its code.
    pub code: i64,
    /// Its message.
    pub message: String,
    /// Its data.
    #[serde(default)]
    pub data: Option<serde_json::Value>,
}

/// A request of the server.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RequestItem {
    /// Its id, a JSON text: `"ping"` with quotes, `7`.
    pub id: String,
    /// Its method.
    pub method: String,
    /// Its params.
    #[serde(default)]
    pub params: Option<serde_json::Value>,
}

/// A notification.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NoteItem {
    /// Its method.
    pub method: String,
    /// Its params.
    #[serde(default)]
    pub params: Option<serde_json::Value>,
}

/// Line ends of SSE lines.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Eol {
    /// LF.
    #[default]
    Lf,
    /// CR LF.
    Crlf,
    /// CR.
    Cr,
}

/// Padding to a limit: one construct for exact and +1.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// What is measured.
    pub unit: Unit,
    /// The limit, by its public option name: as in the case's `limits`, else as the policy's default.
    pub limit: String,
    /// Units past the limit: 0 is exact.
    #[serde(default)]
    pub over: u64,
    /// Of what the padding is made.
    #[serde(default)]
    pub fill: Fill,
}

/// A unit of a reply that a limit bounds, in bytes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Sum of header names and values of the final reply's head and its trailers.
    Head,
    /// Body bytes through the terminal event's line end (CR LF: through the CR), or the whole JSON body.
    Body,
    /// The SSE line that holds the padding, without its end.
    Line,
    /// The joined data of the SSE event that holds the padding.
    Event,
    /// The joined data of all server requests and notifications before the terminal event.
    Control,
    /// The value of `mcp-session-id`.
    Session,
}

/// What padding is made of.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// One-byte characters.
    #[default]
    Ascii,
    /// Three-byte characters, the last one ending where the padding ends; one-byte ones make up the rest before.
    Wide,
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// `content-length`.
    Length,
    /// `transfer-encoding: chunked`.
    Chunked,
    /// The end of the connection, with `connection: close`.
    Close,
    /// Nothing is said and no body is framed: the bytes follow the head.
    None,
}

/// The part of a reply that a slice plan cuts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// All of it.
    #[default]
    Reply,
    /// The head.
    Head,
    /// What follows the head.
    Body,
    /// What follows the terminal message.
    Suffix,
}

/// What the peer does after the bytes of a reply.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// Ends the body as framed and keeps the connection for further requests.
    #[default]
    Continue,
    /// Ends the body as framed and closes the connection.
    Fin,
    /// Ends the body as framed and resets the connection.
    Rst,
    /// Leaves the body open (no final chunk) and the connection too, until the client closes it.
    Hold,
    /// Closes the connection without ending the body (no final chunk).
    Truncate,
    /// Resets the connection without ending the body.
    TruncateRst,
    /// Leaves the body open and keeps sending `drip`.
    Drip,
}

/// What is sent again and again while the client keeps the connection.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Drip {
    /// What is sent.
    pub item: Box<Item>,
    /// Milliseconds of the variant's clock between two.
    pub every_ms: u64,
}
