//! Tests that selectors are parsed and printed, and that their numbers are checked against a
//! session's extent.
#![allow(clippy::unwrap_used)]

use forklore_core::cut::{CutPoint, Extent};
use forklore_core::{Counts, Cut, CutError, EventId, Selector};
use proptest::prelude::*;

fn selector() -> impl Strategy<Value = Selector> {
    prop_oneof![
        Just(Selector::Start),
        Just(Selector::End),
        any::<i64>().prop_map(Selector::Seq),
        any::<i64>().prop_map(Selector::Message),
        any::<u64>().prop_map(Selector::Index),
        any::<i64>().prop_map(Selector::Turn),
        "[^\\p{Cc}]{1,40}".prop_map(|id| Selector::Event(id.parse().unwrap())),
    ]
}

/// Generates a session's extent whose counts are consistent: turns <= conversation events <=
/// inheritable events <= log positions.
fn extent() -> impl Strategy<Value = Extent> {
    (0..8u64, 0..8u64, 0..8u64, 0..8u64).prop_map(|(turns, other, evidence, audit)| {
        let index = turns + other;
        let stored = index + evidence;
        let head_seq = i64::try_from(stored + audit).unwrap() - 1;
        Extent {
            head_seq,
            counts: Counts { inheritable: stored, index, turns, ..Counts::default() },
        }
    })
}

fn is_out_of_range(location: &Result<CutPoint, CutError>) -> bool {
    matches!(location, Err(CutError::OutOfRange { .. }))
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(selector in selector()) {
        prop_assert_eq!(selector.to_string().parse::<Selector>().unwrap(), selector);
    }

    #[test]
    fn no_text_breaks_the_reader(text in "\\PC{0,30}", number in "[a-z]{1,7}:-?[0-9]{0,25}") {
        for text in [text, number] {
            if let Ok(selector) = text.parse::<Selector>() {
                prop_assert_eq!(selector.to_string().parse::<Selector>().unwrap(), selector);
            }
        }
    }

    #[test]
    fn numbers_outside_are_refused_and_never_clipped(extent in extent(), n in -20..20i64) {
        let Counts { index, turns, .. } = extent.counts;
        let len = |n: u64| i64::try_from(n).unwrap();
        for (selector, from, to) in [
            (Selector::Seq(n), -(extent.head_seq + 1), extent.head_seq),
            (Selector::Message(n), -len(index), len(index) - 1),
            (Selector::Turn(n), -len(turns), len(turns)),
        ] {
            let valid = (from..=to).contains(&n) && !(n == 0 && matches!(selector, Selector::Turn(_)));
            let location = selector.resolve(&extent);
            prop_assert_eq!(is_out_of_range(&location), !valid, "{} in {:?}: {:?}", selector, extent, location);
        }
        let exclusive = Selector::Index(n.unsigned_abs()).resolve(&extent);
        prop_assert_eq!(is_out_of_range(&exclusive), n.unsigned_abs() > index);
    }

    #[test]
    fn negative_numbers_count_from_the_end(extent in extent(), back in 1..9u64) {
        let signed = |n: u64| i64::try_from(n).unwrap();
        let log = u64::try_from(extent.head_seq + 1).unwrap();
        let Counts { index, turns, .. } = extent.counts;
        if back <= log {
            let same = Selector::Seq(signed(log - back)).resolve(&extent).unwrap();
            prop_assert_eq!(Selector::Seq(-signed(back)).resolve(&extent).unwrap(), same);
        }
        if back <= index {
            let same = Selector::Message(signed(index - back)).resolve(&extent).unwrap();
            prop_assert_eq!(Selector::Message(-signed(back)).resolve(&extent).unwrap(), same);
        }
        if back <= turns {
            let same = Selector::Turn(signed(turns - back) + 1).resolve(&extent).unwrap();
            prop_assert_eq!(Selector::Turn(-signed(back)).resolve(&extent).unwrap(), same);
        }
    }

    #[test]
    fn a_message_is_the_index_before_the_next(extent in extent(), n in 0..9u64) {
        if n < extent.counts.index {
            let message = Selector::Message(i64::try_from(n).unwrap()).resolve(&extent);
            prop_assert_eq!(message.unwrap(), Selector::Index(n + 1).resolve(&extent).unwrap());
        }
        prop_assert_eq!(Selector::Index(0).resolve(&extent), Selector::Start.resolve(&extent));
    }

    #[test]
    fn the_last_turn_reaches_to_the_end(extent in extent()) {
        let end = Selector::End.resolve(&extent);
        prop_assert_eq!(&end, &Ok(CutPoint::Inheritable(extent.counts.inheritable)));
        if extent.counts.turns > 0 {
            prop_assert_eq!(Selector::Turn(-1).resolve(&extent), end);
        }
    }

    #[test]
    fn a_cut_names_only_what_gives_it_again(inheritable in 1..50u64, index in 0..50u64, turns in 0..50u64, seq: u32, conversation: bool, turn: bool) {
        let counts = Counts { inheritable, index, turns, ..Counts::default() };
        let id: EventId = "e".parse().unwrap();
        let cut = Cut::behind(counts, seq.into(), id.clone(), conversation, turn);
        let message = if conversation { index.checked_sub(1) } else { None };
        let turn = (turn && turns > 0).then_some(turns);
        prop_assert_eq!(&cut, &Cut { seq: Some(seq.into()), index, message, turn, event_id: Some(id), inheritable });
        prop_assert_eq!(cut.selector(), Selector::Seq(seq.into()));
        prop_assert_eq!(Cut::default().selector(), Selector::Start);
    }
}
