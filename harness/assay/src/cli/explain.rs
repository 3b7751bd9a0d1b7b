//! `explain`: what a case sends and expects, shown by one variant that runs now.

use super::Context;
use super::args::Explain;
use super::chosen::Chosen;
use crate::catalogue::Catalogue;
use crate::driver::builtin::BuiltinClient;
use crate::exit::Exit;
use crate::explain::Explained;
use crate::receipt::catalog::Texts;
use crate::run::DEFAULT_SEED;
use crate::run::variant::{Setup, Slot};
use crate::variant::Wire;
use mcp_assay_client::Policy;

pub(super) fn run(context: &Context, args: &Explain) -> Exit {
    let catalogue = match Catalogue::load(&context.root) {
        Ok(catalogue) => catalogue,
        Err(errors) => return context.show(errors),
    };
    let text = Texts::load(&context.root)
        .map_err(|problem| problem.to_string())
        .and_then(|texts| text(&catalogue, &texts, args));
    match text {
        Ok(text) => context.print(&text),
        Err(problem) => context.complain(&problem),
    }
}

fn text(catalogue: &Catalogue, texts: &Texts, args: &Explain) -> Result<String, String> {
    let policy = Policy::exagent();
    let chosen = Chosen::find(catalogue, &args.case, args.revision, policy.versions.all())?;
    let client = BuiltinClient::named(policy.name).ok_or("expected the built-in client's own policy")?;
    let setup =
        Setup { client: &client, clauses: &catalogue.clauses, seed: DEFAULT_SEED, deadline_scale: 1.0 };
    let mut slot = Slot::new(chosen.wire == Wire::Tcp).map_err(|e| format!("cannot set up a peer: {e}"))?;
    let ran = chosen.unit(texts)?.run_one(&mut slot, &setup, &chosen.keys);
    let ran = ran.map_err(|problem| problem.to_string())?;
    let case = chosen.file.instantiate(&ran.variant.keys).map_err(|error| error.rendered())?;
    let input = setup.input(&case, &ran.variant, &ran.timeline);
    Ok(Explained { file: chosen.file, input, results: &ran.checks }.to_string())
}
