//! The arguments of a tool call.

use std::fmt;

use serde_json::value::RawValue;

use crate::error::{Error, RequestFault};
use crate::rule::{Rule, rule};

/// A JSON object, kept as the text it was given as. `Debug` shows its length only.
///
/// ```
/// use mcp_assay_client::Arguments;
///
/// let arguments = Arguments::from_json(r#"{"text":"hello"}"#)?;
/// assert!(Arguments::from_json("[1]").is_err());
/// # let _ = arguments;
/// # Ok::<(), mcp_assay_client::Error>(())
/// ```
#[derive(Clone)]
pub struct Arguments(Box<str>);

impl Arguments {
    /// No arguments: `{}`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Arguments, CallOptions};
    ///
    /// # let server = Server::default();
    /// # let client = server.client().await?;
    /// let output = client.call_tool("echo", Arguments::empty(), CallOptions::new()).await?;
    /// assert_eq!(output.text, "");
    /// # assert!(server.heard(r#""arguments":{}"#));
    /// # Ok(()) }
    /// ```
    pub fn empty() -> Self {
        Self("{}".into())
    }

    /// Takes a JSON text.
    ///
    /// # Errors
    ///
    /// `invalid_request` if it is not one JSON object.
    ///
    /// ```
    /// use mcp_assay_client::Arguments;
    ///
    /// let arguments = Arguments::from_json(r#"{"text":"hello"}"#)?;
    /// assert_eq!(format!("{arguments:?}"), "Arguments(16 bytes withheld)");
    /// assert_eq!(Arguments::from_json("null").unwrap_err().kind(), "invalid_request");
    /// # Ok::<(), mcp_assay_client::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|_| not_an_object())?;
        match Self::try_from(raw) {
            Err(_) if !rule(Rule::ArgumentsAreObjects) => Ok(Self::empty()),
            arguments => arguments,
        }
    }

    /// The object's text.
    pub(crate) fn object(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&RawValue> for Arguments {
    type Error = Error;

    /// Takes a JSON value that is an object; `invalid_request` for any other. Row EX-REQ-03.
    fn try_from(raw: &RawValue) -> Result<Self, Error> {
        let text = raw.get().trim_ascii();
        if text.starts_with('{') { Ok(Self(text.into())) } else { Err(not_an_object()) }
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for Arguments {
    fn from(map: serde_json::Map<String, serde_json::Value>) -> Self {
        Self(serde_json::Value::Object(map).to_string().into())
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({} bytes withheld)", self.0.len())
    }
}

fn not_an_object() -> Error {
    Error::InvalidRequest(RequestFault::ArgumentsNotObject)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row EX-REQ-03.
    #[test]
    fn only_objects_are_arguments() {
        for text in ["", "[]", "1", "null", "{", "{}{}", "\"{}\""] {
            assert_eq!(Arguments::from_json(text).unwrap_err().kind(), "invalid_request", "{text}");
        }
        assert_eq!(Arguments::from_json(" {\"a\":1} ").unwrap().object(), "{\"a\":1}");
        let map = [("a".to_owned(), 1.into())].into_iter().collect::<serde_json::Map<_, _>>();
        assert_eq!(Arguments::from(map).object(), "{\"a\":1}");
        assert_eq!(Arguments::empty().object(), "{}");
    }

    /// Row EX-RED-01.
    #[test]
    fn debug_hides_the_text() {
        let shown = format!("{:?}", Arguments::from_json(r#"{"password":"hunter2"}"#).unwrap());
        assert_eq!(shown, "Arguments(22 bytes withheld)");
    }
}
