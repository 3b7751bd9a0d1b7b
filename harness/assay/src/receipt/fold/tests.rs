use super::*;
use proptest::prelude::*;

fn set(ids: &[&str]) -> BTreeSet<Variant> {
    ids.iter().flat_map(|text| unfold(text).unwrap()).collect()
}

#[test]
fn cuts_fold_to_a_range_and_products_to_one_text() {
    let text = "revision={2025-06-18|2025-11-25};suffix={comment|utf8};slice={each-cut@1..193|whole};wire={memory|tcp}";
    let variants = set(&[text]);
    assert_eq!(variants.len(), 2 * 2 * 194 * 2);
    assert_eq!(fold(&variants), [text]);
}

#[test]
fn what_is_missing_from_a_product_stays_missing() {
    let mut variants = set(&["revision=2025-06-18;slice=each-cut@1..9;wire={memory|tcp}"]);
    variants.remove(&read_id("revision=2025-06-18;slice=each-cut@5;wire=tcp").unwrap());
    let expected = [
        "revision=2025-06-18;slice=each-cut@1..9;wire=memory",
        "revision=2025-06-18;slice={each-cut@1..4|each-cut@6..9};wire=tcp",
    ];
    assert_eq!(fold(&variants), expected);
}

#[test]
fn all_pairs_of_cuts_fold_to_one_element() {
    let text = "revision=2025-06-18;slice=each-two-cuts@pairs(1..47);wire=memory";
    assert_eq!(set(&[text]).len(), 47 * 46 / 2);
    assert_eq!(fold(&set(&[text])), [text]);
}

#[test]
fn an_id_is_the_text_of_its_variant() {
    let variant = read_id("revision=2025-06-18;server=ts1-stateful-sse;slice=each-cut@17;wire=tcp").unwrap();
    assert_eq!(id(&variant), variant.to_string());
    assert_eq!(variant.server.as_deref(), Some("ts1-stateful-sse"));
}

#[test]
fn hostile_texts_are_refused_before_they_cost() {
    for text in [
        "",
        "revision=2025-06-18",
        "revision=2024-11-05;wire=tcp",
        "revision=2025-06-18;wire=udp",
        "wire=tcp;revision=2025-06-18",
        "revision=2025-06-18;a;wire=tcp",
        "revision=2025-06-18;a=b@9..1;wire=tcp",
        "revision=2025-06-18;a=b..c;wire=tcp",
        "revision=2025-06-18;a=%z;wire=tcp",
        "revision=2025-06-18;%61=b;wire=tcp",
        "revision=2025-06-18;a=b@0..4294967295;wire=tcp",
        "revision=2025-06-18;a=b@pairs(0..4294967295);wire=tcp",
        "revision=2025-06-18;a=b@pairs(5..5);c=d;wire=tcp",
        "revision=2025-06-18;a=b@0..2000;b=b@0..2000;wire=tcp",
    ] {
        assert!(unfold(text).is_err(), "{text}");
    }
    assert!(read_id("revision=2025-06-18;wire={memory|tcp}").is_err());
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        (0_u32..12).prop_map(|n| format!("each-cut@{n}")),
        (0_u32..6, 0_u32..6).prop_map(|(a, b)| format!("each-two-cuts@{a},{b}")),
        "[a-c]",
        "[ab;={}|%.@(),0-9雪-]{0,6}",
    ]
}

fn variants() -> impl Strategy<Value = BTreeSet<Variant>> {
    let wire = prop_oneof![Just(Wire::Memory), Just(Wire::Tcp)];
    let revision = prop::sample::select(Revision::ALL.to_vec());
    let keys = prop_oneof![
        4 => (value(), value()).prop_map(|(a, b)| vec![("a".to_owned(), a), ("slice".to_owned(), b)]),
        1 => prop::collection::vec((prop_oneof!["server", "wire", "[a;=%.]{1,3}"], value()), 0..3),
    ];
    let variant = (revision, prop::option::weighted(0.2, value()), keys, wire)
        .prop_map(|(revision, server, keys, wire)| Variant { revision, server, keys, wire });
    prop::collection::btree_set(variant, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn unfold_undoes_fold(variants in variants()) {
        let folded = fold(&variants);
        let unfolded: Vec<Variant> = folded.iter().flat_map(|text| unfold(text).unwrap()).collect();
        prop_assert_eq!(unfolded.len(), variants.len(), "parts overlap: {:?}", folded);
        prop_assert_eq!(unfolded.into_iter().collect::<BTreeSet<_>>(), variants);
    }

    #[test]
    fn any_text_unfolds_or_is_refused(text in "(revision=2025-06-18;)?[a-z0-9=;{}|.@()%,]{0,40}(;wire=tcp)?") {
        if let Ok(variants) = unfold(&text) {
            prop_assert!(variants.len() <= MAX_VARIANTS);
        }
    }
}
