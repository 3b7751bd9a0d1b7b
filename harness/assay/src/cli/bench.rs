//! `bench`: ratios and growths, each beside its target.

use super::Context;
use super::args::{Bench, Format};
use crate::bench::{self, Plan};
use crate::catalogue::Catalogue;
use crate::exit::Exit;
use crate::profile::ProfileFile;
use crate::run::default_jobs;

/// The profile whose cases the harness is measured with.
const PROFILE: &str = "exagent";

pub(super) fn run(context: &Context, args: &Bench) -> Exit {
    let catalogue = match Catalogue::load(&context.root) {
        Ok(catalogue) => catalogue,
        Err(errors) => return context.show(errors),
    };
    let profile = match ProfileFile::open(&context.root, PROFILE, &catalogue) {
        Ok(profile) => profile,
        Err(errors) => return context.show(errors),
    };
    let plan =
        Plan { short: args.short, only: args.only.clone(), jobs: default_jobs(&profile.profile.client) };
    let report = bench::run(&plan, &context.root, &catalogue, &profile, &|line| tell!("{line}"));
    let summary = report.summary();
    if !summary.is_empty() {
        tell!("{summary}");
    }
    match args.output.format {
        Format::Human => report.exit(),
        Format::Json => report.exit().and(context.print_json(&report)),
    }
}
