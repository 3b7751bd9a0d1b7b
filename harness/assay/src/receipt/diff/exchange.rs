//! How two exchanges differ, as text.

use crate::receipt::fold;
use crate::receipt::open::OpenRun;
use crate::receipt::problem::Problem;
use crate::receipt::verify::Rejudge;
use crate::variant::CaseId;
use similar::TextDiff;
use std::collections::BTreeMap;

/// A variant whose exchanges are to be compared: its case and its id.
pub(super) type Wanted = (CaseId, String);

/// The exchanges of some variants of a run, as texts of many lines.
pub(super) fn texts(
    run: &OpenRun,
    wanted: &[Wanted],
    rejudge: &mut dyn Rejudge,
) -> Result<BTreeMap<Wanted, String>, Vec<Problem>> {
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let catalog = run.catalog().map_err(|problem| vec![problem])?;
    rejudge.open(&run.run.head, &catalog)?;
    let mut texts = BTreeMap::new();
    for (case, id) in wanted {
        let one = fold::read_id(id)
            .and_then(|variant| run.timeline(case, &variant))
            .map_err(|problem| vec![problem])?;
        let text = one.and_then(|stored| rejudge.exchange(case, &stored.variant, &stored.timeline));
        texts.extend(text.map(|text| ((case.clone(), id.clone()), lines(&text))));
    }
    Ok(texts)
}

/// The lines that differ, each with `-` or `+`, and three lines around them.
pub(crate) fn unified(from: &str, to: &str) -> String {
    TextDiff::from_lines(from, to).unified_diff().context_radius(3).to_string()
}

/// JSON over many lines; other text as it is.
fn lines(text: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(text);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| text.to_owned()) + "\n"
}
