//! Coverage for people.

use std::fmt;

use super::by::Folded;
use super::{Cover, Coverage};
use crate::clauses::{PolicyRows, Section};
use crate::source::escape;

/// The coverage of a policy's rows as a table and lists.
pub(super) struct Report<'a> {
    pub(super) coverage: &'a Coverage,
    pub(super) rows: &'a PolicyRows,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { coverage, rows } = *self;
        write(out, coverage, rows)
    }
}

fn write(out: &mut impl fmt::Write, coverage: &Coverage, rows: &PolicyRows) -> fmt::Result {
    let Coverage { policy, covered, excluded, uncovered, problems, .. } = coverage;
    writeln!(
        out,
        "{policy}: {} rows, {covered} covered, {} excluded, {} uncovered\n",
        coverage.rows,
        excluded.len(),
        uncovered.len()
    )?;

    let prefix = width(rows.sections().iter().map(|section| &section.prefix));
    let title = width(rows.sections().iter().map(|section| &section.title));
    writeln!(out, "{:prefix$}  {:title$}  rows  covered  excluded  uncovered", "section", "")?;
    for section in rows.sections() {
        let counts = Counts::of(section, coverage, rows);
        let Counts { rows, covered, excluded, uncovered } = counts;
        let Section { prefix: id, title: subject } = section;
        writeln!(
            out,
            "{id:prefix$}  {subject:title$}  {rows:>4}  {covered:>7}  {excluded:>8}  {uncovered:>9}",
        )?;
    }

    if !coverage.by.is_empty() {
        writeln!(out, "\ncovered, by")?;
        let id_width = width(coverage.by.keys());
        for (id, covers) in &coverage.by {
            writeln!(out, "  {id:id_width$}  {}", escape(&Folded(covers).to_string()))?;
        }
    }
    let title_of = |id: &str| rows.get(id).map_or("", |row| row.title.as_str());
    list(out, "uncovered", uncovered.iter().map(|id| (id.as_str(), title_of(id))))?;
    list(out, "excluded", excluded.iter().map(|row| (row.id.as_str(), row.reason.as_str())))?;
    if !problems.is_empty() {
        writeln!(out, "\nproblems")?;
        for problem in problems {
            writeln!(out, "  {}", escape(&problem.to_string()))?;
        }
    }
    Ok(())
}

/// The numbers of one section.
struct Counts {
    rows: usize,
    covered: usize,
    excluded: usize,
    uncovered: usize,
}

impl Counts {
    fn of(section: &Section, coverage: &Coverage, rows: &PolicyRows) -> Self {
        Self {
            rows: rows.rows().iter().filter(|row| section.holds(&row.id)).count(),
            covered: coverage.by.keys().filter(|id| section.holds(id)).count(),
            excluded: coverage.excluded.iter().filter(|row| section.holds(&row.id)).count(),
            uncovered: coverage.uncovered.iter().filter(|id| section.holds(id)).count(),
        }
    }
}

fn list<'a>(
    out: &mut impl fmt::Write,
    name: &str,
    rows: impl Iterator<Item = (&'a str, &'a str)>,
) -> fmt::Result {
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{name}")?;
    let id_width = width(rows.iter().map(|(id, _)| id));
    rows.iter().try_for_each(|(id, text)| writeln!(out, "  {id:id_width$}  {}", escape(text)))
}

/// The width of a column, at least that of its heading.
fn width(texts: impl Iterator<Item = impl AsRef<str>>) -> usize {
    texts.map(|text| text.as_ref().chars().count()).max().unwrap_or_default().max("section".len())
}

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Case { case, check } => write!(f, "the check {check} of the case {case}"),
            Self::Test { file, function } => write!(f, "the test {function} in {file}"),
            Self::Type { file, item } => write!(f, "the doc test of {item} in {file}"),
        }
    }
}
