//! Whom a check binds: clients of its policy, or all, in the revisions that state its clause.

use crate::case::Case;
use crate::case::check::Check;
use crate::clauses::Clauses;
use crate::revision::Revision;
use crate::select::Pattern;
use crate::variant::Variant;

/// Whether some check of the case can bind a client of this policy, or of none, in this revision. A case where none
/// does would show nothing of it.
#[must_use]
pub fn binds_case(case: &Case, policy: Option<&str>, revision: Revision, clauses: &Clauses) -> bool {
    case.check.iter().any(|check| in_revision(check, policy, revision, clauses))
}

/// Whether some check binds a client of this policy, or of none, in this variant of the case.
#[must_use]
pub fn binds_variant(case: &Case, variant: &Variant, policy: Option<&str>, clauses: &Clauses) -> bool {
    case.check.iter().any(|check| binds(check, variant, policy, clauses))
}

/// Whether a check binds the variant. One that does not is left out of the results.
///
/// A check tied to a clause binds in no revision that does not state the clause.
#[must_use]
pub fn binds(check: &Check, variant: &Variant, policy: Option<&str>, clauses: &Clauses) -> bool {
    in_revision(check, policy, variant.revision, clauses)
        && check.when.iter().all(|(key, values)| {
            if let ("server", Some(server)) = (key.as_str(), &variant.server) {
                let fits = |glob: &String| glob.parse::<Pattern>().is_ok_and(|glob| glob.matches(server));
                return values.0.iter().any(fits);
            }
            variant.key(key).is_some_and(|chosen| {
                // A cut of a plan (`each-cut@17`) is a value of the plan as the file writes it.
                let plan = chosen.split_once('@').map_or(chosen, |(plan, _)| plan);
                values.0.iter().any(|value| value == chosen || value == plan)
            })
        })
}

fn in_revision(check: &Check, policy: Option<&str>, revision: Revision, clauses: &Clauses) -> bool {
    let clause = check.clause.as_ref().and_then(|id| clauses.get(id.get_ref()));
    check.policy.as_deref().is_none_or(|bound| policy == Some(bound))
        && check.revisions.as_ref().is_none_or(|revisions| revisions.contains(&revision))
        && clause.is_none_or(|clause| clause.holds_in(revision))
}
