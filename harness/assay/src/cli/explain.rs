//! `explain`: what a case sends and expects, shown by one variant: one that runs now, if it needs no SDK server.

use super::Context;
use super::args::{Explain, Format};
use super::chosen::{Chosen, OnServers};
use crate::case::Case;
use crate::catalogue::Catalogue;
use crate::driver::builtin::BuiltinClient;
use crate::exit::Exit;
use crate::explain::{Explained, Facing, deed};
use crate::near;
use crate::receipt::catalog::Texts;
use crate::run::DEFAULT_SEED;
use crate::run::variant::{Setup, Slot};
use crate::sdk::fleet::Fleet;
use crate::source::escape;
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
    if let Some(chosen) = OnServers::find(catalogue, &args.case, args.revision, spoken)? {
        return on_servers(context, &setup, chosen);
    }
    let texts = Texts::load(&context.root).map_err(|problem| problem.to_string())?;
    let chosen = Chosen::find(catalogue, &args.case, args.revision, spoken)?;
    if !spoken.contains(&chosen.revision.as_str()) {
        return unspoken(&setup, &chosen, spoken);
    }
    let mut slot = Slot::new(chosen.wire == Wire::Tcp).map_err(|e| format!("cannot set up a peer: {e}"))?;
    let ran = chosen.unit(&texts)?.run_one(&mut slot, &setup, &chosen.keys);
    let ran = ran.map_err(|problem| problem.to_string())?;
    let case = chosen.file.instantiate(&ran.variant.keys).map_err(|error| error.rendered())?;
    let input = setup.input(&case, &ran.variant, &ran.timeline);
    let facing = Facing::Scripted(&ran.checks);
    let text = Explained { file: chosen.file, input, facing }.to_string();
    Ok(told(&case, chosen.file.id.to_string(), &ran.variant, Vec::new(), ran.checks, text))
}

/// A revision that the built-in client does not speak: nothing runs, since all that could be seen is its refusal.
fn unspoken(setup: &Setup<'_>, chosen: &Chosen<'_>, spoken: &[&str]) -> Result<Report, String> {
    let file = chosen.file;
    let keys = chosen.keys.clone();
    let variant = Variant { revision: chosen.revision, server: None, keys, wire: chosen.wire };
    let case = file.instantiate(&variant.keys).map_err(|error| error.rendered())?;
    let input = setup.input(&case, &variant, &[]);
    let text = Explained { file, input, facing: Facing::Unspoken(spoken) }.to_string();
    Ok(told(&case, file.id.to_string(), &variant, Vec::new(), Vec::new(), text))
}

/// A case for SDK servers: nothing runs, since what a server answers is its own affair.
fn on_servers(context: &Context, setup: &Setup<'_>, chosen: OnServers<'_>) -> Result<Report, String> {
    let OnServers { file, variant } = chosen;
    let case = file.instantiate(&variant.keys).map_err(|error| error.rendered())?;
    let wanted = case.servers.clone().unwrap_or_default();
    let fits = Fleet::fitting(&context.root, &wanted, variant.revision).map_err(|error| error.rendered())?;
    if let Some(server) = variant.server.as_ref().filter(|server| !fits.contains(server)) {
        let help = near::help(server, fits.iter().map(String::as_str));
        return Err(format!("{} does not fit the server {:?}: {help}", file.id, escape(server)));
    }
    let input = setup.input(&case, &variant, &[]);
    let text = Explained { file, input, facing: Facing::Servers(&fits) }.to_string();
    Ok(told(&case, file.id.to_string(), &variant, fits, Vec::new(), text))
}

fn told(
    case: &Case,
    id: String,
    variant: &Variant,
    servers: Vec<String>,
    checks: Vec<CheckResult>,
    text: String,
) -> Report {
    let step = |step| Step { does: deed(&step), name: step.name };
    Report {
        case: id,
        title: case.title.clone(),
        variant: variant.to_string(),
        servers,
        steps: case.named_steps().into_iter().map(step).collect(),
        checks,
        text,
        exit: Exit::AsExpected.code(),
    }
}
