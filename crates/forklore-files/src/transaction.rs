//! Performs transactions of one write or of several writes.

use std::sync::MutexGuard;

use forklore_core::{Header, SessionId, SessionKind, Strategy};
use forklore_store::port::{
    Beginning, Change, Changed, Committed, NewOperation, NewSession, Removal, Transaction, Write,
    Written,
};
use forklore_store::rules::Recording;
use forklore_store::sources::SourceStep;
use forklore_store::{Error, Result};

use crate::copy::{Owner, Staged};
use crate::folder::Folder;
use crate::layout::Segment;
use crate::sources::{Import, Index};
use crate::store::FilesStore;
use crate::{append, change, copy, create, operation, redact, remove};

/// How many times an operation is tried when it fails because of a concurrent delete or `gc`.
const TRIES: usize = 3;

/// Runs `step`, which reads without a lock. Repeats it if it finds data missing or damaged, because
/// a concurrent delete or `gc` may have just removed that data.
pub(crate) fn again<T>(mut step: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..TRIES {
        match step() {
            Err(
                Error::Corrupt { .. }
                | Error::Lost { .. }
                | Error::MissingAncestor { .. }
                | Error::Stale { .. },
            ) => {}
            done => return done,
        }
    }
    step()
}

impl FilesStore {
    /// Performs all writes of a transaction, or none if one of them fails.
    pub(crate) fn commit_transaction(&self, transaction: &Transaction) -> Result<Committed> {
        let Transaction { writes, source, operation, .. } = transaction;
        match (writes.as_slice(), source, operation) {
            ([], None, _) => Ok(Committed::default()),
            ([write], None, None) => Ok(self.write_alone(write)?.into()),
            (
                [write @ Write::Change { session, change: Change::Detach }],
                None,
                Some(operation),
            ) => again(|| self.detach_recorded(session, write, operation)),
            _ => again(|| self.write_together(writes, source.as_deref(), operation.as_deref())),
        }
    }

    /// Performs a write that is the only one of its transaction. If possible, locks only one
    /// session, so that other processes can write at the same time.
    fn write_alone(&self, write: &Write) -> Result<Written> {
        match write {
            Write::Create(new) => {
                let mut exclusive = false;
                let made = again(|| {
                    let made = self.create_once(new, exclusive);
                    exclusive = matches!(made, Err(Error::Stale { .. }));
                    made
                });
                Ok(Written::Created(Box::new(made?)))
            }
            Write::Append { session, append } => {
                let (_turns, folder) = self.with(session)?;
                Ok(Written::Appended(append::append(folder, session, append)?))
            }
            Write::Change { session, change: Change::Detach } => {
                let mut exclusive = false;
                let detached = again(|| {
                    let detached = self.detach_once(session, exclusive);
                    exclusive = matches!(detached, Err(Error::Stale { .. }));
                    detached
                });
                Ok(Written::Changed(Box::new(detached?)))
            }
            Write::Change { session, change } => {
                let header = if matches!(change, Change::Label(_) | Change::Undelete(_)) {
                    let (_passed, folder) = self.exclusive()?;
                    change::change(folder, session, change)?
                } else {
                    let (_turns, folder) = self.with(session)?;
                    change::change(folder, session, change)?
                };
                Ok(Written::Changed(Box::new(Changed { header, copied_events: 0 })))
            }
            Write::Redact(redactions) => {
                let (_passed, folder) = self.exclusive()?;
                let index = match redactions.sources.as_slice() {
                    [] => None,
                    _ => Some(self.index()?),
                };
                let redacted =
                    folder.together(|folder| redact::redact(folder, index.as_deref(), redactions));
                Ok(Written::Redacted(redacted?))
            }
            Write::Remove(removal) => {
                let (_passed, folder) = self.exclusive()?;
                let index = self.index_for(folder, removal)?;
                let removed =
                    folder.together(|folder| remove::delete(folder, index.as_deref(), removal));
                Ok(Written::Removed(removed?))
            }
        }
    }

