//! Transactions of the memory store. Each write is applied immediately, and is rolled back if a
//! later write fails.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use forklore_core::operation::Operation;
use forklore_core::{Event, Label, SessionId};
use jiff::Timestamp;

use super::session::{Mark, Session};
use super::sources::StoredSource;
use super::state::State;
use crate::error::{Error, Result};
use crate::feed::What;
use crate::port::{
    Change, Changed, Committed, Redacted, Redactions, Removal, Removed, Transaction, Write, Written,
};
use crate::rules::{
    self, Deleted, Recording, lease_of_other, note_source_write, release_lease, take_lease,
};

/// The data to roll back one write of a transaction.
enum Undo {
    Created(SessionId),
    Changed(SessionId, Box<Mark>),
    Replaced(Vec<Session>, Vec<StoredSource>, Vec<Operation>),
}

/// Returns the session that `write` appends to or changes, and the kind of change that the feed
/// reports. Returns `None` for other writes, whose results name their sessions.
fn news(write: &Write) -> Option<(SessionId, What)> {
    match write {
        Write::Append { session, .. } => Some((session.clone(), What::Appended)),
        // A reader of the feed saw the session removed. All events of the session are new for this
        // reader.
        Write::Change { session, change: Change::Undelete(_) } => {
            Some((session.clone(), What::Created))
        }
        Write::Change { session, .. } => Some((session.clone(), What::Changed)),
        Write::Create(_) | Write::Remove(_) | Write::Redact(_) => None,
    }
}

impl State {
    pub(super) fn commit(&mut self, transaction: Transaction, now: Timestamp) -> Result<Committed> {
        let Transaction { writes, source, operation, .. } = transaction;
        let begin = |operation| {
            let former = |id: &SessionId| Ok(self.any(id)?.header.clone());
            Recording::begin::<Error>(operation, former)
        };
        let mut recording = operation.as_deref().map(begin).transpose()?;
        let step = source.as_ref().map(|step| self.begin_step(step)).transpose()?;
        let (id, mut sessions) = step.map_or((None, Vec::new()), |(id, found)| (Some(id), found));
        let (mut undo, mut reported) = (Vec::new(), Vec::with_capacity(writes.len()));
        let mut written = Vec::with_capacity(writes.len());
        for write in writes {
            note_source_write(&mut sessions, &write);
            reported.push(news(&write));
            match self.write_recorded(write, now, &mut undo, recording.as_mut()) {
                Ok(done) => written.push(done),
                Err(error) => return Err(self.roll_back(undo, error)),
            }
        }
        let recorded = match recording.and_then(Recording::end) {
            Some(recorded) => self.record_operation(recorded, now),
            None => Ok(None),
        };
        let operation = match recorded {
            Ok(operation) => operation,
            Err(error) => return Err(self.roll_back(undo, error)),
        };
        written.iter().zip(reported).for_each(|(written, news)| self.report(written, news));
        if let (Some(id), Some(step)) = (id, source) {
            self.record(id, *step, sessions);
        }
        Ok(Committed { written, source: id, operation })
    }

    fn roll_back(&mut self, undo: Vec<Undo>, error: Error) -> Error {
        undo.into_iter().rev().for_each(|undo| self.undo(undo));
        error
    }

