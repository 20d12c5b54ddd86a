//! Records what a recovery copied, and what it could not read.

use forklore_api::{LostKind, LostPiece, Recovery};
use forklore_core::{Header, SessionId};

/// Adds lost data to the report of a store recovery.
pub(super) trait Losing {
    /// Adds an entry to the report for a piece of data that could not be read.
    fn lose(
        &mut self,
        what: LostKind,
        session: Option<&SessionId>,
        seq: Option<u64>,
        reason: &(impl ToString + ?Sized),
    );

    /// Adds an entry to the report if a recovered session has other counts than before. `was` is
    /// its header in the damaged store, `is` its header in the new store.
    fn compare(&mut self, was: &Header, is: &Header);
}

impl Losing for Recovery {
    fn lose(
        &mut self,
        what: LostKind,
        session: Option<&SessionId>,
        seq: Option<u64>,
        reason: &(impl ToString + ?Sized),
    ) {
        let (session_id, reason) = (session.cloned(), reason.to_string());
        self.lost.push(LostPiece { session_id, seq, what, reason });
    }

    fn compare(&mut self, was: &Header, is: &Header) {
        let numbers = |header: &Header| {
            let counts = header.counts;
            (counts.inheritable, counts.index, counts.turns, header.own_events)
        };
        if numbers(was) != numbers(is) {
            let reason = format!(
                "its header counts {} events, {} of them messages; what could be read are {} and {}",
                was.head_seq() + 1,
                was.counts.index,
                is.head_seq() + 1,
                is.counts.index
            );
            self.lose(LostKind::Header, Some(&was.id), None, &reason);
        }
    }
}
