//! Sums the usage of the history that a session inherits. This usage is charged to the sessions
//! that wrote the history.

use std::collections::HashMap;

use forklore_core::Usage;
use forklore_core::{Header, SessionId};
use forklore_store::port::{At, Direction, Query};

use super::key;
use crate::{Engine, Result};

impl Engine {
    /// Returns the usage of the model calls in the history that a session inherits. If a call's
    /// usage was reported several times, counts the last report up to the cut. Usage that an
    /// ancestor recorded directly after the cut, before the child was created, counts too. The
    /// session's own usage does not include this usage.
    ///
    /// Reads the events of those ancestors that still exist. Leaves out the usage of agents whose
    /// records contain running totals instead of the usage of single calls.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing.
    pub fn inherited_usage(&self, session: &SessionId) -> Result<Usage> {
        let (mut usage, mut calls) = (Usage::default(), HashMap::new());
        let mut reader = self.show(session)?;
        while let Some((writer, until)) = self.writer_before(&reader)? {
            let first = writer.seq_of_own(u64::from(writer.parent_id.is_some()));
            for stored in self.events(&writer.id, At::Seq(first)) {
                let stored = stored?;
                // The usage of a call is recorded right after its answer, in an event that forks do
                // not inherit.
                let is_aside = !stored.event.class.is_inherited();
                if stored.seq > until && !(is_aside && stored.event.ts <= reader.created) {
                    break;
                }
                let Some(reported) = self.call_usage(&stored) else { continue };
                match reported.call {
                    // The loop visits the newest writer first. The first writer that reports a call
                    // therefore has the call's last report.
                    Some(call) => {
                        let recorded = calls
                            .entry(key(&(stored.event.dialect, call)))
                            .or_insert((writer.id.clone(), reported.usage));
                        if recorded.0 == writer.id {
                            recorded.1 = reported.usage;
                        }
                    }
                    None => usage += reported.usage,
                }
            }
            reader = writer;
        }
        calls.into_values().for_each(|(_, call)| usage += call);
        Ok(usage)
    }

    /// Finds the last event that `header`'s session inherits. Returns the header of the session
    /// that wrote the event, and the event's seq in that session. Returns `None` if nothing is
    /// inherited, or if the writing session was deleted, is missing or is damaged.
    fn writer_before(&self, header: &Header) -> Result<Option<(Header, u64)>> {
        let inheritable = header.inherited.inheritable;
        let query =
            Query { at: At::Seq(inheritable), direction: Direction::Forward, limit: 1, bare: true };
        let last = match inheritable {
            0 => return Ok(None),
            _ => self.store().read(&header.id, &query)?.events.into_iter().next(),
        };
        let Some(origin) = last.map(|last| last.origin) else { return Ok(None) };
        let writer = self.other_session(&origin.session_id)?.header();
        let living = writer.filter(|writer| writer.deleted.is_none());
        Ok(living.map(|writer| (writer, origin.seq)))
    }
}
