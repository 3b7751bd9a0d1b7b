use super::*;
use crate::catalogue::Catalogue;
use crate::driver::null::{Null, NullClient};
use crate::driver::{Driver, Sitting, Way};
use crate::judge::Offers;
use crate::profile::ProfileFile;
use crate::receipt::catalog::Texts;
use crate::run::variant::Slot;
use crate::run::{Choice, DEFAULT_SEED, units};
use crate::sdk::fleet::Fleet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A client that keeps a process up, and does nothing.
struct Seated(NullClient);

impl Seated {
    fn new() -> Self {
        Self(NullClient::new(Null::DoesNothing, Some("exagent")))
    }
}

impl ClientUnderTest for Seated {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn version(&self) -> &str {
        self.0.version()
    }

    fn policy(&self) -> Option<&str> {
        self.0.policy()
    }

    fn offers(&self) -> &Offers {
        self.0.offers()
    }

    fn driver(&self, way: Way) -> Arc<dyn Driver> {
        self.0.driver(way)
    }

    fn sit(&self) -> Option<Box<dyn Sitting>> {
        Some(Box::new(Self::new()))
    }
}

impl Sitting for Seated {
    fn leave(self: Box<Self>) -> Vec<ProcessRecord> {
        let (name, ended) = ("seated".to_owned(), "exit 0".to_owned());
        let (runtime, isolation) = ("none".to_owned(), Vec::new());
        let (port, fault, port_refused) = (None, None, None);
        vec![ProcessRecord {
            name,
            runtime,
            pid: 1,
            port,
            ended,
            killed: false,
            fault,
            port_refused,
            isolation,
        }]
    }
}

#[test]
fn a_stop_before_the_first_unit_leaves_the_record_of_the_processes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/project");
    let (catalogue, texts) = (Catalogue::load(&root).unwrap(), Texts::load(&root).unwrap());
    let profile = ProfileFile::open(&root, "tiny", &catalogue).unwrap();
    let fleet = Fleet::default();
    let cases = by_case(units(&catalogue, &texts, &fleet, &profile.profile, &Choice::default()));
    let client = Seated::new();
    let setup =
        Setup { client: &client, clauses: &catalogue.clauses, seed: DEFAULT_SEED, deadline_scale: 1.0 };
    for (stopped, ran) in [(true, 0), (false, cases[0].units.len())] {
        let watch = Watch { stop: &AtomicBool::new(stopped), tick: &|| {} };
        let done = cases[0].run(&mut Slot::new(false).unwrap(), &setup, watch);
        assert_eq!((done.units.len(), done.processes.len()), (ran, 1), "stopped: {stopped}");
    }
    assert!(!cases[0].units.is_empty());
}
