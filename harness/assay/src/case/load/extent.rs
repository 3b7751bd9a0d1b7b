//! How much a case file may stand for: told from its lists alone, before any variant is looked at.

use crate::case::vary::Template;
use crate::case::{MAX_VARIANTS, USUAL_VARIANTS};
use crate::document::Document;
use crate::source::SourceError;
use std::path::Path;

/// The most steps. A dialogue is one fault; what is longer than this is a load, and belongs elsewhere.
const STEPS: usize = 500;

/// What is too much. `template` is that of the file.
pub(super) fn too_much(
    path: &Path,
    text: &str,
    table: &toml::Table,
    template: &Template,
) -> Vec<SourceError> {
    let Some(document) = Document::parse(text) else { return Vec::new() };
    let mut errors = Vec::new();
    let mut error = |key: &str, message: String, help: &str| {
        errors.push(SourceError::at(path, text, document.get(key).span(), message, help));
    };
    let len = |key: &str| table.get(key).and_then(toml::Value::as_array).map_or(0, Vec::len);
    let said = table.get("max_variants").and_then(toml::Value::as_integer);
    let most = said.unwrap_or_else(|| i64::from(USUAL_VARIANTS));
    if most > i64::from(MAX_VARIANTS) {
        let message = format!("{most} variants where {MAX_VARIANTS} are the most of any case");
        error("max_variants", message, "narrow [vary]: cuts of open plans count too");
    }
    if most < 1 {
        let message = format!("at most {most} variants where a case has one or more");
        error("max_variants", message, "say how many are meant, or leave it out");
    }
    let variants = template.product().saturating_mul(len("revisions"));
    let allowed = most.min(MAX_VARIANTS.into());
    if most >= 1 && i64::try_from(variants).map_or(true, |variants| variants > allowed) {
        let help = "narrow [vary], or say `max_variants = N` if that many are meant";
        error("vary", format!("at least {variants} variants where {most} are allowed"), help);
    }
    if len("step") > STEPS {
        let message = format!("{} steps where {STEPS} are allowed", len("step"));
        error(
            "step",
            message,
            "a case is one dialogue with one fault: leave out what the fault does not need",
        );
    }
    errors
}
