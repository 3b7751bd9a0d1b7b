//! Steps: what the client under test is made to do.

use schemars::JsonSchema;
use serde::Deserialize;

/// One step: exactly one verb key, and how it is timed.
///
/// Steps run in order, and each waits for its verb to settle. `start = true` goes on at once; a later
/// `await = "name"` joins it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The step's name for checks and other steps; `step-N` unless said.
    #[serde(default, rename = "as")]
    pub name: Option<String>,
    /// The client that acts; `a` unless said.
    #[serde(default)]
    pub client: Option<String>,
    /// Goes on with the next step at once.
    #[serde(default)]
    pub start: bool,
    /// Waits for an event of the timeline before the verb: `held:NAME`, `seen:ON` (a request on that method was
    /// read), `seen:ON#3` (the third), `replied:ON`, `closed:STEP`.
    #[serde(default)]
    pub after: Option<String>,

    /// Verb: connects the client.
    #[serde(default)]
    pub connect: Option<Connect>,
    /// Verb: lists the tools.
    #[serde(default)]
    pub list: bool,
    /// Verb: calls this tool.
    #[serde(default)]
    pub call: Option<String>,
    /// Verb: gives up waiting for this started step (the call's future is dropped).
    #[serde(default)]
    pub cancel: Option<String>,
    /// Verb: makes a new session explicitly.
    #[serde(default)]
    pub reconnect: bool,
    /// Verb: closes the client.
    #[serde(default)]
    pub close: bool,
    /// Verb: drops the client with all its handles, as when its owner dies.
    #[serde(default)]
    pub kill: bool,
    /// Verb: joins this started step.
    #[serde(default, rename = "await")]
    pub join: Option<String>,
    /// Verb: lets go of this hold of the peer.
    #[serde(default)]
    pub release: Option<String>,
    /// Verb: waits, so that the absence of a delayed action can be told.
    #[serde(default)]
    pub linger: Option<Linger>,
    /// Verb (SDK servers): calls this admin route: `expire`, `drop_sockets`.
    #[serde(default)]
    pub admin: Option<String>,

    /// Arguments of the call; `{ text = "<step's name>" }` unless said.
    #[serde(default)]
    pub args: Option<serde_json::Value>,
    /// Arguments of the call as JSON text, for what TOML cannot say.
    #[serde(default)]
    pub args_json: Option<String>,
    /// Time limit of this verb in ms, given to the client.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

/// How a client is connected.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    /// In place of the peer's URL; `{{host}}` is its host and port.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers the client is configured with.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The protocol revision asked for, where it is not the variant's.
    #[serde(default)]
    pub protocol_version: Option<String>,
}

/// A wait for something that must not come.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Linger {
    /// How long, in ms of the variant's clock.
    pub ms: u64,
    /// Why this long is enough.
    pub because: String,
}
