//! `undo`: takes the rewind of a folder back, or an undo.

use std::path::{Path, PathBuf};

use forklore_api::{RewindUndone, Undo};
use forklore_core::operation::OperationId;
use forklore_engine::{Engine, Error as EngineError};
use jiff::Timestamp;

use crate::named::restored;
use crate::record::{Entry, Files, Record};
use crate::rewind::stopped;
use crate::{Error, Result, WorkspaceFiles};

impl WorkspaceFiles {
    /// Returns the folder itself, or else the nearest one above it, in which something was rewound.
    /// The search ends at the top of a repository of git, whose files are its own.
    ///
    /// # Errors
    /// If the folder does not exist.
    pub fn rewound_above(&self, folder: &Path) -> Result<Option<PathBuf>> {
        for above in folder.ancestors() {
            if Record::exists(self.folder(), &self.snapshots.key_of(above)?) {
                return Ok(Some(above.to_path_buf()));
            }
            if above.join(".git").symlink_metadata().is_ok() {
                break;
            }
        }
        Ok(None)
    }

    /// Takes a rewind or an undo of a folder back: the one with this number, or else the latest
    /// rewind. Files that were changed since are skipped and named. A fork that was changed since,
    /// for example gone on with, stays as it is, and the answer says so.
    ///
    /// # Errors
    /// [`Error::NothingToUndo`], [`Error::NoRewind`] or [`Error::UndoneAlready`].
    pub fn undo(
        &self,
        engine: &Engine,
        folder: &Path,
        number: Option<u64>,
    ) -> Result<RewindUndone> {
        let key = self.snapshots.key_of(folder)?;
        let nothing = || Error::NothingToUndo { folder: folder.to_path_buf() };
        if !Record::exists(self.folder(), &key) {
            return Err(nothing());
        }
        let _shared = self.snapshots.share()?;
        let mut record = Record::open(self.folder(), &key)?;
        let undid = number.or_else(|| record.latest()).ok_or_else(nothing)?;
        let missing = || Error::NoRewind { folder: folder.to_path_buf(), number: undid };
        let entry = record.entry(undid).ok_or_else(missing)?.clone();
        if let Some(by) = record.undone_by(undid) {
            return Err(Error::UndoneAlready { number: undid, by });
        }
        // It comes first: an undo of which a kill left no line is begun again.
        let (operation, left) = match entry.operation {
            Some(operation) => undone(engine, operation)?,
            None => (None, false),
        };
        let files = entry.files.map(|files| Files { before: files.after, after: files.before });
        let number = record.add(Entry {
            at: Timestamp::now(),
            operation,
            files,
            undoes: Some(undid),
            brought: None,
            ..entry.clone()
        })?;
        let files = match files {
            Some(Files { before, after }) => {
                let done = self.snapshots.revert(folder, before, after, &entry.paths, &self.taking);
                let done = done.map_err(|error| stopped(number, before, error))?;
                Some(restored(&done, after))
            }
            None => None,
        };
        let (fork, session_id) = (entry.fork, entry.session);
        let fork_left = fork.clone().filter(|_| left);
        // An undo that left the fork as it is has no operation, so its undo changes no fork either.
        let is_of_fork = entry.operation.is_some() || entry.undoes.is_none();
        let fork = fork.filter(|_| is_of_fork && !left);
        let folder = folder.to_path_buf();
        Ok(RewindUndone { number, undid, folder, session_id, fork, fork_left, files })
    }
}

/// Undoes the operation that made a fork, or that put it into the trash. Returns the operation that
/// did so, and whether the fork stays as it is, because it was changed since.
fn undone(engine: &Engine, operation: OperationId) -> Result<(Option<OperationId>, bool)> {
    let request = Undo { operation: Some(operation), partial: false, dry_run: false };
    match engine.undo(&request) {
        Ok(undone) => Ok((undone.recorded_as, false)),
        // `op undo` did it, or an undo of the rewind that was killed before its line.
        Err(EngineError::AlreadyUndone { by, .. }) => Ok((Some(by), false)),
        Err(
            EngineError::ChangedSince { .. }
            | EngineError::NotUndoable { .. }
            | EngineError::NoOperation(_),
        ) => Ok((None, true)),
        Err(error) => Err(error.into()),
    }
}
