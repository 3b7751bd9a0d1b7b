//! Clients that grow while a call is open, and one that does not: the check `memory` tells them apart.

use crate::misdeeds::{gone, open, project_of, read};
use libtest_mimic::{Failed, Trial};
use mcp_assay::driver::ClientUnderTest;
use mcp_assay::driver::builtin::BuiltinClient;
use mcp_assay::receipt::CatalogJudge;
use mcp_assay::receipt::observation::ProcessRecord;
use mcp_assay::receipt::verify::verify;
use mcp_assay::run::Choice;
use mcp_assay::verdict::Outcome::{self, Fail, Pass, Unexercised};
use std::path::Path;

/// The client misbehaves in the call "now", which comes in two variants, one after the other.
const CASE: &str = "title = 'A call after which the client is measured'\nrevisions = ['2025-06-18']\n\
    [vary]\ntext = { first = 'first', now = 'now', again = 'now' }\n\
    [[step]]\ncall = 'echo'\nas = 'warm-up'\nargs = { text = 'warm' }\n\
    [[step]]\ncall = 'echo'\nas = 'call'\nargs = { text = '$text' }\n\
    [[check]]\nid = 'bounded'\nclause = 'resp.client-both-types'\ngiven = { ended = 'call' }\n\
    memory = { at_most = 33554432, since = 'call' }\n";

/// The same with the misdeed before the counting begins.
fn before() -> String {
    CASE.replace("'$text'", "'calm'").replace("'warm'", "'$text'")
}

pub(crate) fn tests() -> Vec<Trial> {
    // A process that has grown would not do so again: the second variant has one of its own.
    let deeds =
        [("grows-once", Fail), ("grows-and-shrinks", Fail), ("grows-below", Fail), ("takes-little", Pass)];
    let deeds =
        deeds.into_iter().map(|(deed, outcome)| Trial::test(deed, move || process(CASE, deed, outcome)));
    let others = [
        Trial::test("what-shrank-before-is-forgotten", || process(&before(), "grows-and-shrinks", Pass)),
        Trial::test("in-process-nobody-is-measured", in_process),
    ];
    deeds.chain(others).collect()
}

fn process(case: &str, deed: &str, outcome: Outcome) -> Result<(), Failed> {
    let (root, processes) =
        judged(case, |folder| Ok(Box::new(open(deed, folder)?)), [Pass, outcome, outcome])?;
    assert_eq!(processes.len(), 3, "a process a variant: {processes:?}");
    assert!(processes.iter().all(|process| process.fault.is_none()), "{processes:?}");
    gone(root.path(), &processes)
}

fn in_process() -> Result<(), Failed> {
    let client = || BuiltinClient::named("exagent").ok_or_else(|| "the policy is known".to_owned());
    let _ran = judged(CASE, |_| Ok(Box::new(client()?)), [Unexercised; 3])?;
    Ok(())
}

/// Runs the case, and judges it again from its receipts.
fn judged(
    case: &str,
    client: impl FnOnce(&Path) -> Result<Box<dyn ClientUnderTest>, String>,
    expected: [Outcome; 3],
) -> Result<(tempfile::TempDir, Vec<ProcessRecord>), Failed> {
    let (root, project) = project_of(case);
    let client = client(root.path())?;
    let (ended, heard) = project.run_heard(&*client, &Choice::all(1), false);
    let run = ended.run.as_ref().ok_or_else(|| format!("nothing was run: {heard:?}"))?;
    let (outcomes, processes) = read(run)?;
    let outcome = |text: &str| outcomes.get(&(text.to_owned(), "bounded".to_owned())).copied();
    assert_eq!(["first", "now", "again"].map(outcome), expected.map(Some), "{heard:?}");
    let verified = verify(&run.path, &mut CatalogJudge::default());
    assert!(verified.is_ok(), "{:?}", verified.err());
    Ok((root, processes))
}
