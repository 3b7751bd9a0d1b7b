//! A result that was not expected, as a person sees it.

use super::variant::Setup;
use crate::catalogue::CaseFile;
use crate::receipt::writer::VariantRun;
use crate::render::Failure;
use crate::verdict::CheckResult;
use std::fmt;

/// One result of one variant. Shown, it is the rendered failure.
#[derive(Clone, Copy)]
pub struct Sighting<'a> {
    /// The profile as the person named it.
    pub profile: &'a str,
    /// What the variant was run with.
    pub setup: &'a Setup<'a>,
    /// The case.
    pub file: &'a CaseFile,
    /// The variant.
    pub ran: &'a VariantRun,
    /// The result.
    pub result: &'a CheckResult,
}

impl fmt::Display for Sighting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { profile, setup, file, ran, result } = *self;
        match file.instantiate(&ran.variant.keys) {
            Ok(case) => {
                let input = setup.input(&case, &ran.variant, &ran.timeline);
                Failure { profile, case_id: &file.id, input, result, seed: setup.seed, receipt: None }.fmt(f)
            }
            // It ran, so it could be instantiated before; if not any more, that is what must be seen.
            Err(error) => f.write_str(&error.rendered()),
        }
    }
}
