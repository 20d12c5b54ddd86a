//! The state of the memory store, and the operations on its sessions.

use std::collections::{BTreeMap, HashSet};

use forklore_core::operation::Operation;
use forklore_core::{Counts, Header, Label, OpenCalls, Origin, SessionId, SessionKind, Strategy};
use jiff::Timestamp;

use super::feed::Feed;
use super::session::Session;
use super::sources::StoredSource;
use crate::error::{Error, Result};
use crate::port::{Append, Appended, NewSession, Page, Query, Removal};
use crate::rules::{
    appended, builds_on_parent, check_append, check_cut, check_kind, is_deleted_by, lease_of_other,
    refuse_children, repeated_seqs, repetition,
};

/// The state of the memory store. `sessions` is keyed by case-folded id and includes deleted
/// sessions.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) sources: Vec<StoredSource>,
    pub(super) feed: Feed,
    /// The recorded operations, the oldest first.
    pub(super) operations: Vec<Operation>,
}

impl State {
    pub(super) fn any(&self, id: &SessionId) -> Result<&Session> {
        let found = self.sessions.get(&id.fold()).filter(|session| session.header.id == *id);
        found.ok_or_else(|| Error::NotFound(id.clone()))
    }

    pub(super) fn get(&self, id: &SessionId) -> Result<&Session> {
        let session = self.any(id)?;
        if session.header.deleted.is_some() { Err(Error::Deleted(id.clone())) } else { Ok(session) }
    }

    pub(super) fn get_mut(&mut self, id: &SessionId) -> Result<&mut Session> {
        self.get(id)?;
        self.sessions.get_mut(&id.fold()).ok_or_else(|| Error::NotFound(id.clone()))
    }

    pub(super) fn page(&self, id: &SessionId, query: &Query) -> Result<Page> {
        Ok(Self::page_of(self.get(id)?, query))
    }

    pub(super) fn page_in_trash(&self, id: &SessionId, query: &Query) -> Result<Page> {
        let session = self.any(id)?;
        if session.header.is_erased() {
            return Err(Error::Deleted(id.clone()));
        }
        Ok(Self::page_of(session, query))
    }

    fn page_of(session: &Session, query: &Query) -> Page {
        let seqs = session.seqs(query);
        let limit = query.limit.max(1);
        let page = seqs.iter().take(limit).filter_map(|seq| session.stored(*seq, query.bare));
        Page { events: page.collect(), more: seqs.len() > limit }
    }

    pub(super) fn living(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().filter(|session| session.header.deleted.is_none())
    }

    pub(super) fn check_label(
        &self,
        root: &SessionId,
        label: &Label,
        but: &SessionId,
    ) -> Result<()> {
        let in_use = self
            .living()
            .map(|session| &session.header)
            .find(|header| header.root_id == *root && header.label == *label && header.id != *but);
        in_use.map_or(Ok(()), |header| {
            Err(Error::LabelInUse { label: label.clone(), by: header.id.clone() })
        })
    }

    pub(super) fn create(&mut self, new: NewSession, now: Timestamp) -> Result<Header> {
        if self.sessions.contains_key(&new.id.fold()) {
            return Err(Error::IdInUse(new.id));
        }
        let mut session = self.begin(&new, now)?;
        self.check_label(&session.header.root_id, &new.label, &new.id)?;
        let mut tail = new.events.as_slice();
        // A child's session_fork comes before its inherited events.
        if let (Some(_), [fork, rest @ ..]) = (&new.from, tail) {
            let entry = session.own(fork, 0, Counts::default());
            session.log.insert(0, entry);
            tail = rest;
        }
        tail.iter().for_each(|event| session.push(event));
        let header = session.header.clone();
        self.sessions.insert(new.id.fold(), session);
        Ok(header)
    }

    pub(super) fn append(
        &mut self,
        id: &SessionId,
        append: &Append,
        now: Timestamp,
    ) -> Result<Appended> {
        let session = self.get_mut(id)?;
        let head = session.header.head_seq();
        if let Some(seqs) = repeated_seqs(&session.header, append)?
            && let Some(earlier) = repetition(&session.header, append, &seqs, session.ids(&seqs))
        {
            return Ok(earlier);
        }
        check_append(&session.header, append, now)?;
        append.events.iter().for_each(|event| session.push(event));
        session.header.usage += append.usage;
        session.header.updated = append.now.min(now);
        Ok(appended(head, &session.header))
    }

    /// Returns a new session that has a header and inherited events, but no own events yet. `now`
    /// is the store's time.
    pub(super) fn begin(&self, new: &NewSession, now: Timestamp) -> Result<Session> {
        let Some(from) = check_kind(new)? else {
            let header = new.header(None, Counts::default(), now);
            return Ok(Session { header, log: Vec::new(), open: OpenCalls::default() });
        };
        let parent = self.get(&from.parent)?;
        check_cut(from, &parent.header)?;
        let inheritable = if new.kind == SessionKind::Branch { from.cut.inheritable } else { 0 };
        let holder = (from.strategy == Strategy::ReplayV1).then_some(&new.id);
        let (log, open) = parent.prefix(inheritable, holder);
        let inherited = log.last().map(|entry| entry.counts).unwrap_or_default();
        let header = new.header(Some(&parent.header), inherited, now);
        Ok(Session { header, log, open })
    }

    pub(super) fn check_removable(&self, removal: &Removal, now: Timestamp) -> Result<()> {
        let Removal { sessions: ids, children, deletion, .. } = removal;
        for id in ids {
            let header = &self.any(id)?.header;
            if !is_deleted_by(header, *deletion) {
                continue;
            }
            if let Some(lease) = lease_of_other(header, None, now) {
                return Err(Error::Leased { session: id.clone(), owner: lease.owner.clone() });
            }
            let stay = self.living().map(|session| &session.header).filter(|child| {
                child.parent_id.as_ref() == Some(id)
                    && builds_on_parent(child)
                    && !ids.contains(&child.id)
            });
            refuse_children(header, *children, stay.map(|child| child.id.clone()).collect())?;
        }
        Ok(())
    }

    /// Returns the sessions whose logs the store needs: those that were not erased.
    pub(super) fn unerased(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().filter(|session| !session.header.is_erased())
    }

    /// Returns each event that a living session or a session in the trash needs, once. An event is
    /// identified by two values: the session that stores it, and its origin (where it was first
    /// written).
    pub(super) fn needed(&self) -> HashSet<(&SessionId, &Origin)> {
        let entries = self.unerased().flat_map(|session| &session.log);
        entries.map(|entry| (&entry.holder, &entry.origin)).collect()
    }
}
