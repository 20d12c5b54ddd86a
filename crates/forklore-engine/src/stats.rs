//! `stats`: how much there is, what sharing saved, what the models cost (SPEC 3).

use forklore_core::header::Usage;
use forklore_core::{Header, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::port::{Cursor, Filter, Headers, Problem};
use serde::Serialize;

use crate::list::{add_new, problems};
use crate::usage_report::less;
use crate::{Engine, Result};

const PAGE: usize = 1_000;

/// Sums over sessions. What sessions share is counted once, in the session that wrote it; over
/// the whole store also what a copy repeats of its original.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Sessions that were not deleted.
    pub sessions: u64,
    /// Events they wrote themselves.
    pub own_events: u64,
    /// Events they inherited.
    pub inherited_events: u64,
    /// Payload bytes they wrote themselves.
    pub bytes: u64,
    /// Payload bytes they inherited without storing them again.
    pub saved_bytes: u64,
    /// What their own calls of models cost, deleted sessions included.
    pub usage: Usage,
    /// The size of the store's files, where the whole store was asked for and can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_bytes: Option<u64>,
    /// Sessions whose header cannot be read; what they are is in no sum.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl Engine {
    /// Sums over one session, or over the whole store (SPEC 3).
    ///
    /// # Errors
    /// `not_found`.
    pub fn stats(&self, session: Option<&SessionId>) -> Result<Stats> {
        let mut stats = Stats::default();
        if let Some(session) = session {
            stats.add(&self.show(session)?);
            return Ok(stats);
        }
        let copies = self.add_all(&mut stats, &Filter { deleted: true, ..Filter::default() })?;
        for copy in &copies {
            match self.take_back(&mut stats, copy) {
                Ok(()) => {}
                Err(crate::Error::Store(error)) => {
                    let problem = Problem::of(&error, Some(&copy.id));
                    add_new(&mut stats.problems, vec![problem]);
                }
                Err(error) => return Err(error),
            }
        }
        if self.store.capabilities().maintenance {
            stats.store_bytes = Some(self.store.store_bytes()? + self.attachment_bytes()?);
        }
        Ok(stats)
    }

    /// Sums over the family of a session, deleted sessions' usage included (SPEC 3).
    ///
    /// # Errors
    /// `not_found`.
    pub fn family_stats(&self, session: &SessionId) -> Result<Stats> {
        let root = self.show(session)?.root_id;
        let mut stats = Stats::default();
        self.add_all(
            &mut stats,
            &Filter { family: Some(root), deleted: true, ..Filter::default() },
        )?;
        Ok(stats)
    }

    /// Adds the sessions of a filter; gives those that are copies of others.
    fn add_all(&self, stats: &mut Stats, filter: &Filter) -> Result<Vec<Header>> {
        let (mut after, mut copies) = (None, Vec::new());
        loop {
            let Headers { sound: page, damaged } =
                self.store.sessions(filter, after.as_ref(), PAGE)?;
            page.iter().for_each(|header| stats.add(header));
            add_new(&mut stats.problems, problems(&damaged));
            let last = page.last().filter(|_| page.len() == PAGE);
            after = last.map(|last| Cursor { updated: last.updated, id: last.id.clone() });
            let is_copy = |header: &Header| header.copy_of.is_some() && header.deleted.is_none();
            copies.extend(page.into_iter().filter(is_copy));
            if after.is_none() {
                return Ok(copies);
            }
        }
    }

    /// Takes out of the sums what a copy repeats of its original, which is in them.
    fn take_back(&self, stats: &mut Stats, copy: &Header) -> Result<()> {
        let Some(copy_of) = &copy.copy_of else { return Ok(()) };
        let original = match self.store.header(&copy_of.session_id) {
            Err(StoreError::NotFound(_)) => return Ok(()),
            original => original?,
        };
        let Some(repeated) = self.repeated(copy)? else { return Ok(()) };
        stats.usage = less(stats.usage, repeated.usage);
        if original.deleted.is_none() {
            stats.own_events = stats.own_events.saturating_sub(repeated.events);
            stats.inherited_events += repeated.inherited;
            stats.bytes = stats.bytes.saturating_sub(repeated.bytes);
        }
        Ok(())
    }
}

impl Stats {
    fn add(&mut self, header: &Header) {
        self.usage += header.usage;
        if header.deleted.is_some() {
            return;
        }
        self.sessions += 1;
        self.own_events += header.own_events;
        self.inherited_events += header.inherited.kept;
        self.bytes += header.own_bytes;
        self.saved_bytes += header.shared_bytes();
    }
}
