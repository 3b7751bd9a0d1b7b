//! Plans keep all bytes in order, stay inside their region and depend on nothing but their arguments.

use super::{Plan, TWO_CUTS_MAX, TooLong};
use crate::timeline::Mark;
use proptest::prelude::*;

fn plan() -> impl Strategy<Value = Plan> {
    prop_oneof![
        Just(Plan::Whole),
        Just(Plan::EveryByte),
        (1usize..40).prop_map(Plan::Every),
        Just(Plan::AtMarks),
        prop::collection::btree_set(0usize..400, 1..6).prop_map(|at| Plan::Offsets(at.into_iter().collect())),
        any::<u64>().prop_map(Plan::Seeded),
        prop::option::of(0usize..400).prop_map(Plan::EachCut),
        prop::option::of((0usize..200, 1usize..200).prop_map(|(a, d)| (a, a + d)))
            .prop_map(Plan::EachTwoCuts),
    ]
}

fn mark(name: &str, at: usize) -> Mark {
    Mark { name: name.to_owned(), at }
}

proptest! {
    #[test]
    fn the_parts_join_to_the_whole(
        plan in plan(), start in 0usize..100, len in 0usize..300, marks in prop::collection::vec(0usize..400, 0..8),
        seed in any::<u64>(),
    ) {
        let end = start + len;
        let marks: Vec<Mark> = marks.into_iter().map(|at| mark("inside-utf8", at)).collect();
        let cuts = plan.cuts(start..end, &marks, seed);
        prop_assert_eq!(&cuts, &plan.cuts(start..end, &marks, seed), "same arguments, same cuts");
        prop_assert!(cuts.is_sorted_by(|a, b| a < b));
        prop_assert!(cuts.iter().all(|at| (start..end).contains(at) && *at > 0));
        let reply: Vec<u16> = (0u16..).take(end + 7).collect();
        let mut joined = Vec::new();
        let mut from = 0;
        for to in cuts.iter().copied().chain([reply.len()]) {
            prop_assert!(to > from, "no write is empty");
            joined.extend_from_slice(&reply[from..to]);
            from = to;
        }
        prop_assert_eq!(joined, reply);
    }

    #[test]
    fn text_and_plan_are_one_to_one(plan in plan()) {
        prop_assert_eq!(plan.to_string().parse::<Plan>(), Ok(plan));
    }

    #[test]
    fn any_text_is_a_plan_in_its_one_spelling_or_an_error(text in "[a-z:@,0-9+-]{0,20}") {
        if let Ok(plan) = text.parse::<Plan>() {
            prop_assert_eq!(plan.to_string(), text);
        }
    }

    #[test]
    fn seeded_widths_stay_within_23(number in any::<u64>(), seed in any::<u64>()) {
        let cuts = Plan::Seeded(number).cuts(0..1000, &[], seed);
        let ends: Vec<usize> = [0].into_iter().chain(cuts).chain([1000]).collect();
        prop_assert!(ends.windows(2).all(|w| (1..=23).contains(&(w[1] - w[0]))));
    }
}

#[test]
fn second_spellings_are_refused() {
    for text in [
        "",
        "every-0",
        "every-03",
        "every-+3",
        "at:",
        "at:3,3",
        "at:9,2",
        "each-cut@",
        "each-two-cuts@7",
        "Whole",
    ] {
        assert!(text.parse::<Plan>().is_err(), "{text:?} was taken");
    }
}

#[test]
fn open_plans_expand_to_every_cut_once() {
    let cuts: Vec<usize> = Plan::EachCut(None)
        .expand(5)
        .expect("each-cut takes any length")
        .iter()
        .flat_map(|plan| plan.cuts(0..5, &[], 0))
        .collect();
    assert_eq!(cuts, [1, 2, 3, 4]);
    let pairs = Plan::EachTwoCuts(None).expand(TWO_CUTS_MAX).expect("48 bytes are allowed");
    assert_eq!(pairs.len(), 47 * 46 / 2);
    assert!(pairs.iter().all(|plan| plan.cuts(0..TWO_CUTS_MAX, &[], 0).len() == 2));
    assert_eq!(Plan::EachTwoCuts(None).expand(49), Err(TooLong { len: 49 }));
    assert_eq!(Plan::EachCut(None).expand(1), Ok(vec![]));
    assert_eq!(Plan::EveryByte.expand(9), Ok(vec![Plan::EveryByte]));
}

#[test]
fn seeded_cuts_before_every_continuation_byte_and_follows_both_numbers() {
    let marks = [mark("inside-utf8", 50), mark("inside-utf8", 51), mark("terminal", 52)];
    let cuts = Plan::Seeded(7).cuts(0..100, &marks, 1);
    assert!(cuts.contains(&50) && cuts.contains(&51));
    assert_ne!(cuts, Plan::Seeded(8).cuts(0..100, &marks, 1));
    assert_ne!(cuts, Plan::Seeded(7).cuts(0..100, &marks, 2));
    // Pinned: receipts of an earlier version must name the same cuts.
    assert_eq!(Plan::Seeded(7).cuts(0..60, &[], 37_556), [12, 30, 41, 51]);
}

#[test]
fn marks_at_the_start_of_a_region_cut_and_at_its_end_do_not() {
    let marks = [mark("head-end", 10), mark("event:1", 20), mark("terminal", 30)];
    assert_eq!(Plan::AtMarks.cuts(10..30, &marks, 0), [10, 20]);
    assert_eq!(Plan::AtMarks.cuts(0..31, &marks, 0), [10, 20, 30]);
}
