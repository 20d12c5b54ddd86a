//! `stats`: counts sessions and events, and sums their bytes, the bytes that sharing saves, and the
//! model usage.

use forklore_api::Stats;
use forklore_core::{Header, SessionId};
use forklore_store::port::{Cursor, Filter, Headers};

use crate::list::{add_new, next_page_size, problems};
use crate::usage_report::less;
use crate::{Engine, Result};

/// Number of sessions in the first read of the store. Later reads fetch more sessions.
const PAGE: usize = 1_000;

impl Engine {
    /// Sums the events, bytes and model usage of one session. If `session` is `None`, sums the
    /// whole store, including the usage of deleted sessions.
    ///
    /// # Errors
    /// `not_found`: the session does not exist or was deleted.
    pub fn stats(&self, session: Option<&SessionId>) -> Result<Stats> {
        let mut stats = Stats::default();
        if let Some(session) = session {
            add(&mut stats, &self.show(session)?);
            return Ok(stats);
        }
        let copies = self.add_all(&mut stats, &Filter { deleted: true, ..Filter::default() })?;
        for copy in &copies {
            match self.take_back(&mut stats, copy) {
                Ok(()) => {}
                Err(crate::Error::Store(error)) => {
                    let problem = error.problem(Some(&copy.id));
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

    /// Sums the events, bytes and model usage of the family of `session` (all sessions with the
    /// same root). The usage includes that of deleted sessions.
    ///
    /// # Errors
    /// `not_found`: the session does not exist or was deleted.
    pub fn family_stats(&self, session: &SessionId) -> Result<Stats> {
        let root = self.show(session)?.root_id;
        let mut stats = Stats::default();
        self.add_all(
            &mut stats,
            &Filter { family: Some(root), deleted: true, ..Filter::default() },
        )?;
        Ok(stats)
    }

    /// Adds the sessions that match `filter` to the sums in `stats`. Returns the headers of those
    /// that are copies (they repeat the beginning of another session) and are not deleted.
    fn add_all(&self, stats: &mut Stats, filter: &Filter) -> Result<Vec<Header>> {
        let (mut after, mut copies, mut size) = (None, Vec::new(), PAGE);
        loop {
            let Headers { sound: page, damaged } =
                self.store.sessions(filter, after.as_ref(), size)?;
            page.iter().for_each(|header| add(stats, header));
            add_new(&mut stats.problems, problems(&damaged));
            let last = page.last().filter(|_| page.len() == size);
            size = next_page_size(size);
            after = last.map(|last| Cursor { updated: last.updated, id: last.id.clone() });
            let is_copy = |header: &Header| header.copy_of.is_some() && header.deleted.is_none();
            copies.extend(page.into_iter().filter(is_copy));
            if after.is_none() {
                return Ok(copies);
            }
        }
    }

    /// Subtracts the part of a copy that repeats its original, so that the sums count this part
    /// once. If the original is deleted, subtracts only the usage. Subtracts nothing if the
    /// original has no readable header.
    fn take_back(&self, stats: &mut Stats, copy: &Header) -> Result<()> {
        let Some(copy_of) = &copy.copy_of else { return Ok(()) };
        let Some(original) = self.other_session(&copy_of.session_id)?.header() else {
            return Ok(());
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

fn add(stats: &mut Stats, header: &Header) {
    stats.usage += header.usage;
    if header.deleted.is_some() {
        return;
    }
    stats.sessions += 1;
    stats.own_events += header.own_events;
    stats.inherited_events += header.inherited.inheritable;
    stats.bytes += header.own_bytes;
    stats.saved_bytes += header.shared_bytes();
}
