//! Transactions of the memory store. Each write is applied immediately, and is rolled back if a
//! later write fails.

use std::collections::HashSet;

use forklore_core::SessionId;
use jiff::Timestamp;

use super::session::{Mark, Session};
use super::sources::StoredSource;
use super::state::State;
use crate::error::Result;
use crate::feed::What;
use crate::port::{Change, Changed, Committed, Removal, Removed, Transaction, Write, Written};
use crate::rules::{make_tombstone, note_source_write, release_lease, take_lease};

/// The data to roll back one write of a transaction.
enum Undo {
    Created(SessionId),
    Changed(SessionId, Box<Mark>),
    Replaced(Vec<Session>, Vec<StoredSource>),
}

/// Returns the session that `write` appends to; `None` if `write` is not an append.
fn session_of(write: &Write) -> Option<&SessionId> {
    match write {
        Write::Append { session, .. } => Some(session),
        _ => None,
    }
}

impl State {
    pub(super) fn commit(&mut self, transaction: Transaction, now: Timestamp) -> Result<Committed> {
        let Transaction { writes, source, .. } = transaction;
        let step = source.as_ref().map(|step| self.begin_step(step)).transpose()?;
        let (id, mut sessions) = step.map_or((None, Vec::new()), |(id, found)| (Some(id), found));
        let (mut undo, mut ids) = (Vec::new(), Vec::with_capacity(writes.len()));
        let mut written = Vec::with_capacity(writes.len());
        for write in writes {
            note_source_write(&mut sessions, &write);
            ids.push(session_of(&write).cloned());
            match self.write(write, now, &mut undo) {
                Ok(done) => written.push(done),
                Err(error) => {
                    undo.into_iter().rev().for_each(|undo| self.undo(undo));
                    return Err(error);
                }
            }
        }
        written.iter().zip(&ids).for_each(|(written, id)| self.report(written, id.as_ref()));
        if let (Some(id), Some(step)) = (id, source) {
            self.record(id, *step, sessions);
        }
        Ok(Committed { written, source: id })
    }

    fn write(&mut self, write: Write, now: Timestamp, undo: &mut Vec<Undo>) -> Result<Written> {
        match write {
            Write::Create(new) => {
                let id = new.id.clone();
                let header = self.create(*new, now)?;
                undo.push(Undo::Created(id));
                Ok(Written::Created(Box::new(header)))
            }
            Write::Append { session, append } => {
                undo.push(self.mark(&session)?);
                Ok(Written::Appended(self.append(&session, &append, now)?))
            }
            Write::Change { session, change } => {
                undo.push(match change {
                    Change::Detach => Undo::Replaced(vec![self.get(&session)?.clone()], Vec::new()),
                    _ => self.mark(&session)?,
                });
                Ok(Written::Changed(Box::new(self.change(&session, &change, now)?)))
            }
            Write::Remove(removal) => {
                self.check_removable(&removal.sessions, removal.children, now)?;
                let living = removal.sessions.iter().filter_map(|id| self.get(id).ok());
                undo.push(Undo::Replaced(living.cloned().collect(), self.sources.clone()));
                Ok(Written::Removed(self.remove(&removal, now)))
            }
        }
    }

    fn change(&mut self, id: &SessionId, change: &Change, now: Timestamp) -> Result<Changed> {
        if let Change::Label(label) = change {
            self.check_label(&self.get(id)?.header.root_id.clone(), label, id)?;
        }
        let Session { header, log, .. } = self.get_mut(id)?;
        let mut copied_events = 0;
        match change {
            Change::Label(label) => header.label = label.clone(),
            Change::Title(title) => header.title.clone_from(title),
            Change::Leaf(leaf) => header.leaf.clone_from(leaf),
            Change::CopyOf(copy_of) => header.copy_of.clone_from(copy_of),
            Change::Hold { owner, lasts } => {
                header.lease = Some(take_lease(header, owner, *lasts, now)?);
            }
            Change::Release { owner } => header.lease = release_lease(header, owner)?,
            Change::Detach => {
                header.detached = true;
                for entry in log.iter_mut().filter(|entry| entry.holder != *id) {
                    entry.holder = id.clone();
                    copied_events += 1;
                }
            }
        }
        Ok(Changed { header: header.clone(), copied_events })
    }

    /// Deletes sessions. The caller has already checked that they may be deleted.
    fn remove(&mut self, removal: &Removal, now: Timestamp) -> Removed {
        let mut removed = Removed::default();
        for id in &removal.sessions {
            let Ok(session) = self.get_mut(id) else { continue };
            make_tombstone(&mut session.header, removal.now.min(now));
            session.log = Vec::new();
            removed.deleted.push(id.clone());
        }
        self.forget_files_of(&removed.deleted);
        let holders: HashSet<_> = self.needed().into_iter().map(|(holder, _)| holder).collect();
        let retained = removed.deleted.iter().filter(|id| holders.contains(id)).count();
        removed.retained_segments = retained as u64;
        removed
    }

    /// Records a completed write in the feed, the sequence of changed sessions.
    fn report(&mut self, written: &Written, session: Option<&SessionId>) {
        match (written, session) {
            (Written::Created(header), _) => self.feed.record(&header.id, What::Created),
            (Written::Appended(appended), Some(session)) if !appended.repeated => {
                self.feed.record(session, What::Appended);
            }
            (Written::Changed(changed), _) => self.feed.record(&changed.header.id, What::Changed),
            (Written::Removed(removed), _) => {
                removed.deleted.iter().for_each(|id| self.feed.record(id, What::Changed));
            }
            (Written::Appended(_), _) => {}
        }
    }

    fn mark(&mut self, id: &SessionId) -> Result<Undo> {
        Ok(Undo::Changed(id.clone(), Box::new(self.get(id)?.mark())))
    }

    fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Created(id) => drop(self.sessions.remove(&id.fold())),
            Undo::Changed(id, mark) => {
                if let Some(session) = self.sessions.get_mut(&id.fold()) {
                    session.back_to(*mark);
                }
            }
            Undo::Replaced(sessions, sources) => {
                for session in sessions {
                    self.sessions.insert(session.header.id.fold(), session);
                }
                if !sources.is_empty() {
                    self.sources = sources;
                }
            }
        }
    }
}
