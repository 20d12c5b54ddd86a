//! Tests of lists of spans: encoding and decoding, searching, truncating, and the jumps between
//! pages.
#![allow(clippy::indexing_slicing, reason = "a wrong place ends the test")]

use forklore_core::Counts;
use forklore_core::lineage::{Span, Unit, cut_back, decode, encode, holding, jumps_further};
use proptest::collection::vec;
use proptest::prelude::*;

fn counts() -> impl Strategy<Value = Counts> {
    any::<[u64; 5]>().prop_map(|[stored, index, turns, bytes, open]| Counts {
        inheritable: stored,
        index,
        turns,
        bytes,
        open,
    })
}

/// Generates arbitrary spans, because the encoding makes no assumptions about them.
fn any_spans() -> impl Strategy<Value = Vec<Span>> {
    let span = (any::<u64>(), any::<u64>(), counts());
    vec(span.prop_map(|(segment, to, base)| Span { segment, to, base }), 0..40)
}

/// Generates spans as a store writes them: each span contributes at least one event.
fn history() -> impl Strategy<Value = Vec<Span>> {
    vec((1..9u64, 0..9u64, 0..3u64), 1..40).prop_map(|steps| {
        let mut base = Counts::default();
        let spans = steps.into_iter().zip(1..).map(|((stored, index, turns), segment)| {
            let span = Span { segment, to: stored + 2, base };
            base.inheritable += stored;
            base.index += index.min(stored);
            base.turns += turns.min(stored);
            span
        });
        spans.collect()
    })
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(spans in any_spans()) {
        prop_assert_eq!(decode(&encode(&spans)), Ok(spans));
    }

    #[test]
    fn any_bytes_are_spans_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        if let Err(error) = decode(&bytes) {
            prop_assert!(error.at <= bytes.len());
        }
    }

    #[test]
    fn a_list_that_was_cut_short_is_noticed(spans in history()) {
        let bytes = encode(&spans);
        let half = decode(&bytes[..bytes.len() - 1]);
        prop_assert!(half.is_err());
    }

    #[test]
    fn the_span_of_a_position_begins_before_it(spans in history(), want in 0..300u64) {
        for unit in [Unit::Inheritable, Unit::Index, Unit::Turns] {
            let slow = spans.iter().rposition(|span| unit.of(&span.base) < want);
            prop_assert_eq!(holding(&spans, unit, want), slow);
        }
    }

    #[test]
    fn a_list_is_cut_back_to_a_count(spans in history(), stored in 0..300u64, to in 1..9u64) {
        let cut = cut_back(&spans, stored, to);
        let n = holding(&spans, Unit::Inheritable, stored).map_or(0, |at| at + 1);
        let mut expected = spans[..n].to_vec();
        if let Some(last) = expected.last_mut() {
            last.to = to;
        }
        prop_assert_eq!(cut, expected);
    }
}

/// Returns the depth of the page to which each page jumps, for the first pages of a list. `pages`
/// is the number of these pages.
fn jumps(pages: usize) -> Vec<u64> {
    let mut jumps = vec![0];
    for depth in 1..pages as u64 {
        let last = depth - 1;
        let jump = jumps[last as usize];
        let further = jumps[jump as usize];
        jumps.push(if jumps_further(last, jump, further) { further } else { last });
    }
    jumps
}

#[test]
fn jumps_are_those_of_a_skew_binary_list() {
    assert_eq!(jumps(16), [0, 0, 1, 0, 3, 4, 3, 0, 7, 8, 7, 10, 11, 10, 7, 0]);
}

#[test]
fn any_page_is_reached_in_few_steps() {
    let jumps = jumps(4_096);
    for from in [4_095u64, 4_094, 2_048, 2_047, 1_000] {
        for to in 0..from {
            let (mut at, mut steps) = (from, 0);
            while at != to {
                let jump = jumps[at as usize];
                at = if jump >= to { jump } else { at - 1 };
                steps += 1;
            }
            assert!(steps <= 3 * 12, "{steps} steps from {from} to {to}");
        }
    }
}
