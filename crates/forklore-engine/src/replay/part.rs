//! Replays a part of a conversation: from a position on, up to a position, or only the last turns.

use forklore_api::ReplayRange;
use forklore_core::cut::Extent;
use forklore_core::{Header, Selector, SessionId};
use forklore_store::port::{At, LogEntry};

use super::Replay;
use crate::{Engine, Error, Result};

impl Engine {
    /// Returns the records of a session that are in `range`.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `invalid_args` if a position of
    /// the range is invalid.
    pub fn replay_range(&self, session: &SessionId, range: &ReplayRange) -> Result<Replay> {
        let header = self.show(session)?;
        let (end, reach) = match &range.up_to {
            // A reading may end before the first record, unlike a fork.
            Some(selector) => {
                let cut = self.search(&header, selector)?.cut;
                (cut.index, cut.inheritable)
            }
            None => (header.counts.index, header.counts.inheritable),
        };
        let from = range.from.as_ref().map(|from| self.index_at(&header, from)).transpose()?;
        let of_last =
            range.last.map(|turns| self.index_of_last(&header, end, turns)).transpose()?;
        let start = from.max(of_last).unwrap_or(0);
        Ok(Replay { reach, ..self.replay_from(&header, start, end) })
    }

    /// Returns the conversation index of what `selector` names: the first event of a turn, a
    /// message, or the first message at or after another event.
    fn index_at(&self, header: &Header, selector: &Selector) -> Result<u64> {
        let extent = Extent { head_seq: header.head_seq(), counts: header.counts };
        selector.resolve(&extent).map_err(Error::cut(&header.id))?;
        // The numbers are in their ranges, because `resolve` checked them.
        let counted = |n: i64, from: i64, end: u64| {
            let number = if n < 0 { n.saturating_add_unsigned(end) } else { n - from };
            u64::try_from(number).unwrap_or(0)
        };
        match selector {
            Selector::Start => Ok(0),
            Selector::End => Ok(header.counts.index),
            Selector::Index(index) => Ok(*index),
            Selector::Message(n) => Ok(counted(*n, 0, header.counts.index)),
            Selector::Turn(n) => {
                self.index_before(header, At::Turn(counted(*n, 1, header.counts.turns) + 1))
            }
            Selector::Seq(n) => {
                let end = header.head_seq().saturating_add(1).unsigned_abs();
                self.index_before(header, At::Seq(counted(*n, 0, end)))
            }
            Selector::Event(id) => {
                // Fails unless exactly one event has the id.
                self.search(header, selector)?;
                self.index_before(header, At::Id(id.clone()))
            }
        }
    }

    /// Returns the conversation index at which the last `turns` turns before the index `end` begin.
    fn index_of_last(&self, header: &Header, end: u64, turns: u64) -> Result<u64> {
        let at_end = match end.checked_sub(1) {
            None => 0,
            Some(_) if end == header.counts.index => header.counts.turns,
            Some(last) => {
                self.event_at(&header.id, At::Index(last))?.map_or(0, |last| last.counts.turns)
            }
        };
        if turns == 0 {
            return Ok(end);
        }
        match at_end.saturating_sub(turns) {
            // What precedes the first turn, such as a system message, belongs to the whole.
            0 => Ok(0),
            before => self.index_before(header, At::Turn(before + 1)),
        }
    }

    /// Returns the number of conversation events before the event at the position `at`.
    fn index_before(&self, header: &Header, at: At) -> Result<u64> {
        let found = self.event_at(&header.id, at)?;
        Ok(found.map_or(header.counts.index, |found| before(&found)))
    }
}

fn before(found: &LogEntry) -> u64 {
    found.counts.index.saturating_sub(u64::from(found.event.class.is_conversation()))
}
