//! Credentials in a case: runs carry their cases and hand them on, so a real one would be published.

use super::Findings;
use crate::case::SYNTHETIC;
use crate::document::Place;
use crate::hidden::{self, Kind};

/// Headers whose credential or cookie does not say that it is made up.
pub(super) fn credentials(headers: &[(String, String)], place: Place<'_>, findings: &mut Findings<'_>) {
    for (index, (name, value)) in headers.iter().enumerate() {
        let Some((Kind::Secret, range)) = hidden::hidden(name, value) else { continue };
        if !value[range].contains(SYNTHETIC) {
            let message = format!("the `{name}` of a case does not say that it is made up");
            let help = format!(
                "runs hand their cases on: write no real credential, but one that holds the word `{SYNTHETIC}`, as in \
                 `Bearer {SYNTHETIC}-a`"
            );
            findings.at(place.at(index).at(1), message, help);
        }
    }
}
