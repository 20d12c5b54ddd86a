//! The usage of the history that a session inherits. It is charged to the sessions that wrote it.

use std::collections::HashMap;

use forklore_core::Usage;
use forklore_core::{ErrorKind, Header, SessionId};
use forklore_store::port::{At, Direction, Query};

use super::key;
use crate::{Engine, Result};

impl Engine {
    /// Returns the usage of the model calls in the history that a session inherits, with the last
    /// report of each call up to the cut. It is not part of the session's own usage. It is read
    /// from the events of the ancestors, as far as these exist. Agents whose records contain
    /// running totals do not report it.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub fn inherited_usage(&self, session: &SessionId) -> Result<Usage> {
        let (mut usage, mut calls) = (Usage::default(), HashMap::new());
        let mut reader = self.show(session)?;
        while let Some((writer, until)) = self.writer_before(&reader)? {
            let first = writer.seq_of_own(u64::from(writer.parent_id.is_some()));
            for stored in self.events(&writer.id, At::Seq(first)) {
                let stored = stored?;
                // The usage of a call is recorded right after its answer and is not inherited.
                let is_aside = !stored.event.class.is_inherited();
                if stored.seq > until && !(is_aside && stored.event.ts <= reader.created) {
                    break;
                }
                let Some(reported) = self.call_usage(&stored) else { continue };
                match reported.call {
                    // The writers are visited from the newest to the oldest, so the first report
                    // found of a call is from the session that reported it last.
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

    /// Returns the session that wrote the last inherited event, and the event's seq there. Returns
    /// `None` if nothing is inherited or the writer was deleted.
    fn writer_before(&self, header: &Header) -> Result<Option<(Header, u64)>> {
        let inheritable = header.inherited.inheritable;
        let query =
            Query { at: At::Seq(inheritable), direction: Direction::Forward, limit: 1, bare: true };
        let last = match inheritable {
            0 => return Ok(None),
            _ => self.store().read(&header.id, &query)?.events.into_iter().next(),
        };
        let Some(origin) = last.map(|last| last.origin) else { return Ok(None) };
        let writer = match self.store().header(&origin.session_id) {
            Ok(writer) if writer.deleted.is_none() => writer,
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some((writer, origin.seq)))
    }
}
