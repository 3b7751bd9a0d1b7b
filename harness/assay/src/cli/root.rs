//! Where the project's data is.

use std::path::{Path, PathBuf};

/// The folder that holds `fixtures/cases`: the one named, or the nearest one upwards from the current folder.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf, String> {
    let holds = |dir: &Path| dir.join("fixtures/cases").is_dir();
    if let Some(named) = named {
        return if holds(named) {
            Ok(named.to_owned())
        } else {
            Err(format!("expected fixtures/cases below {}, found none; give another --root", named.display()))
        };
    }
    let here = std::env::current_dir().map_err(|e| format!("cannot tell the current folder: {e}"))?;
    here.ancestors().find(|dir| holds(dir)).map(Path::to_owned).ok_or_else(|| {
        "expected fixtures/cases here or in a folder above, found none; give --root DIR".to_owned()
    })
}
