//! What covers one row, in one line.

use super::Cover;
use std::collections::BTreeMap;
use std::fmt;

/// How many cases, and how many tests or types, are named of one row; the rest is counted. JSON names all.
const NAMED: usize = 3;

/// The covers of one row, sorted: checks folded by case, then tests, then types.
pub(super) struct Folded<'a>(pub(super) &'a [Cover]);

impl fmt::Display for Folded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cases: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let (mut tests, mut types) = (Vec::new(), Vec::new());
        for cover in self.0 {
            match cover {
                Cover::Case { case, check } => cases.entry(case).or_default().push(check),
                Cover::Test { file, function } => tests.push(format!("{function} in {file}")),
                Cover::Type { file, item } => types.push(format!("{item} in {file}")),
            }
        }
        let cases: Vec<String> =
            cases.into_iter().map(|(case, checks)| format!("{case} ({})", checks.join(", "))).collect();
        let mut first = true;
        for (word, plural, named) in
            [("case", "cases", cases), ("test", "tests", tests), ("type", "types", types)]
        {
            if named.is_empty() {
                continue;
            }
            if !std::mem::take(&mut first) {
                f.write_str("; ")?;
            }
            let shown = named.get(..NAMED).unwrap_or(&named);
            write!(f, "{} {}", if named.len() == 1 { word } else { plural }, shown.join(", "))?;
            if named.len() > NAMED {
                write!(f, ", +{} more", named.len() - NAMED)?;
            }
        }
        Ok(())
    }
}
