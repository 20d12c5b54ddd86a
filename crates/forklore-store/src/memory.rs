//! The memory store: the reference that the others are compared with.
//!
//! It keeps every session's history whole, so a fork is a plain copy of the beginning of a list
//! and no rule of the contract hides behind spans or segments. Nothing outlives the process.

mod attachments;
mod feed;
mod session;
mod sources;
mod state;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forklore_core::{Header, SessionId};
use jiff::Timestamp;

pub use self::attachments::MemoryAttachments;
use self::session::Session;
use self::state::State;
use crate::error::{Error, Result};
use crate::feed::{What, wait_for};
use crate::port::{
    Append, Appended, Change, Changed, Changes, Children, Collected, Cursor, Filter, Headers,
    Maintenance, NewSession, Page, Query, Removed, Since, Store, Verification,
};
use crate::rules::{bury, hold};

/// Keeps sessions for as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    attachments: Arc<MemoryAttachments>,
}

impl MemoryStore {
    /// Its attachments.
    #[must_use]
    pub fn attachments(&self) -> Arc<MemoryAttachments> {
        self.attachments.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn create(&self, new: NewSession) -> Result<Header> {
        self.state().create(new)
    }

    fn append(&self, id: &SessionId, append: Append) -> Result<Appended> {
        self.state().append(id, &append)
    }

    fn header(&self, id: &SessionId) -> Result<Header> {
        Ok(self.state().any(id)?.header.clone())
    }

    fn read(&self, id: &SessionId, query: &Query) -> Result<Page> {
        let state = self.state();
        let session = state.get(id)?;
        let seqs = session.seqs(query);
        let limit = query.limit.max(1);
        let page = seqs.iter().take(limit).filter_map(|seq| session.stored(*seq, query.bare));
        Ok(Page { events: page.collect(), more: seqs.len() > limit })
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        let state = self.state();
        let mut found: Vec<_> = state.sessions.values().map(|session| &session.header).collect();
        found.retain(|header| filter.matches(header));
        found.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        found.retain(|header| after.is_none_or(|cursor| cursor.is_before(header)));
        found.truncate(if limit == 0 { usize::MAX } else { limit });
        Ok(Headers { sound: found.into_iter().cloned().collect(), damaged: Vec::new() })
    }

    fn change(&self, id: &SessionId, change: &Change) -> Result<Changed> {
        let mut state = self.state();
        if let Change::Label(label) = change {
            state.check_label(&state.get(id)?.header.root_id.clone(), label, id)?;
        }
        let Session { header, log, .. } = state.get_mut(id)?;
        let mut copied_events = 0;
        match change {
            Change::Label(label) => header.label = label.clone(),
            Change::Title(title) => header.title.clone_from(title),
            Change::Leaf(leaf) => header.leaf.clone_from(leaf),
            Change::CopyOf(copy_of) => header.copy_of.clone_from(copy_of),
            Change::Hold { owner, expires, now } => {
                header.lease = Some(hold(header, owner, *expires, *now)?);
            }
            Change::Release { owner } => {
                match header.lease.take_if(|lease| lease.owner == *owner) {
                    Some(_) => {}
                    None => {
                        return Err(Error::LeaseLost { session: id.clone(), owner: owner.clone() });
                    }
                }
            }
            Change::Detach => {
                header.detached = true;
                for entry in log.iter_mut().filter(|entry| entry.holder != *id) {
                    entry.holder = id.clone();
                    copied_events += 1;
                }
            }
        }
        let header = header.clone();
        state.feed.record(id, What::Changed);
        Ok(Changed { header, copied_events })
    }

    fn remove(&self, ids: &[SessionId], children: Children, now: Timestamp) -> Result<Removed> {
        let mut state = self.state();
        state.check_removable(ids, children, now)?;
        let mut removed = Removed::default();
        for id in ids {
            let Ok(session) = state.get_mut(id) else {
                continue;
            };
            bury(&mut session.header, now);
            session.log = Vec::new();
            removed.deleted.push(id.clone());
            state.feed.record(id, What::Changed);
        }
        state.forget_files_of(&removed.deleted);
        let holders: HashSet<_> = state.needed().into_iter().map(|(holder, _)| holder).collect();
        let kept = removed.deleted.iter().filter(|id| holders.contains(id)).count();
        removed.kept_segments = kept as u64;
        Ok(removed)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        let bell = self.state().feed.bell.clone();
        let mut since = since.clone();
        wait_for(&bell, wait, || {
            let changes = self.state().changes(&since, limit)?;
            since = Since::Mark(changes.mark.clone());
            Ok(changes)
        })
    }

    fn verify(&self, id: Option<&SessionId>) -> Result<Verification> {
        let state = self.state();
        let (sessions, events) = match id {
            Some(id) => (1, state.get(id)?.log.len()),
            None => (state.living().count(), state.needed().len()),
        };
        let (sessions, events) = (sessions as u64, events as u64);
        Ok(Verification { sessions, events, problems: Vec::new() })
    }
}

impl Maintenance for MemoryStore {
    /// Nothing is left to give back: a deleted session's history goes with it.
    fn gc(&self, _now: Timestamp) -> Result<Collected> {
        Ok(Collected::default())
    }

    /// The bytes of payload that living sessions need.
    fn store_bytes(&self) -> Result<u64> {
        let state = self.state();
        let entries = state.living().flat_map(|session| &session.log);
        let sizes: BTreeMap<_, _> = entries
            .map(|entry| ((&entry.holder, &entry.origin), entry.event.data.get().len() as u64))
            .collect();
        Ok(sizes.into_values().sum())
    }
}
