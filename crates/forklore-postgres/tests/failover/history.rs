//! Checks that a session contains what its writers were told, once and in order.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// An append that was acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Ack {
    pub(crate) event: String,
    pub(crate) seq: u64,
    pub(crate) invoked: Instant,
    pub(crate) answered: Instant,
}

/// Returns how the log of a session contradicts the acknowledged appends. The name of an event ends
/// with its number among those of its writer: `WRITER-NUMBER`.
pub(crate) fn contradictions(log: &[(u64, String)], acks: &[Ack]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    let mut numbers: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, (seq, event)) in log.iter().enumerate() {
        if *seq != at as u64 {
            wrong.push(format!("event {event} has the seq {seq} at {at}"));
        }
        if !seen.insert(event) {
            wrong.push(format!("event {event} is there twice"));
        }
        let (writer, number) = event.rsplit_once('-').unwrap();
        let number = number.parse().unwrap();
        if numbers.insert(writer, number).is_some_and(|before| before >= number) {
            wrong.push(format!("event {event} is behind a later one of its writer"));
        }
    }
    let mut acks: Vec<_> = acks.iter().collect();
    acks.sort_by_key(|ack| ack.seq);
    let mut latest: Option<&Ack> = None;
    for ack in acks {
        let stored = usize::try_from(ack.seq).ok().and_then(|at| log.get(at));
        if stored.is_none_or(|(_, event)| *event != ack.event) {
            wrong.push(format!("event {} is not at {}: {stored:?}", ack.event, ack.seq));
        }
        if let Some(before) = latest.filter(|before| ack.answered < before.invoked) {
            wrong.push(format!("event {} is behind the later {}", ack.event, before.event));
        }
        if latest.is_none_or(|before| before.invoked < ack.invoked) {
            latest = Some(ack);
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn log(events: &[&str]) -> Vec<(u64, String)> {
        (0..).zip(events.iter().map(|&event| event.to_owned())).collect()
    }

    #[test]
    fn a_history_is_contradicted_by_what_is_lost_doubled_or_out_of_order() {
        let begun = Instant::now();
        let at = |event: &str, seq, tick: u64| Ack {
            event: event.into(),
            seq,
            invoked: begun + Duration::from_secs(tick),
            answered: begun + Duration::from_millis(tick * 1000 + 500),
        };
        let acks = [at("a-0", 0, 0), at("b-0", 1, 1), at("a-1", 2, 2)];
        let found = |events: &[&str]| contradictions(&log(events), &acks);
        assert_eq!(found(&["a-0", "b-0", "a-1"]), [""; 0]);
        // What was written and not acknowledged may be there.
        assert_eq!(found(&["a-0", "b-0", "a-1", "b-1"]), [""; 0]);
        assert_eq!(found(&["a-0", "b-0"]), ["event a-1 is not at 2: None"]);
        assert!(found(&["a-0", "b-0", "a-1", "b-0"]).contains(&"event b-0 is there twice".into()));
        assert!(found(&["a-1", "b-0", "a-0"]).concat().contains("behind a later one"));
        let swapped = [at("a-0", 1, 0), at("b-0", 0, 1)];
        let found = contradictions(&log(&["b-0", "a-0"]), &swapped);
        assert_eq!(found, ["event a-0 is behind the later b-0"]);
    }
}
