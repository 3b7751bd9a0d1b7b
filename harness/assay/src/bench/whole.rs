//! How long the whole profile of the built-in client takes, receipts included.

use super::{Plan, Timed};
use crate::catalogue::Catalogue;
use crate::driver::builtin::BuiltinClient;
use crate::exit::Exit;
use crate::profile::ProfileFile;
use crate::report::ProfileReport;
use crate::run::Choice;
use crate::run::profile::{Conduct, Silence, run as run_profile};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Seconds within which the whole profile is to be through, on two cores.
const TARGET_SECONDS: f64 = 60.0;

/// Runs the whole profile once.
pub(super) fn run(
    plan: &Plan,
    root: &Path,
    catalogue: &Catalogue,
    profile: &ProfileFile,
) -> Result<Timed, String> {
    let client = BuiltinClient::named("exagent").ok_or("expected the policy exagent")?;
    let out = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let conduct = Conduct {
        program: "mcp-assay",
        root,
        catalogue,
        profile,
        choice: &Choice::all(plan.jobs),
        client: &client,
        strict: false,
        out: out.path(),
        command: vec!["bench".to_owned()],
        repetition: 0,
        stop: &AtomicBool::new(false),
    };
    let ran = run_profile(&conduct, &Silence)?;
    if ran.exit != Exit::AsExpected {
        return Err(format!("expected exit 0, saw {}; run the profile to see why", ran.exit.code()));
    }
    let ProfileReport { name, cases, variants, seconds, .. } = ran.report;
    Ok(Timed { profile: name, cases, variants, seconds, target_seconds: TARGET_SECONDS })
}
