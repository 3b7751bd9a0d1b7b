//! Steps in words.

use crate::case::step::NamedStep;
use std::fmt::Write as _;

/// What a step makes the client (or the harness) do, in one line.
///
/// ```
/// use mcp_assay::case::Case;
/// use mcp_assay::explain::deed;
///
/// let case: Case = toml::from_str(
///     "title = 'One call'\nrevisions = ['2025-06-18']\n[[step]]\ncall = 'echo'\nas = 'first'\nstart = true",
/// )?;
/// let deeds: Vec<String> = case.named_steps().iter().map(deed).collect();
/// assert_eq!(deeds, ["connect", "call `echo` with {\"text\":\"first\"}; goes on at once"]);
/// # Ok::<(), toml::de::Error>(())
/// ```
#[must_use]
pub fn deed(named: &NamedStep<'_>) -> String {
    let step = &named.step;
    let mut text = String::new();
    // Writing into a String cannot fail.
    if let Some(after) = &step.after {
        let _ = write!(text, "after {after}: ");
    }
    if let Some(client) = &step.client {
        let _ = write!(text, "as client {client}: ");
    }
    let _ = match step {
        _ if step.list => write!(text, "list the tools"),
        _ if step.reconnect => write!(text, "make a new session"),
        _ if step.close => write!(text, "close"),
        _ if step.kill => write!(text, "drop all its handles, as when its owner dies"),
        _ => write!(text, "{}", verb(named)),
    };
    if let Some(ms) = step.timeout_ms {
        let _ = write!(text, " within {ms} ms");
    }
    if step.start {
        text.push_str("; goes on at once");
    }
    text
}

/// The verbs that say more than their name.
fn verb(named: &NamedStep<'_>) -> String {
    let step = &named.step;
    if let Some(connect) = &step.connect {
        let mut text = "connect".to_owned();
        if let Some(url) = &connect.url {
            let _ = write!(text, " to {url}");
        }
        if let Some(version) = &connect.protocol_version {
            let _ = write!(text, " asking for {version}");
        }
        if !connect.headers.is_empty() {
            let names: Vec<&str> = connect.headers.iter().map(|(name, _)| name.as_str()).collect();
            let _ = write!(text, " with the headers {}", names.join(", "));
        }
        return text;
    }
    let texts = [
        step.call.as_ref().map(|tool| format!("call `{tool}` with {}", step.arguments(&named.name))),
        step.cancel.as_ref().map(|named| format!("give up waiting for step `{named}`")),
        step.join.as_ref().map(|named| format!("wait for step `{named}` to end")),
        step.release.as_ref().map(|hold| format!("(the harness lets go of the hold `{hold}`)")),
        step.linger
            .as_ref()
            .map(|linger| format!("(the harness waits {} ms: {})", linger.ms, linger.because)),
        step.admin.as_ref().map(|route| format!("(the harness calls the server's admin route {route})")),
    ];
    texts.into_iter().flatten().next().unwrap_or_default()
}
