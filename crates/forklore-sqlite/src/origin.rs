//! Looks up the origin of an event: the session that first wrote it, and its seq in that session.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use forklore_core::Origin;
use rusqlite::Connection;

use crate::fault::{Damage, Fault, Result};
use crate::row::{self, Slot};
use crate::segment::{self, Segment};
use crate::session::{self, Identity};

/// Maximum number of entries in a store handle's cache of writers. An entry contains the session
/// that wrote one segment (a group of events stored together).
const MOST: usize = 1 << 16;

/// A store handle's cache of the session that wrote each segment. An entry stays valid, because the
/// writer of a segment never changes and the number of a segment is never reused.
#[derive(Debug, Default)]
pub(crate) struct Identities(Mutex<HashMap<Segment, Identity>>);

impl Identities {
    fn find(&self, segment: Segment) -> Option<Identity> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&segment).cloned()
    }

    fn insert(&self, segment: Segment, identity: &Identity) {
        let mut identities = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if identities.len() >= MOST {
            identities.clear();
        }
        identities.insert(segment, identity.clone());
    }
}

/// Looks up the session that wrote a segment.
pub(crate) struct Writers<'k> {
    identities: &'k Identities,
    /// The writer that was looked up last. Consecutive events mostly have the same writer.
    last: Option<(Segment, Identity)>,
}

impl<'k> Writers<'k> {
    /// Creates a lookup of the sessions that wrote segments. It reads the row of each session at
    /// most once, unless `identities` already has that session.
    pub(crate) fn of(identities: &'k Identities) -> Self {
        Self { identities, last: None }
    }

    /// Returns the origin of an event: the session that first wrote it, and its seq there.
    pub(crate) fn origin(&mut self, conn: &Connection, slot: Slot) -> Result<Origin> {
        let (segment, seq) = self.numbered(conn, slot)?;
        let session_id = self.writer(conn, segment, slot)?.id;
        Ok(Origin { session_id, seq })
    }

    /// Returns the number of the session that first wrote an event, and the event's seq in that
    /// session.
    pub(crate) fn numbered(&mut self, conn: &Connection, slot: Slot) -> Result<(Segment, u64)> {
        if let Some(origin) = slot.origin {
            return Ok(origin);
        }
        let (segment, position) = (segment::of(slot.k), segment::position(slot.k));
        let writer = self.writer(conn, segment, slot)?;
        let tail = writer.parent.is_some() && position > 0;
        Ok((segment, if tail { writer.inherited + position } else { position }))
    }

    #[inline]
    fn writer(&mut self, conn: &Connection, segment: Segment, slot: Slot) -> Result<Identity> {
        if let Some((last, writer)) = &self.last
            && *last == segment
        {
            return Ok(writer.clone());
        }
        let writer = self.search(conn, segment, slot)?;
        self.last = Some((segment, writer.clone()));
        Ok(writer)
    }

    fn search(&self, conn: &Connection, segment: Segment, slot: Slot) -> Result<Identity> {
        if let Some(identity) = self.identities.find(segment) {
            return Ok(identity);
        }
        let found = session::identity(conn, segment).or_else(|fault| match fault {
            // The row may be lost, but others may name the session.
            Fault::Damaged(_) => session::lost(conn, segment)?.ok_or(fault),
            other => Err(other),
        });
        let found = found.map_err(|fault| match fault {
            Fault::Damaged(Damage { location: position, message, .. }) => {
                let message = format!("{message}, so nobody knows who wrote it");
                Fault::damaged(format!("{position}, and {}", row::location(slot.k)), &message)
            }
            other => other,
        })?;
        self.identities.insert(segment, &found);
        Ok(found)
    }
}
