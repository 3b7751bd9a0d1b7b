//! The calls a peer was sent, so that a stream resumed by GET can answer them: such a request carries no id itself.

use crate::timeline::Request;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The ids of the calls of one variant, by their `text` argument. Cheap to clone; all clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Calls(Arc<Mutex<BTreeMap<String, String>>>);

impl Calls {
    /// Remembers the request if it is a call with a `text`; the latest of several counts.
    pub(super) fn note(&self, request: &Request) {
        let Some(json) = request.json.as_ref().filter(|_| request.on() == "tools/call") else { return };
        let text = json.pointer("/params/arguments/text").and_then(Value::as_str);
        if let (Some(text), Some(id)) = (text, json.get("id")) {
            // Nothing but the insertion happens under the lock; a panic elsewhere leaves the map as it was.
            let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            ids.insert(text.to_owned(), id.to_string());
        }
    }

    /// The id, as JSON, of the latest call with this `text`.
    pub(super) fn id(&self, text: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned()
    }
}