    fn write_recorded(
        &mut self,
        write: Write,
        now: Timestamp,
        undo: &mut Vec<Undo>,
        recording: Option<&mut Recording<'_>>,
    ) -> Result<Written> {
        let Some(recording) = recording else { return self.write(write, now, undo) };
        recording.before(&write, |id| Ok::<_, Error>(self.any(id)?.header.clone()))?;
        let written = self.write(write.clone(), now, undo)?;
        recording.after(&write, &written);
        Ok(written)
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
                    Change::Detach => {
                        Undo::Replaced(vec![self.get(&session)?.clone()], Vec::new(), Vec::new())
                    }
                    Change::Undelete(_) => {
                        Undo::Changed(session.clone(), Box::new(self.any(&session)?.mark()))
                    }
                    _ => self.mark(&session)?,
                });
                Ok(Written::Changed(Box::new(self.change(&session, &change, now)?)))
            }
            Write::Remove(removal) => {
                self.check_removable(&removal, now)?;
                let sessions = removal.sessions.iter().filter_map(|id| self.any(id).ok());
                let (sources, operations) = (self.sources.clone(), self.operations.clone());
                undo.push(Undo::Replaced(sessions.cloned().collect(), sources, operations));
                Ok(Written::Removed(self.remove(&removal, now)))
            }
            Write::Redact(redactions) => {
                let all = self.sessions.values().cloned().collect();
                let (sources, operations) = (self.sources.clone(), self.operations.clone());
                undo.push(Undo::Replaced(all, sources, operations));
                Ok(Written::Redacted(self.redact(&redactions, now)?))
            }
        }
    }

    /// Replaces payloads, and removes titles and the bytes of sources.
    fn redact(&mut self, write: &Redactions, now: Timestamp) -> Result<Redacted> {
        for one in &write.events {
            let header = &self.any(&one.origin.session_id)?.header;
            if let Some(lease) = lease_of_other(header, None, now) {
                let (session, owner) = (header.id.clone(), lease.owner.clone());
                return Err(Error::Leased { session, owner });
            }
        }
        let mut done = Redacted::default();
        for one in &write.events {
            let mut is_done = false;
            let entries = self.sessions.values_mut().flat_map(|session| &mut session.log);
            for entry in entries.filter(|entry| entry.origin == one.origin) {
                if rules::is_redacted_by(&entry.event, one)? {
                    let event = Event { data: one.data.clone(), ..Event::clone(&entry.event) };
                    entry.event = Arc::new(event);
                    is_done = true;
                }
            }
            done.events.extend(is_done.then(|| one.origin.clone()));
        }
        for id in &write.titles {
            let session = self.sessions.get_mut(&id.fold());
            if session.is_some_and(|session| session.header.title.take().is_some()) {
                done.titles.push(id.clone());
            }
        }
        self.forget_bytes_of(&write.sources);
        self.forget_names_of(&done.titles);
        Ok(done)
    }

    fn change(&mut self, id: &SessionId, change: &Change, now: Timestamp) -> Result<Changed> {
        if let Change::Undelete(label) = change {
            return self.undelete(id, label);
        }
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
            Change::Undelete(_) => {}
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

    fn undelete(&mut self, id: &SessionId, label: &Label) -> Result<Changed> {
        let mut header = self.any(id)?.header.clone();
        if rules::undelete(&mut header, label)? {
            self.check_label(&header.root_id, label, id)?;
        }
        if let Some(session) = self.sessions.get_mut(&id.fold()) {
            session.header = header.clone();
        }
        Ok(Changed { header, copied_events: 0 })
    }

    /// Deletes sessions. The caller has already checked that they may be deleted.
    fn remove(&mut self, removal: &Removal, now: Timestamp) -> Removed {
        let (mut removed, mut erased) = (Removed::default(), Vec::new());
        for id in &removal.sessions {
            let Some(session) = self.sessions.get_mut(&id.fold()) else { continue };
            match rules::delete(&mut session.header, removal.deletion, removal.now.min(now)) {
                Deleted::Skipped => continue,
                Deleted::Trashed => {}
                Deleted::Erased => {
                    session.log = Vec::new();
                    erased.push(id.clone());
                }
            }
            removed.deleted.push(id.clone());
        }
        self.forget_files_of(&erased);
        self.forget_names_of(&erased);
        let holders: HashSet<_> = self.needed().into_iter().map(|(holder, _)| holder).collect();
        let retained = erased.iter().filter(|id| holders.contains(id)).count();
        removed.retained_segments = retained as u64;
        removed
    }

    /// Records a completed write in the feed, the sequence of changed sessions.
    fn report(&mut self, written: &Written, news: Option<(SessionId, What)>) {
        match (written, news) {
            (Written::Created(header), _) => self.feed.record(&header.id, What::Created),
            (Written::Removed(removed), _) => {
                removed.deleted.iter().for_each(|id| self.feed.record(id, What::Changed));
            }
            (Written::Redacted(redacted), _) => {
                let holders = self.holders_of(redacted);
                holders.iter().for_each(|id| self.feed.record(id, What::Created));
            }
            (Written::Appended(appended), _) if appended.repeated => {}
            (_, Some((session, what))) => self.feed.record(&session, what),
            (_, None) => {}
        }
    }

    /// Returns the sessions that wrote one of the redacted events, have a copy of it, or lost their
    /// titles.
    fn holders_of(&self, redacted: &Redacted) -> BTreeSet<SessionId> {
        let origins: HashSet<_> = redacted.events.iter().collect();
        let entries = self.sessions.values().flat_map(|session| &session.log);
        let holders = entries.filter(|it| origins.contains(&it.origin)).map(|it| &it.holder);
        holders.chain(&redacted.titles).cloned().collect()
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
            Undo::Replaced(sessions, sources, operations) => {
                if !operations.is_empty() {
                    self.operations = operations;
                }
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
