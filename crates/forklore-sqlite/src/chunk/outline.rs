//! The outline of a chunk: the positions and counts of its events. It is stored in columns of the
//! row, so that a search need not decode the events.

use forklore_core::Counts;
use forklore_core::lineage::Unit;
use forklore_core::redaction::may_be_redacted;
use forklore_store::port::Direction;

use crate::row::Row;
use crate::row_key::{POSITIONS, Range, position};

/// The positions and counts of the events in a chunk (up to 64 consecutive events in one row).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The key of the chunk's row in the database. It is the key of the first event that was stored
    /// in the chunk.
    pub(crate) k: i64,
    pub(crate) positions: u64,
    /// The counts (of events, turns and bytes) of the chunk's segment before the chunk's first
    /// event. A segment is a group of events stored together. The count `open` is not stored and
    /// always 0 here.
    pub(crate) start: Counts,
    pub(crate) bits: Bits,
}

/// Sets of events in a chunk, with one bit per position. The lowest bit is the chunk's first
/// position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    /// The positions at which an event is stored. Erasing an event clears its bit only in this set.
    /// The other sets do not change, so that the counts of later events stay the same.
    pub(crate) there: u64,
    pub(crate) inherited: u64,
    pub(crate) indexed: u64,
    pub(crate) started: u64,
}

impl Outline {
    /// Computes the outline (positions and counts) of a chunk of these events. Returns `None` if
    /// there is a gap between positions, if the counts of a row do not follow from those of the
    /// row before it, or if an event was redacted: its counts are those of its former payload.
    pub(crate) fn of(rows: &[&Row]) -> Option<Self> {
        let first = rows.first()?;
        if rows.iter().any(|row| may_be_redacted(&row.event.data)) {
            return None;
        }
        let mut outline = Self {
            k: first.k,
            start: before(first)?,
            positions: rows.len() as u64,
            ..Self::default()
        };
        let mut bytes = outline.start.bytes;
        for (at, row) in rows.iter().enumerate() {
            let bit = 1_u64.checked_shl(u32::try_from(at).ok()?).filter(|bit| *bit > 0)?;
            let Bits { there, inherited, indexed, started } = &mut outline.bits;
            let class = row.event.class;
            *there |= bit;
            *inherited |= if class.is_inherited() { bit } else { 0 };
            *indexed |= if class.is_conversation() { bit } else { 0 };
            *started |= if row.event.effect.starts_turn { bit } else { 0 };
            bytes += if class.is_inherited() { row.event.data.get().len() as u64 } else { 0 };
            let follows = row.k == first.k + i64::try_from(at).ok()?;
            if !follows || outline.counts(at as u64, bytes, row.counts.open) != row.counts {
                return None;
            }
        }
        Some(outline)
    }

    pub(crate) fn first(&self) -> u64 {
        position(self.k)
    }

    /// Returns the end (exclusive) of the chunk's positions in its segment (a group of events
    /// stored together).
    pub(crate) fn end(&self) -> u64 {
        self.first() + self.positions
    }

    /// Returns all events of the chunk, with one bit per position.
    pub(crate) fn all(&self) -> u64 {
        self.bits.there
            & (u64::MAX >> (POSITIONS - self.positions.min(POSITIONS)).min(POSITIONS - 1))
    }

    /// Returns the positions at which the chunk has an event, counted from the chunk's first
    /// position.
    pub(crate) fn positions(&self) -> impl DoubleEndedIterator<Item = u64> + use<> {
        let there = self.bits.there;
        (0..self.positions.min(POSITIONS)).filter(move |location| there >> location & 1 == 1)
    }

    /// Selects the chunk's events that are in `range`, at most the first `most` in the order of
    /// `direction`. Returns one bit per event.
    pub(crate) fn requested(&self, range: Range, direction: Direction, most: usize) -> u64 {
        let stays = |index: &u64| {
            let inherited = !range.inherited || self.bits.inherited >> index & 1 == 1;
            (range.from..range.to).contains(&(self.first() + index)) && inherited
        };
        let positions = self.positions().filter(stays);
        let bits = |bits: u64, position: u64| bits | 1 << position;
        match direction {
            Direction::Forward => positions.take(most).fold(0, bits),
            Direction::Backward => positions.rev().take(most).fold(0, bits),
        }
    }

    /// Returns the counts of the chunk's segment up to and including one event. `position` is the
    /// position of this event in the chunk, from 0. The caller supplies the counts `bytes` and
    /// `open`, because they cannot be computed from the bits.
    pub(crate) fn counts(&self, position: u64, bytes: u64, open: u64) -> Counts {
        let up_to = u64::MAX >> (POSITIONS - 1).saturating_sub(position);
        let ones = |bits: u64| u64::from((bits & up_to).count_ones());
        Counts {
            inheritable: self.start.inheritable + ones(self.bits.inherited),
            index: self.start.index + ones(self.bits.indexed),
            turns: self.start.turns + ones(self.bits.started),
            bytes,
            open,
        }
    }

    /// Returns which of the chunk's events increase the count of `unit` (events or turns). The
    /// result has one bit per position.
    pub(crate) fn counted(&self, unit: Unit) -> u64 {
        match unit {
            Unit::Inheritable => self.bits.inherited,
            Unit::Index => self.bits.indexed,
            Unit::Turns => self.bits.started,
        }
    }

    /// Returns the outline without the events from position `to` on. `to` is a position in the
    /// segment, not in the chunk.
    pub(crate) fn up_to(mut self, to: u64) -> Self {
        self.positions = self.positions.min(to.saturating_sub(self.first()));
        let stay = u64::MAX.checked_shr(u32::try_from(POSITIONS - self.positions).unwrap_or(64));
        let stay = stay.unwrap_or_default();
        let Bits { there, inherited, indexed, started } = &mut self.bits;
        for bits in [there, inherited, indexed, started] {
            *bits &= stay;
        }
        self
    }
}

/// Computes the counts before an event from the counts in its row, which include the event. `open`
/// cannot be computed and is set to 0. Returns `None` if a count of the row is too small to include
/// the event.
fn before(row: &Row) -> Option<Counts> {
    let Row { counts, event, .. } = row;
    let inheritable = u64::from(event.class.is_inherited());
    Some(Counts {
        inheritable: counts.inheritable.checked_sub(inheritable)?,
        index: counts.index.checked_sub(u64::from(event.class.is_conversation()))?,
        turns: counts.turns.checked_sub(u64::from(event.effect.starts_turn))?,
        bytes: counts.bytes.checked_sub(inheritable * event.data.get().len() as u64)?,
        open: 0,
    })
}
