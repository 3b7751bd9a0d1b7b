//! Between verbs, as harness and clients know them, and requests.

use super::Request;
use crate::driver::{Connect, Verb};
use crate::judge::Offers;
use serde_json::value::RawValue;
use std::time::Duration;

/// What a request asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// Who is there.
    Hello,
    /// The variant is over: all clients and pending verbs are dropped.
    End,
    /// A verb of a client.
    Verb(String, Verb),
}

impl Request {
    /// A request without a client.
    #[must_use]
    pub fn plain(seq: u64, verb: &str) -> Self {
        Self { seq, verb: verb.to_owned(), ..Self::default() }
    }

    /// The request for a verb. `offers` says which limits go along; `of` is the number of the verb to cancel.
    ///
    /// # Errors
    /// In words: arguments that are no JSON.
    pub fn of_verb(
        seq: u64,
        client: &str,
        verb: Verb,
        offers: &Offers,
        of: Option<u64>,
    ) -> Result<Self, String> {
        let mut request = Self::plain(seq, verb.name());
        request.client = Some(client.to_owned());
        match verb {
            Verb::Connect(connect) => {
                let Connect { url, headers, protocol_version, mut limits } = *connect;
                limits.retain(|name, _| offers.has(name));
                request.url = Some(url);
                request.headers = Some(headers);
                request.protocol_version = Some(protocol_version);
                request.limits = Some(limits);
            }
            Verb::CallTool { tool, arguments, timeout } => {
                let raw = RawValue::from_string(arguments);
                request.arguments = Some(raw.map_err(|e| format!("arguments that are no JSON: {e}"))?);
                request.tool = Some(tool);
                request.timeout_ms =
                    timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
            }
            Verb::Cancel { .. } => request.of = of,
            Verb::Unheard(name) => request.verb = name,
            Verb::ListTools | Verb::Reconnect | Verb::Close | Verb::Kill => {}
        }
        Ok(request)
    }

    /// What the request asks for. Steps are named by the number of their request.
    ///
    /// # Errors
    /// In words: a member that the verb needs is missing.
    pub fn asked(self) -> Result<Asked, String> {
        let missing = |member: &str| format!("{}: expected the member {member:?}", self.verb);
        let verb = match self.verb.as_str() {
            "hello" => return Ok(Asked::Hello),
            "end" => return Ok(Asked::End),
            "connect" => Verb::Connect(Box::new(Connect {
                url: self.url.clone().ok_or_else(|| missing("url"))?,
                headers: self.headers.clone().unwrap_or_default(),
                protocol_version: self.protocol_version.clone().ok_or_else(|| missing("protocol_version"))?,
                limits: self.limits.clone().unwrap_or_default(),
            })),
            "list_tools" => Verb::ListTools,
            "call_tool" => Verb::CallTool {
                tool: self.tool.clone().ok_or_else(|| missing("tool"))?,
                arguments: self.arguments.as_ref().ok_or_else(|| missing("arguments"))?.get().to_owned(),
                timeout: self.timeout_ms.map(Duration::from_millis),
            },
            "cancel" => Verb::Cancel { step: self.of.ok_or_else(|| missing("of"))?.to_string() },
            "reconnect" => Verb::Reconnect,
            "close" => Verb::Close,
            "kill" => Verb::Kill,
            unheard => Verb::Unheard(unheard.to_owned()),
        };
        let client = match (&self.client, &verb) {
            (Some(client), _) => client.clone(),
            (None, Verb::Unheard(_)) => String::new(),
            (None, _) => return Err(missing("client")),
        };
        Ok(Asked::Verb(client, verb))
    }
}
