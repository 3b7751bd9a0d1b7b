//! `coverage`: which rows of a policy are covered, by what.

use super::Context;
use super::args::{Coverage, Format};
use crate::catalogue::Catalogue;
use crate::coverage::coverage;
use crate::exit::Exit;

pub(super) fn run(context: &Context, args: &Coverage) -> Exit {
    let catalogue = match Catalogue::load(&context.root) {
        Ok(catalogue) => catalogue,
        Err(errors) => return context.show(errors),
    };
    let Some(rows) = catalogue.clauses.policy(&args.policy) else {
        let known = catalogue.clauses.policies().map(|rows| rows.policy());
        return context.complain(&format!(
            "no policy {:?} has rows in fixtures/clauses: {}",
            crate::source::escape(&args.policy),
            crate::near::help(&args.policy, known)
        ));
    };
    let checks = catalogue.cases.values().flat_map(|file| {
        file.case.check.iter().flat_map(move |check| {
            let named = check.row.iter().chain(&check.rows);
            named.map(move |row| (file.id.to_string(), check.id.get_ref().clone(), row.get_ref().clone()))
        })
    });
    let covered = match coverage(rows, checks, &context.root) {
        Ok(covered) => covered,
        Err(problem) => return context.complain(&problem),
    };
    let printed = match args.output.format {
        Format::Human => context.print(&covered.render(rows)),
        Format::Json => context.print_json(&covered),
    };
    printed.and(if covered.is_complete() { Exit::AsExpected } else { Exit::Unexpected })
}
