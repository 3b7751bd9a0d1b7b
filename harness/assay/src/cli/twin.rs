//! `conformance --twin`: the built-in client as a process must come out like the same client in-process, in every
//! check of every variant.

use super::Context;
use super::args::Conformance;
use super::conformance::once;
use crate::catalogue::Catalogue;
use crate::exit::Exit;
use crate::profile::Client;
use crate::receipt::writer::RunDir;
use crate::receipt::{CatalogJudge, OpenRun, Problem, diff};
use crate::report::ProfileReport;
use crate::run::profile::Conduct;
use crate::run::{Choice, client};
use crate::variant::CaseId;

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
    // A twin that leaves nothing out is a whole run like any other.
    let chosen = |id: &CaseId| conduct.choice.takes(&conduct.profile.profile, id);
    let without_memory =
        conduct.catalogue.cases.values().any(|file| file.case.measures_memory() && chosen(&file.id));
    let choice = Choice { without_memory, ..conduct.choice.clone() };
    let twin = once(context, args, &Conduct { client: &client, choice: &choice, ..conduct.clone() });
    let compared = twin.run.as_ref().map(|twin| compare(context, conduct.catalogue, ran, twin));
    let exit = twin.exit.and(compared.unwrap_or(Exit::Incomplete));
    (Some(twin.report), exit)
}

/// Why the client of a profile has no twin.
pub(super) fn none(profile: &str) -> String {
    format!("--twin: the client of {profile} is not the built-in one as a process; it has no twin")
}

/// Whether two runs say the same of every check. What only a process can show is left out, and said so.
fn compare(context: &Context, catalogue: &Catalogue, process: &RunDir, in_process: &RunDir) -> Exit {
    let differ = || -> Result<(Vec<CaseId>, Option<String>), Vec<Problem>> {
        let (from, mut to) = (OpenRun::open(&in_process.path)?, OpenRun::open(&process.path)?);
        let left_out = leave_out(&mut to, catalogue);
        let diff = diff::runs(&from, &to, Some(&mut CatalogJudge::default()))?;
        Ok((left_out, (!diff.cases.is_empty()).then(|| diff.to_string())))
    };
    match differ() {
        Ok((left_out, differs)) => {
            if !left_out.is_empty() {
                let cases: Vec<&str> = left_out.iter().map(CaseId::as_str).collect();
                tell!(
                    "twin: left out, since in-process there is no process of the client's own to measure: {}",
                    cases.join(", ")
                );
            }
            let Some(text) = differs else {
                tell!("twin: as a process and in-process, every check of every variant came out the same");
                return Exit::AsExpected;
            };
            tell!(
                "twin: as a process (to) the client came out otherwise than in-process (from)\n{}",
                text.trim_end()
            );
            Exit::Unexpected
        }
        Err(problems) => {
            for problem in problems {
                context.tell_problem(&problem);
            }
            Exit::Unexpected
        }
    }
}

/// Takes the cases that measure the client's process out of a run; which those were.
fn leave_out(run: &mut OpenRun, catalogue: &Catalogue) -> Vec<CaseId> {
    let measures = |case: &CaseId| catalogue.cases.get(case).is_some_and(|file| file.case.measures_memory());
    let left_out: Vec<CaseId> = run.claims.keys().filter(|case| measures(case)).cloned().collect();
    run.claims.retain(|case, _| !measures(case));
    left_out
}
