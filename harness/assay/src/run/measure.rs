//! Limits that a first run measures: for sizes that only the client can tell.

use crate::case::{Case, Limit, Measure, Measured};
use crate::judge::index::Index;
use crate::peer::compile::sse;
use crate::tap::layout::Layout;
use crate::tap::stream;
use crate::timeline::Event;
use std::collections::BTreeMap;

/// The case's limits as numbers; `timeline` is that of the run with the measured ones left alone.
///
/// # Errors
/// Something to measure did not happen, or is not larger than what is to be taken off.
pub fn resolve(case: &Case, timeline: &[Event]) -> Result<BTreeMap<String, u64>, String> {
    let resolved = case.limits.iter().map(|(name, limit)| {
        let value = match limit {
            Limit::Is(value) => *value,
            Limit::Measured(measured) => measure(case, timeline, measured)
                .and_then(|size| size.checked_sub(measured.less).filter(|value| *value > 0))
                .ok_or_else(|| {
                    format!(
                        "limits.{name}: expected step {:?} to show more than {} bytes to measure, it showed none",
                        measured.of, measured.less
                    )
                })?,
        };
        Ok((name.clone(), value))
    });
    resolved.collect()
}

fn measure(case: &Case, timeline: &[Event], measured: &Measured) -> Option<u64> {
    let index = Index::new(case, timeline);
    let size = match measured.measure {
        Measure::Request => index.request_of(&measured.of)?.request.body.len(),
        Measure::Control => index.requests.iter().find(|r| r.request.on() == "reply")?.request.body.len(),
        of_answer => {
            let request = index.request_of(&measured.of)?.request;
            let reply = index.replies.get(&request.number)?;
            let layout = Layout::of(&reply.reply.bytes, &request.method);
            answer(&layout, of_answer, request.json.as_ref().and_then(|json| json.get("id")))?
        }
    };
    u64::try_from(size).ok()
}

/// A size of an SDK server's answer.
fn answer(layout: &Layout, measure: Measure, id: Option<&serde_json::Value>) -> Option<usize> {
    let events = || stream::events(&layout.content).into_iter();
    match measure {
        Measure::Head => Some(layout.headers.iter().map(|(name, value)| name.len() + value.len()).sum()),
        Measure::Body => stream::terminal(layout, id)
            .map_or(Some(layout.content.len()), |(end, free)| end.checked_sub(free)),
        Measure::Line => sse::lines(&layout.content).map(|line| line.len()).max(),
        Measure::Event => events().map(|event| event.data.len()).max(),
        Measure::Session => layout.header("mcp-session-id").next().map(str::len),
        Measure::Request | Measure::Control => None,
    }
}
