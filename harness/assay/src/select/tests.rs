use super::*;
use crate::revision::Revision;
use crate::variant::Wire;

fn id(text: &str) -> CaseId {
    text.parse().unwrap()
}

#[test]
fn a_filter_looks_at_case_and_variant() {
    let filter: Filter = "suffix/#*slice=each-cut@1?;*".parse().unwrap();
    assert!(filter.takes_case(&id("suffix/bom")));
    assert!(!filter.takes_case(&id("suffix-x/bom")));
    let variant = |cut: &str| Variant {
        revision: Revision::V20250618,
        server: None,
        keys: vec![("slice".to_owned(), format!("each-cut@{cut}"))],
        wire: Wire::Memory,
    };
    assert!(filter.takes_variant(&variant("17")));
    assert!(!filter.takes_variant(&variant("7")));
    assert!("sse/*".parse::<Filter>().unwrap().takes_variant(&variant("7")));
}

#[test]
fn a_bad_pattern_says_so() {
    let error = "sse/[".parse::<Filter>().unwrap_err();
    assert!(error.to_string().starts_with("\"sse/[\" is no pattern: "), "{error}");
}

#[test]
fn each_case_is_in_exactly_one_shard() {
    let shards: Vec<Shard> = (1..=3).map(|index| format!("{index}/3").parse().unwrap()).collect();
    let mut sizes = [0; 3];
    for n in 0..300 {
        let case = id(&format!("area/case-{n}"));
        let taking: Vec<usize> = (0..3).filter(|at| shards[*at].takes(&case)).collect();
        assert_eq!(taking.len(), 1, "{case}");
        sizes[taking[0]] += 1;
    }
    assert!(sizes.iter().all(|size| *size > 60), "{sizes:?}");
}

#[test]
fn shards_count_from_one() {
    for bad in ["0/3", "4/3", "1", "1/0", "a/b", "-1/3"] {
        assert_eq!(bad.parse::<Shard>(), Err(BadShard(bad.to_owned())));
    }
}

#[test]
fn a_sample_cuts_beside_marks_and_at_three_places_by_seed() {
    let plans = Size::Sample.plans(&Plan::EachCut(None), 1000, &[0, 1, 500, 999, 1000], 7).unwrap();
    let at = |n| Plan::EachCut(Some(n));
    for wanted in [1, 2, 499, 500, 501, 998, 999] {
        assert!(plans.contains(&at(wanted)), "{wanted}");
    }
    assert!(!plans.contains(&at(0)) && !plans.contains(&at(1000)));
    assert_eq!(plans.len(), 7 + 3);
    assert_eq!(plans, Size::Sample.plans(&Plan::EachCut(None), 1000, &[0, 1, 500, 999, 1000], 7).unwrap());
    assert_ne!(plans, Size::Sample.plans(&Plan::EachCut(None), 1000, &[0, 1, 500, 999, 1000], 8).unwrap());
}

#[test]
fn a_sample_of_nothing_is_nothing() {
    for len in [0, 1] {
        assert_eq!(Size::Sample.plans(&Plan::EachCut(None), len, &[0, 1], 7).unwrap(), []);
    }
    assert_eq!(Size::Sample.plans(&Plan::EveryByte, 512, &[], 7).unwrap(), [Plan::EveryByte]);
    assert_eq!(Size::Sample.plans(&Plan::EveryByte, 513, &[], 7).unwrap(), []);
    assert!(Size::Sample.opens(&Plan::EveryByte) && !Size::Full.opens(&Plan::EveryByte));
    assert!(!Size::Sample.opens(&Plan::Whole) && Size::Full.opens(&Plan::EachCut(None)));
}

#[test]
fn a_sample_of_pairs_takes_neighbouring_marks() {
    let plans = Size::Sample.plans(&Plan::EachTwoCuts(None), 20, &[4, 9, 15], 7).unwrap();
    assert!(plans.contains(&Plan::EachTwoCuts(Some((4, 9)))));
    assert!(plans.contains(&Plan::EachTwoCuts(Some((9, 15)))));
    assert!((3..=5).contains(&plans.len()), "{plans:?}");
    assert!(Size::Sample.plans(&Plan::EachTwoCuts(None), 49, &[], 7).is_err());
}

#[test]
fn a_sample_is_spread_evenly_and_keeps_both_ends() {
    let kept = Size::Sample.keep((0..1000).collect::<Vec<_>>(), 1);
    assert_eq!(kept.len(), SAMPLE_MOST);
    assert_eq!((kept[0], kept[23]), (0, 999));
    assert!(kept.windows(2).all(|pair| (43..=44).contains(&(pair[1] - pair[0]))));
    assert_eq!(Size::Sample.keep((0..1000).collect::<Vec<_>>(), 2).len(), SAMPLE_MOST / 2);
    assert_eq!(Size::Sample.keep(vec![1, 2, 3], 99), [1, 3]);
    assert_eq!(Size::Sample.keep(vec![1, 2, 3], 1), [1, 2, 3]);
    assert_eq!(Size::Full.keep((0..1000).collect::<Vec<_>>(), 1).len(), 1000);
}
