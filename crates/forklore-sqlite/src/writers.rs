//! Who wrote events: what a reader is told as their origin.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};

use forklore_core::Origin;
use rusqlite::Connection;

use crate::fault::{Damage, Fault, Result};
use crate::row::{self, Row};
use crate::segment::{self, Segment};
use crate::session::{self, Identity};

/// The most sessions that a handle remembers.
const MOST: usize = 1 << 16;

/// Who wrote segments, as long as a handle lives: that never changes, and a number is never given
/// to another session.
#[derive(Debug, Default)]
pub(crate) struct Identities(Mutex<BTreeMap<Segment, Identity>>);

impl Identities {
    fn find(&self, segment: Segment) -> Option<Identity> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&segment).cloned()
    }

    fn insert(&self, segment: Segment, identity: &Identity) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(segment, identity.clone());
    }
}

/// Who wrote segments, each looked up once.
#[derive(Default)]
pub(crate) struct Writers<'k> {
    met: BTreeMap<Segment, Identity>,
    identities: Option<&'k Identities>,
}

impl<'k> Writers<'k> {
    /// Those that a handle remembers too.
    pub(crate) fn of(known: &'k Identities) -> Self {
        Self { met: BTreeMap::new(), identities: Some(known) }
    }

    /// Where the event was first written.
    pub(crate) fn origin(&mut self, conn: &Connection, row: &Row) -> Result<Origin> {
        let (segment, seq) = self.numbered(conn, row)?;
        let session_id = self.writer(conn, segment, row)?.id.clone();
        Ok(Origin { session_id, seq })
    }

    /// The same with the number of the session.
    pub(crate) fn numbered(&mut self, conn: &Connection, row: &Row) -> Result<(Segment, u64)> {
        if let Some(origin) = row.origin {
            return Ok(origin);
        }
        let (segment, position) = (segment::of(row.k), segment::position(row.k));
        let writer = self.writer(conn, segment, row)?;
        let tail = writer.parent.is_some() && position > 0;
        Ok((segment, if tail { writer.inherited + position } else { position }))
    }

    fn writer(&mut self, conn: &Connection, segment: Segment, row: &Row) -> Result<&Identity> {
        let unknown = match self.met.entry(segment) {
            Entry::Occupied(met) => return Ok(met.into_mut()),
            Entry::Vacant(unknown) => unknown,
        };
        if let Some(known) = self.identities.and_then(|known| known.find(segment)) {
            return Ok(unknown.insert(known));
        }
        let found = session::identity(conn, segment).map_err(|fault| match fault {
            Fault::Damaged(Damage { location: place, message, .. }) => {
                let message = format!("{message}, so nobody knows who wrote it");
                Fault::damaged(format!("{place}, and {}", row::location(row.k)), &message)
            }
            other => other,
        })?;
        if let Some(known) = self.identities {
            known.insert(segment, &found);
        }
        Ok(unknown.insert(found))
    }
}