    /// Performs the writes as one atomic change to several files. The change also stores the import
    /// step `source` and the record of `operation`, if they are given.
    fn write_together(
        &self,
        writes: &[Write],
        source: Option<&SourceStep>,
        operation: Option<&NewOperation>,
    ) -> Result<Committed> {
        let (_passed, folder) = self.exclusive()?;
        let forgets_files = |write: &&Write| match write {
            Write::Remove(_) => true,
            Write::Redact(redactions) => !redactions.sources.is_empty(),
            _ => false,
        };
        let mut index = match source {
            None if !writes.iter().any(|write| forgets_files(&write)) => None,
            _ => Some(self.index()?),
        };
        let done = folder
            .together(|folder| take_writes(folder, index.as_deref(), writes, source, operation));
        if let (Err(_), Some(index)) = (&done, &mut index) {
            // The index may contain entries of the change, which was undone. Empty it, so that it
            // is read again.
            **index = Index::default();
        }
        done
    }

    /// Returns the index of imported files if one of the sessions to delete was imported, otherwise
    /// `None`. A damaged import log therefore does not prevent the delete of other sessions.
    fn index_for(
        &self,
        folder: &Folder,
        removal: &Removal,
    ) -> Result<Option<MutexGuard<'_, Index>>> {
        let mut imported = false;
        for id in &removal.sessions {
            match folder.any(id) {
                Ok(session) => imported |= session.header.source.is_some(),
                // The delete itself reports these errors.
                Err(Error::Corrupt { .. } | Error::Lost { .. } | Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if imported { self.index().map(Some) } else { Ok(None) }
    }

    /// Creates a session. If it needs its own copy of its inherited events, copies them without the
    /// store's lock, so that other processes can write. With `exclusive`, copies them with the
    /// exclusive lock, so that no `gc` can remove the copy as abandoned.
    fn create_once(&self, new: &NewSession, exclusive: bool) -> Result<Header> {
        let (passed, folder) = self.exclusive()?;
        let Some(from) = new.from.as_ref().filter(|from| copies(new, from)) else {
            return create::create(folder, new, None);
        };
        create::check_new(folder, new)?;
        let early = exclusive.then_some(passed);
        let staged = stage_new(folder, new, from)?;
        let passed = early.map_or_else(|| self.exclusive().map(|(passed, _)| passed), Ok);
        let made = passed.and_then(|_passed| create::create(folder, new, Some(&staged)));
        if made.is_err() {
            staged.abandon(folder);
        }
        made
    }

    /// Detaches a session. Copies its inherited events without the store's lock, so that other
    /// processes can write. With `exclusive`, copies them with the exclusive lock, so that no `gc`
    /// can remove the copy as abandoned.
    fn detach_once(&self, session: &SessionId, exclusive: bool) -> Result<Changed> {
        if exclusive {
            let (_passed, folder) = self.exclusive()?;
            let staged = copy::staged_detach(folder, session)?;
            let done = copy::detach(folder, session, staged.as_ref());
            if let Some(staged) = staged.filter(|_| done.is_err()) {
                staged.abandon(folder);
            }
            return done;
        }
        let staged = copy::staged_detach(self.reading()?, session)?;
        let done = self
            .with(session)
            .and_then(|(_turns, folder)| copy::detach(folder, session, staged.as_ref()));
        if let Some(staged) = staged {
            staged.abandon(self.folder());
        }
        done
    }

    /// Detaches a session, and records that as an operation. Copies its inherited events without
    /// the store's lock, and outside of the journal: the copy may be long.
    fn detach_recorded(
        &self,
        session: &SessionId,
        write: &Write,
        operation: &NewOperation,
    ) -> Result<Committed> {
        let staged = copy::staged_detach(self.reading()?, session)?;
        let done = self.exclusive().and_then(|(_passed, folder)| {
            let copied = copy::publish_detach(folder, session, staged.as_ref())?;
            folder.together(|folder| {
                let former = |id: &SessionId| Ok::<_, Error>(folder.any(id)?.header);
                let mut recording = Recording::begin(operation, former)?;
                recording.before(write, former)?;
                let detached = copy::mark_detached(folder, session, copied)?;
                let written = Written::Changed(Box::new(detached));
                recording.after(write, &written);
                let recorded = recording.end();
                let recorded = recorded.map(|recorded| operation::record(folder, recorded));
                let (source, operation) = (None, recorded.transpose()?);
                Ok(Committed { written: vec![written], source, operation })
            })
        });
        if let Some(staged) = staged {
            staged.abandon(self.folder());
        }
        done
    }
}

/// Performs the writes of a transaction one after the other. If they are an import step, also
/// records how much of the imported file was read. If `operation` is given, also records the
/// operation.
fn take_writes(
    folder: &Folder,
    index: Option<&Index>,
    writes: &[Write],
    source: Option<&SourceStep>,
    operation: Option<&NewOperation>,
) -> Result<Committed> {
    let former = |id: &SessionId| Ok::<_, Error>(folder.any(id)?.header);
    let begin = |operation| Recording::begin(operation, former);
    let mut recording = operation.map(begin).transpose()?;
    let mut import = match (index, source) {
        (Some(index), Some(step)) => Some(Import::begin(folder, index, step)?),
        _ => None,
    };
    let mut written = Vec::with_capacity(writes.len());
    for write in writes {
        if let Some(recording) = &mut recording {
            recording.before(write, former)?;
        }
        let done = take_write(folder, index, write)?;
        if let Some(recording) = &mut recording {
            recording.after(write, &done);
        }
        written.push(done);
        if let Some(import) = &mut import {
            import.note(write);
        }
    }
    let source = import.map(|import| import.finish(folder)).transpose()?;
    let operation = recording.and_then(Recording::end);
    let operation = operation.map(|recorded| operation::record(folder, recorded)).transpose()?;
    Ok(Committed { written, source, operation })
}

fn take_write(folder: &Folder, index: Option<&Index>, write: &Write) -> Result<Written> {
    Ok(match write {
        Write::Create(new) => {
            let copied = new.from.as_ref().filter(|from| copies(new, from));
            let staged = copied.map(|from| stage_new(folder, new, from)).transpose()?;
            Written::Created(Box::new(create::create(folder, new, staged.as_ref())?))
        }
        Write::Append { session, append } => {
            Written::Appended(append::append(folder, session, append)?)
        }
        Write::Change { session, change: Change::Detach } => {
            let staged = copy::staged_detach(folder, session)?;
            Written::Changed(Box::new(copy::detach(folder, session, staged.as_ref())?))
        }
        Write::Change { session, change } => {
            let header = change::change(folder, session, change)?;
            Written::Changed(Box::new(Changed { header, copied_events: 0 }))
        }
        Write::Remove(removal) => Written::Removed(remove::delete(folder, index, removal)?),
        Write::Redact(redactions) => Written::Redacted(redact::redact(folder, index, redactions)?),
    })
}

/// Copies the events that a new session will inherit into a temporary file, before the session is
/// created.
fn stage_new(folder: &Folder, new: &NewSession, from: &Beginning) -> Result<Staged> {
    let parent = create::check_new(folder, new)?;
    let owner = Owner {
        id: &new.id,
        parent_id: Some(&from.parent),
        root_id: parent.as_ref().map_or(&new.id, |parent| &parent.header.root_id),
        segment: &Segment::of_session(&new.workspace, &new.id),
    };
    copy::stage(folder, &from.parent, from.cut.inheritable, &owner)
}

/// Checks whether a new session gets its own copy of the events that it inherits.
fn copies(new: &NewSession, from: &Beginning) -> bool {
    from.strategy == Strategy::ReplayV1
        && new.kind == SessionKind::Branch
        && from.cut.inheritable > 0
}
