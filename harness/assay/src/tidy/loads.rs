//! What a run loads beside cases and clauses: profiles, servers and drivers, all of them, also those no profile here uses.

use crate::catalogue::Catalogue;
use crate::profile::ProfileFile;
use crate::sdk::drivers::Driver;
use crate::sdk::fleet::LIST;
use crate::sdk::manifest::Manifest;
use crate::source::SourceError;
use std::path::Path;

/// What is wrong with the tables of servers and drivers.
pub(super) fn programs(root: &Path) -> impl Iterator<Item = SourceError> + use<> {
    let servers = root.join(LIST);
    let servers = servers.exists().then(|| Manifest::load(&servers).err()).flatten();
    let drivers: Vec<_> =
        Driver::names(root).iter().filter_map(|name| Driver::load(root, name).err()).collect();
    servers.into_iter().chain(drivers)
}

/// What is wrong with the profiles.
pub(super) fn profiles(root: &Path, catalogue: &Catalogue) -> Vec<SourceError> {
    match ProfileFile::names(root) {
        Ok(names) => {
            names.iter().filter_map(|name| ProfileFile::open(root, name, catalogue).err()).flatten().collect()
        }
        Err(error) => vec![error],
    }
}
