//! Carries redactions over: what was redacted here is redacted there (docs/semantics.md,
//! Redaction).

use std::ops::Range;

use forklore_core::operation::OperationKind;
use forklore_core::redaction::is_same_event;
use forklore_core::{Header, Redaction, SessionId};
use forklore_store::Store;
use forklore_store::port::{At, Direction, EventRedaction, LogEntry, Query, Write};

use super::Transferring;
use crate::Result;

impl Transferring<'_> {
    /// Redacts the events there that were redacted here, in one transaction: with all their copies
    /// there, titles that quote them, and the files that contain them. `own` are the numbers of own
    /// events that both sessions have; they begin at the number `own_there` there.
    pub(super) fn carry_redactions(
        &mut self,
        here: &Header,
        own: &Range<u64>,
        (there, own_there): (&Header, u64),
    ) -> Result<()> {
        let (from, into) = (self.from.store(), self.into.store());
        let mut lacking = Vec::new();
        for seq in from.redacted(&here.id)? {
            let Some(number) = own_number(here, seq).filter(|number| own.contains(number)) else {
                continue;
            };
            let Some(entry) = event_at(from, &here.id, seq)? else { continue };
            let seq_there = there.seq_of_own(number - own.start + own_there);
            let Some(other) = event_at(into, &there.id, seq_there)? else { continue };
            let is_lacking = Redaction::of(&other.event.data).is_none();
            if is_lacking && is_same_event(&entry.event, &other.event) {
                let (origin, event_id) = (other.origin, other.event.id);
                lacking.push(EventRedaction { origin, event_id, data: entry.event.data });
            }
        }
        if lacking.is_empty() {
            return Ok(());
        }
        let events = lacking.len() as u64;
        if !self.request.dry_run {
            let write = Write::Redact(Box::new(self.into.with_consequences(lacking)?));
            let transaction = self.into.recorded(OperationKind::Redact, vec![write]);
            self.into.store.commit(transaction)?;
        }
        self.report.redacted += events;
        Ok(())
    }
}

/// Returns how many own events a session has before its own event with this seq. `None` if the
/// event is inherited.
fn own_number(header: &Header, seq: u64) -> Option<u64> {
    match (&header.parent_id, seq) {
        (None, seq) => Some(seq),
        (Some(_), 0) => Some(0),
        (Some(_), seq) => {
            seq.checked_sub(header.inherited.inheritable).filter(|number| *number > 0)
        }
    }
}

fn event_at(store: &dyn Store, session: &SessionId, seq: u64) -> Result<Option<LogEntry>> {
    let (at, direction) = (At::Seq(seq), Direction::Forward);
    let query = Query { at, direction, limit: 1, bare: false };
    let found = store.read(session, &query)?.events.pop();
    Ok(found.filter(|entry| entry.seq == seq))
}
