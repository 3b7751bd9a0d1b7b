//! `conformance --twin`: the built-in client as a process must come out like the same client in-process, in every
//! check of every variant.

use super::Context;
use super::args::Conformance;
use super::conformance::once;
use crate::exit::Exit;
use crate::profile::Client;
use crate::receipt::writer::RunDir;
use crate::receipt::{CatalogJudge, OpenRun, Problem, diff};
use crate::report::ProfileReport;
use crate::run::client;
use crate::run::profile::Conduct;

/// Runs a profile, that has run with the client as a process, with the client in-process, and compares the two runs.
pub(super) fn run(
    context: &Context,
    args: &Conformance,
    conduct: &Conduct<'_>,
    ran: Option<&RunDir>,
) -> (Option<ProfileReport>, Exit) {
    let name = &conduct.profile.profile.name;
    let Client::Process(policy) = &conduct.profile.profile.client else {
        return (None, context.complain(&none(name)));
    };
    let Some(ran) = ran else { return (None, Exit::Incomplete) };
    let client = match client::builtin(policy) {
        Ok(client) => client,
        Err(problem) => return (None, context.complain(&problem)),
    };
    let twin = once(context, args, &Conduct { client: &client, ..conduct.clone() });
    let compared = twin.run.as_ref().map(|twin| compare(context, ran, twin));
    let exit = twin.exit.and(compared.unwrap_or(Exit::Incomplete));
    (Some(twin.report), exit)
}

/// Why the client of a profile has no twin.
pub(super) fn none(profile: &str) -> String {
    format!("--twin: the client of {profile} is not the built-in one as a process; it has no twin")
}

/// Whether two runs say the same of every check.
fn compare(context: &Context, process: &RunDir, in_process: &RunDir) -> Exit {
    let differ = || -> Result<Option<String>, Vec<Problem>> {
        let (from, to) = (OpenRun::open(&in_process.path)?, OpenRun::open(&process.path)?);
        let diff = diff::runs(&from, &to, Some(&mut CatalogJudge::default()))?;
        Ok((!diff.cases.is_empty()).then(|| diff.to_string()))
    };
    match differ() {
        Ok(None) => {
            tell!("twin: as a process and in-process, every check of every variant came out the same");
            Exit::AsExpected
        }
        Ok(Some(text)) => {
            tell!(
                "twin: as a process (to) the client came out otherwise than in-process (from)\n{}",
                text.trim_end()
            );
            Exit::Unexpected
        }
        Err(problems) => {
            for problem in problems {
                let _told = context.complain(&problem);
            }
            Exit::Unexpected
        }
    }
}
