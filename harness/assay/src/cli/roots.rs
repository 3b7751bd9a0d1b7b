//! `conformance --repeat`: all runs of one profile must give one claims root.

use super::Context;
use crate::exit::Exit;
use crate::report::ProfileReport;
use crate::source::escape;
use std::collections::BTreeMap;

/// The claims roots of the runs so far, by profile.
#[derive(Default)]
pub(super) struct Roots(BTreeMap<String, Vec<String>>);

impl Roots {
    /// Takes one more run up; says so where its root is another than the first one's. A run that left no receipts has
    /// none.
    pub(super) fn take(&mut self, context: &Context, report: &ProfileReport) -> Exit {
        let (name, root) = (&report.name, &report.claims_root);
        if root.is_empty() {
            return Exit::AsExpected;
        }
        let roots = self.0.entry(name.clone()).or_default();
        roots.push(root.clone());
        match roots.first().filter(|first| *first != root) {
            None => Exit::AsExpected,
            Some(first) => {
                let differ = format!("expected the claims root {first} again, saw {root}");
                let (program, name) = (context.program, escape(name));
                tell!("{program}: {name}: {differ}; `receipts diff` tells how the runs differ");
                Exit::Unexpected
            }
        }
    }

    /// What the roots of so many repetitions say, one line a profile.
    pub(super) fn verdicts(&self) -> Vec<String> {
        let told = |(name, roots): (&String, &Vec<String>)| {
            let mut distinct: Vec<&str> = roots.iter().map(String::as_str).collect();
            distinct.sort_unstable();
            distinct.dedup();
            let (name, runs) = (escape(name), roots.len());
            match distinct.as_slice() {
                [root] => format!("{name}: {runs} runs, one claims root: {root}"),
                roots => format!("{name}: {runs} runs, claims roots DIFFER: {}", roots.join(", ")),
            }
        };
        self.0.iter().map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeated_runs_agree_in_is_said_at_the_end() {
        let roots = |of: &[&str]| of.iter().map(|root| (*root).to_owned()).collect::<Vec<_>>();
        let all =
            [("a".to_owned(), roots(&["1f", "1f", "1f"])), ("b".to_owned(), roots(&["1f", "2f", "1f"]))];
        let told = Roots(all.into()).verdicts();
        assert_eq!(told, ["a: 3 runs, one claims root: 1f", "b: 3 runs, claims roots DIFFER: 1f, 2f"]);
    }
}
