//! `conformance --list`: what would run.

use super::Context;
use crate::catalogue::Catalogue;
use crate::exit::Exit;
use crate::profile::ProfileFile;
use crate::receipt::catalog::Texts;
use crate::run::unit::Facing;
use crate::run::{Choice, units};
use crate::sdk::fleet::Fleet;
use std::collections::BTreeMap;

/// Prints every case with the combinations of its `vary` keys; open plans stand as written, since the uncut variant
/// fixes how many cuts they stand for.
pub(super) fn run(
    context: &Context,
    catalogue: &Catalogue,
    profiles: &[ProfileFile],
    choice: &Choice,
) -> Exit {
    let texts = match Texts::load(&context.root) {
        Ok(texts) => texts,
        Err(problem) => return context.complain(&problem),
    };
    let mut cases = 0;
    for file in profiles {
        let fleet = match Fleet::of(&context.root, &file.profile) {
            Ok(fleet) => fleet,
            Err(problem) => return context.complain(&problem),
        };
        let units = units(catalogue, &texts, &fleet, &file.profile, choice);
        println!("{}: {}", file.profile.name, file.profile.title);
        let mut by_case: BTreeMap<_, Vec<String>> = BTreeMap::new();
        let mut families: BTreeMap<&str, usize> = BTreeMap::new();
        for unit in &units {
            let combinations = unit.file.combinations().count();
            let peer = match unit.facing {
                Facing::Scripted { .. } => unit.wire.as_str(),
                Facing::Server(id) => id,
            };
            let on = format!("{} {peer} × {combinations}", unit.revision);
            by_case.entry(&unit.file.id).or_default().push(on);
            *families.entry(unit.file.id.area()).or_default() += combinations;
        }
        for (id, on) in &by_case {
            println!("  {id}: {}", on.join(", "));
        }
        for (family, combinations) in &families {
            println!("  family {family}: {combinations} combinations, open slice plans not yet expanded");
        }
        cases += by_case.len();
    }
    if cases == 0 {
        eprintln!("{}: no case matches; nothing would run", context.program);
        return Exit::Incomplete;
    }
    Exit::AsExpected
}
