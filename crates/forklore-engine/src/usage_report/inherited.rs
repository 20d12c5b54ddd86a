//! What the history cost that a session inherits: it is billed to those who wrote it.

use std::collections::HashMap;

use forklore_core::header::Usage;
use forklore_core::{ErrorKind, Header, SessionId};
use forklore_store::port::{At, Direction, Query};

use super::key;
use crate::{Engine, Result};

impl Engine {
    /// What the calls of models cost that led up to the place where a session begins, of each call
    /// the last word by then: it is no part of what the session cost. It is read from the events of
    /// its ancestors, as far as these are there; agents whose records give running totals do not
    /// tell it.
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
                // What a call took is told right behind what it said, and not inherited.
                let is_aside = !stored.event.class.is_inherited();
                if stored.seq > until && !(is_aside && stored.event.ts <= reader.created) {
                    break;
                }
                let Some(spent) = self.call_usage(&stored) else { continue };
                match spent.call {
                    // The writers are walked backwards: of a call the first one met told last.
                    Some(call) => {
                        let told = calls
                            .entry(key(&(stored.event.dialect, call)))
                            .or_insert((writer.id.clone(), spent.usage));
                        if told.0 == writer.id {
                            told.1 = spent.usage;
                        }
                    }
                    None => usage += spent.usage,
                }
            }
            reader = writer;
        }
        calls.into_values().for_each(|(_, call)| usage += call);
        Ok(usage)
    }

    /// Who wrote the last event that a session inherits, and where it stands there. None where
    /// nothing is inherited, or the writer was deleted.
    fn writer_before(&self, header: &Header) -> Result<Option<(Header, u64)>> {
        let kept = header.inherited.inheritable;
        let query =
            Query { at: At::Seq(kept), direction: Direction::Forward, limit: 1, bare: true };
        let last = match kept {
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
