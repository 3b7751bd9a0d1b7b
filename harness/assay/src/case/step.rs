//! Steps: what the client under test is made to do.

use super::Case;
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;

/// A step under the name that checks and other steps call it by.
#[derive(Clone, Debug)]
pub struct NamedStep<'a> {
    /// Its name.
    pub name: String,
    /// The step.
    pub step: Cow<'a, Step>,
}

impl Case {
    /// All steps with their names, the implied `connect` included.
    #[must_use]
    pub fn named_steps(&self) -> Vec<NamedStep<'_>> {
        let mut steps = Vec::with_capacity(self.step.len() + 1);
        if self.step.iter().all(|step| step.connect.is_none()) {
            let step = Step { connect: Some(Connect::default()), ..Step::default() };
            steps.push(NamedStep { name: "connect".to_owned(), step: Cow::Owned(step) });
        }
        for (index, step) in self.step.iter().enumerate() {
            let name = step.name.clone().unwrap_or_else(|| format!("step-{}", index + 1));
            steps.push(NamedStep { name, step: Cow::Borrowed(step) });
        }
        steps
    }
}

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
    /// read), `seen:ON#3` (the third), `replied:ON`, `closed:STEP`, `ended:STEP`.
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

impl Step {
    /// The arguments of a call as JSON text; `name` is the step's.
    #[must_use]
    pub fn arguments(&self, name: &str) -> String {
        match (&self.args_json, &self.args) {
            (Some(text), _) => text.clone(),
            (None, Some(value)) => value.to_string(),
            (None, None) => serde_json::json!({ "text": name }).to_string(),
        }
    }
}

/// How a client is connected.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    /// In place of the peer's URL; `{{host}}` is its host and port, `{{pad}}` what brings it to `pad_to` bytes.
    #[serde(default)]
    pub url: Option<String>,
    /// The length in bytes that `{{pad}}` in `url` fills up to.
    #[serde(default)]
    pub pad_to: Option<u32>,
    /// Headers the client is configured with. A credential or cookie holds the word `synthetic`: runs hand their
    /// cases on.
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
