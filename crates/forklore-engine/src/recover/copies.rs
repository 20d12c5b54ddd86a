//! Finds the own events of an unreadable session in the histories of its descendants. Remembers the
//! positions of the events instead of the events, so a long history needs little memory.

use std::collections::BTreeMap;

use forklore_core::SessionId;
use forklore_store::port::LogEntry;

use super::read::{Slot, slots};
use crate::{Engine, Result};

/// The positions of a session's own events in the histories of the session's descendants.
#[derive(Default)]
pub(super) struct Copies {
    /// Runs of events that are consecutive both in the session and in a descendant. The key is the
    /// seq of the run's first event in the session.
    runs: BTreeMap<u64, Run>,
}

struct Run {
    heir: SessionId,
    /// The seq, in the descendant `heir`, of the first event of this run of consecutive events.
    at: u64,
    len: u64,
}

impl Copies {
    /// Records that the history of the descendant `heir` contains one of the session's events.
    /// `seq` is the event's position in the session, and `at` is its position in that history. If
    /// several descendants have the event, only the first one recorded is used.
    pub(super) fn add(&mut self, seq: u64, heir: &SessionId, at: u64) {
        if self.locate(seq).is_some() {
            return;
        }
        if let Some((first, run)) = self.runs.range_mut(..seq).next_back()
            && (first + run.len, run.at + run.len) == (seq, at)
            && run.heir == *heir
        {
            run.len += 1;
            return;
        }
        self.runs.insert(seq, Run { heir: heir.clone(), at, len: 1 });
    }

    fn locate(&self, seq: u64) -> Option<(&SessionId, u64)> {
        let (first, run) = self.runs.range(..=seq).next_back()?;
        let behind = seq - first;
        (behind < run.len).then_some((&run.heir, run.at + behind))
    }

    /// Returns the session's event with this seq, read from a descendant. Returns `None` if no
    /// descendant has a readable copy.
    ///
    /// # Errors
    /// Returns store failures that are not damage.
    pub(super) fn get(&self, from: &Engine, seq: u64) -> Result<Option<LogEntry>> {
        let Some((heir, at)) = self.locate(seq) else { return Ok(None) };
        let mut found = None;
        slots(from.store(), heir, at, at + 1, &mut |_, slot| {
            found = whole(slot);
            Ok(())
        })?;
        Ok(found)
    }

    /// Calls `show` for each of the session's events that can be read from a descendant's history,
    /// in ascending seq. `show` gets the seq in the session itself, not in the descendant.
    ///
    /// # Errors
    /// Returns store failures that are not damage, and the errors of `show`.
    pub(super) fn read(
        &self,
        from: &Engine,
        show: &mut dyn FnMut(u64, LogEntry) -> Result<()>,
    ) -> Result<()> {
        for (first, run) in &self.runs {
            slots(from.store(), &run.heir, run.at, run.at + run.len, &mut |at, slot| {
                whole(slot).map_or(Ok(()), |stored| show(first + (at - run.at), stored))
            })?;
        }
        Ok(())
    }
}

fn whole(slot: Slot) -> Option<LogEntry> {
    match slot {
        Slot::Whole(stored) => Some(stored),
        Slot::Bare(..) | Slot::Lost(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_grow_while_both_go_on_and_the_first_heir_counts() {
        let [a, b]: [SessionId; 2] = ["a", "b"].map(|id| id.parse().unwrap());
        let mut copies = Copies::default();
        // No heir has event 2, and `a` cannot read event 4.
        for (seq, at) in [(0, 1), (1, 2), (3, 3), (5, 5), (6, 6)] {
            copies.add(seq, &a, at);
        }
        for (seq, at) in [(0, 11), (1, 12), (3, 13), (4, 14), (5, 15)] {
            copies.add(seq, &b, at);
        }
        let located: Vec<_> = (0..8).map(|seq| copies.locate(seq)).collect();
        let (of_a, of_b) = (|at| Some((&a, at)), |at| Some((&b, at)));
        let expected = [of_a(1), of_a(2), None, of_a(3), of_b(14), of_a(5), of_a(6), None];
        assert_eq!(located, expected);
        assert_eq!(copies.runs.len(), 4);
    }
}
