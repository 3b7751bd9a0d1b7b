//! `explain`: what a case sends and expects, shown by one variant: one that runs now, if it needs no SDK server.

use super::Context;
use super::args::{Explain, Format};
use super::chosen::{self, Found, OnServers};
use crate::case::CaseFile;
use crate::catalogue::Catalogue;
use crate::driver::builtin::BuiltinClient;
use crate::exit::Exit;
use crate::explain::{Explained, Shown, deed};
use crate::near;
use crate::receipt::catalog::Texts;
use crate::run::DEFAULT_SEED;
use crate::run::variant::{Setup, Slot};
use crate::sdk::fleet::Fleet;
use crate::source::escape;
use crate::timeline::Event;
use crate::variant::{Variant, Wire};
use crate::verdict::CheckResult;
use mcp_assay_client::Policy;
use serde::Serialize;

/// The JSON object that ends the output.
#[derive(Serialize)]
struct Report {
    case: String,
    title: String,
    variant: String,
    /// The SDK servers that it fits; empty for the scripted peer.
    servers: Vec<String>,
    steps: Vec<Step>,
    /// What the judge says of the built-in client; empty where it did not run.
    checks: Vec<CheckResult>,
    /// What people read.
    text: String,
    exit: u8,
}

#[derive(Serialize)]
struct Step {
    name: String,
    does: String,
}

pub(super) fn run(context: &Context, args: &Explain) -> Exit {
    let catalogue = match Catalogue::load(&context.root) {
        Ok(catalogue) => catalogue,
        Err(errors) => return context.show(errors),
    };
    let report = match report(context, &catalogue, args) {
        Ok(report) => report,
        Err(problem) => return context.complain(&problem),
    };
    match args.output.format {
        Format::Human => context.print(&report.text),
        Format::Json => context.print_json(&report),
    }
}

fn report(context: &Context, catalogue: &Catalogue, args: &Explain) -> Result<Report, String> {
    let policy = Policy::exagent();
    let client = BuiltinClient::named(policy.name).ok_or("expected the built-in client's own policy")?;
    let setup =
        Setup { client: &client, clauses: &catalogue.clauses, seed: DEFAULT_SEED, deadline_scale: 1.0 };
    let spoken = policy.versions.all();
    let chosen = match chosen::find(catalogue, &args.case, args.revision, spoken)? {
        Found::Scripted(chosen) => chosen,
        Found::OnServers(chosen) => return on_servers(context, &setup, &chosen),
    };
    if !spoken.contains(&chosen.revision.as_str()) {
        // Nothing runs: all that could be seen is its refusal.
        let keys = chosen.keys.clone();
        let variant = Variant { revision: chosen.revision, server: None, keys, wire: chosen.wire };
        return told(&setup, chosen.file, &variant, &[], Shown::Unspoken(spoken));
    }
    let texts = Texts::load(&context.root).map_err(|problem| problem.to_string())?;
    let mut slot = Slot::new(chosen.wire == Wire::Tcp).map_err(|e| format!("cannot set up a peer: {e}"))?;
    let ran = chosen.unit(&texts)?.run_one(&mut slot, &setup, &chosen.keys);
    let ran = ran.map_err(|problem| problem.to_string())?;
    told(&setup, chosen.file, &ran.variant, &ran.timeline, Shown::Ran(&ran.checks))
}

/// A case for SDK servers: nothing runs, since what a server answers is its own affair.
fn on_servers(context: &Context, setup: &Setup<'_>, chosen: &OnServers<'_>) -> Result<Report, String> {
    let OnServers { file, variant } = chosen;
    let case = file.instantiate(&variant.keys).map_err(|error| error.rendered())?;
    let wanted = case.servers.clone().unwrap_or_default();
    let fits = Fleet::fitting(&context.root, &wanted, variant.revision).map_err(|error| error.rendered())?;
    if let Some(server) = variant.server.as_ref().filter(|server| !fits.contains(server)) {
        let help = near::help(server, fits.iter().map(String::as_str));
        return Err(format!("{} does not fit the server {:?}: {help}", file.id, escape(server)));
    }
    told(setup, file, variant, &[], Shown::OnServers(&fits))
}

/// The report of what is shown of a variant.
fn told(
    setup: &Setup<'_>,
    file: &CaseFile,
    variant: &Variant,
    timeline: &[Event],
    shown: Shown<'_>,
) -> Result<Report, String> {
    let case = file.instantiate(&variant.keys).map_err(|error| error.rendered())?;
    let text = Explained { file, input: setup.input(&case, variant, timeline), shown }.to_string();
    let (servers, checks) = match shown {
        Shown::Ran(checks) => (Vec::new(), checks.to_vec()),
        Shown::OnServers(servers) => (servers.to_vec(), Vec::new()),
        Shown::Unspoken(_) => (Vec::new(), Vec::new()),
    };
    let step = |step| Step { does: deed(&step), name: step.name };
    Ok(Report {
        case: file.id.to_string(),
        title: case.title.clone(),
        variant: variant.to_string(),
        servers,
        steps: case.named_steps().into_iter().map(step).collect(),
        checks,
        text,
        exit: Exit::AsExpected.code(),
    })
}
