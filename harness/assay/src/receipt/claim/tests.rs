use super::*;
use crate::verdict::{Level, Outcome};
use proptest::prelude::*;

fn case() -> CaseId {
    "sse/bom".parse().unwrap()
}

fn judged(outcome: Outcome, exchange: &str) -> Judged {
    let check = CheckResult {
        id: "result".into(),
        level: Level::Must,
        outcome,
        expected: "the text \"snow 雪\"".into(),
        actual: "the text \"snow 雪\"".into(),
    };
    Judged { checks: vec![check], exchange: Some(exchange.into()) }
}

fn claim(variants: impl IntoIterator<Item = (Variant, Judged)>) -> Claim {
    let client = Client { name: "mcp-assay-client".into(), version: "0.1.0".into() };
    let about = About { profile: "exagent", client: &client, evidence: EvidenceClass::Scripted };
    Claim::new(about, &case(), Digest::of(b"case"), &variants.into_iter().collect()).unwrap()
}

fn variants() -> Vec<(Variant, Judged)> {
    fold::unfold("revision=2025-06-18;slice={whole|each-cut@1..20};wire={memory|tcp}")
        .unwrap()
        .into_iter()
        .map(|variant| {
            let fails = variant.key("slice") == Some("each-cut@7");
            let outcome = if fails { Outcome::Fail } else { Outcome::Pass };
            (variant, judged(outcome, "ab12"))
        })
        .collect()
}

#[test]
fn equal_variants_share_a_group() {
    let bytes = canonical::to_bytes(&claim(variants()), "x").unwrap();
    insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
}

#[test]
fn a_claim_reads_back_and_knows_its_place() {
    let claim = claim(variants());
    let bytes = canonical::to_bytes(&claim, "x").unwrap();
    assert_eq!(Claim::read(&bytes, "exagent", &case(), "x").unwrap(), claim);
    assert_eq!(claim.judged("x").unwrap(), variants().into_iter().collect());
    assert!(Claim::read(&bytes, "conduit", &case(), "x").is_err());
    assert!(Claim::read(&bytes, "exagent", &"sse/crlf".parse().unwrap(), "x").is_err());
}

#[test]
fn a_claim_that_contradicts_itself_is_refused() {
    let good = claim(variants());
    let read =
        |claim: &Claim| Claim::read(&canonical::to_bytes(claim, "x").unwrap(), "exagent", &case(), "x");
    let mut counted = good.clone();
    counted.groups[0].count += 1;
    let mut twice = good.clone();
    twice.groups.push(good.groups[0].clone());
    let mut unreadable = good.clone();
    unreadable.groups[0].variants.push("revision=2025-06-18".into());
    let mut nowhere = good.clone();
    nowhere.groups[0].checks.push(9);
    for bad in [counted, twice, unreadable, nowhere] {
        assert!(read(&bad).is_err(), "{bad:?}");
    }
}

proptest! {
    #[test]
    fn order_of_arrival_does_not_show(order in Just(variants()).prop_shuffle()) {
        prop_assert_eq!(claim(order), claim(variants()));
    }
}
