//! `rewind`: takes a conversation and its files back to a position.

use std::path::{Component, Path, PathBuf};

use bstr::{BString, ByteSlice};
use forklore_api::{Fork, Forked, RewindScope, Rewound};
use forklore_core::operation::{OperationId, Outcome};
use forklore_core::{Header, Label, Selector, SessionId};
use forklore_engine::Engine;
use forklore_snapshot::{Error as SnapshotError, Restored, SnapshotId};
use jiff::Timestamp;

use crate::named::{planned, restored};
use crate::record::{Entry, Files, Record};
use crate::state::Moment;
use crate::{Error, Result, WorkspaceFiles};

/// The number of operations among which that of a fork is looked for.
const RECENT: usize = 32;

/// What to take back.
#[derive(Debug, Clone)]
pub struct Rewind {
    /// The position to which to go back.
    pub at: Selector,
    /// What goes back.
    pub scope: RewindScope,
    /// The folder of the files.
    pub folder: PathBuf,
    /// The label of the fork.
    pub label: Option<Label>,
    /// The files and folders to restore, relative to the folder; none for all.
    pub paths: Vec<PathBuf>,
}

impl WorkspaceFiles {
    /// Takes a session back to an earlier position. The session is unchanged: the conversation goes
    /// on in a fork. The state of the files before is recorded first.
    ///
    /// # Errors
    /// [`Error::NoSnapshot`] if files are wanted and the history names no snapshot there; nothing
    /// has changed then. [`Error::Stopped`] if a file could not be written.
    pub fn rewind(&self, engine: &Engine, header: &Header, rewind: &Rewind) -> Result<Rewound> {
        let paths = rewind.paths.iter().map(|path| inside(path)).collect::<Result<Vec<_>>>()?;
        let target = match rewind.scope {
            RewindScope::Conversation => None,
            RewindScope::Both | RewindScope::Files => Some(self.target(engine, header, rewind)?),
        };
        let _shared = self.snapshots.share()?;
        let mut record = Record::open(self.folder(), &self.snapshots.key_of(&rewind.folder)?)?;
        let files = match target {
            Some(after) => {
                let before = self.before(rewind, after, &paths)?;
                Some(Files { before, after })
            }
            None => None,
        };
        let forked = match rewind.scope {
            RewindScope::Files => None,
            RewindScope::Both | RewindScope::Conversation => {
                Some(engine.fork_or_copy(&request(engine, header, rewind)?)?)
            }
        };
        let entry = Entry {
            at: Timestamp::now(),
            session: header.id.clone(),
            fork: forked.as_ref().map(|forked| forked.child_session_id.clone()),
            operation: forked
                .as_ref()
                .map(|forked| operation(engine, forked))
                .transpose()?
                .flatten(),
            files,
            paths: paths.clone(),
            undoes: None,
            brought: None,
        };
        let number = record.add(entry)?;
        let files = match files {
            Some(Files { before, after }) => {
                // Not what was changed while the fork was made: the state before has it not.
                let (folder, taking) = (&rewind.folder, &self.taking);
                let done = self.snapshots.revert(folder, before, after, &paths, taking);
                let done = done.map_err(|error| stopped(number, before, error))?;
                Some(restored(&Restored { before, ..done }, after))
            }
            None => None,
        };
        let (folder, session_id) = (rewind.folder.clone(), header.id.clone());
        Ok(Rewound { number: Some(number), dry_run: false, folder, session_id, forked, files })
    }

    /// Returns what a rewind would do. Changes no file, and no session.
    ///
    /// # Errors
    /// As [`rewind`](Self::rewind).
    pub fn plan_rewind(
        &self,
        engine: &Engine,
        header: &Header,
        rewind: &Rewind,
    ) -> Result<Rewound> {
        let files = match rewind.scope {
            RewindScope::Conversation => None,
            RewindScope::Both | RewindScope::Files => {
                let after = self.target(engine, header, rewind)?;
                let paths = rewind.paths.iter().map(|path| inside(path));
                let paths = paths.collect::<Result<Vec<_>>>()?;
                let before = self.before(rewind, after, &paths)?;
                let changes = self.snapshots.preview(before, after, &paths)?;
                let left = self.snapshots.foreseen(&rewind.folder, before, after, &changes)?;
                Some(planned(before, after, &changes, &left))
            }
        };
        let forked = match rewind.scope {
            RewindScope::Files => None,
            RewindScope::Both | RewindScope::Conversation => {
                Some(engine.fork(&Fork { dry_run: true, ..request(engine, header, rewind)? })?)
            }
        };
        let (folder, session_id) = (rewind.folder.clone(), header.id.clone());
        Ok(Rewound { number: None, dry_run: true, folder, session_id, forked, files })
    }

    /// Returns the snapshot that belongs to the position.
    fn target(&self, engine: &Engine, header: &Header, rewind: &Rewind) -> Result<SnapshotId> {
        let (at, folder) = (rewind.at.clone(), rewind.folder.clone());
        self.snapshot_at(engine, &Moment { header, at, folder })
    }

    /// Records the state before a restore. Each path to restore must be there before or after.
    fn before(&self, rewind: &Rewind, after: SnapshotId, paths: &[BString]) -> Result<SnapshotId> {
        let (folder, taking) = (&rewind.folder, &self.taking);
        let before = self.snapshots.take_before(folder, after, paths, taking)?.id;
        for path in paths {
            let has = |id| self.snapshots.has_path(id, path.as_bstr());
            if !has(after)? && !has(before)? {
                return Err(Error::NothingAt { path: path.to_path_lossy().into_owned() });
            }
        }
        Ok(before)
    }
}

/// Returns the request of the fork in which the conversation goes on. The fork begins where the
/// files go back to, although a position that counts from the end may have another meaning by now.
fn request(engine: &Engine, header: &Header, rewind: &Rewind) -> Result<Fork> {
    let fork = Fork::of(header.id.clone()).at(engine.cut(header, &rewind.at)?.selector());
    Ok(Fork { rewind: true, label: rewind.label.clone(), ..fork })
}

/// Returns the operation that recorded a fork, if the store records operations.
fn operation(engine: &Engine, forked: &Forked) -> Result<Option<OperationId>> {
    if !engine.store().capabilities().operations {
        return Ok(None);
    }
    let page = engine.store().operations(None, RECENT).map_err(forklore_engine::Error::from)?;
    let made = |session: &SessionId| *session == forked.child_session_id;
    let found = page.found.into_iter().find(|operation| {
        let mut outcomes = operation.outcomes.iter();
        outcomes.any(
            |outcome| matches!(outcome, Outcome::Created { session_id, .. } if made(session_id)),
        )
    });
    Ok(found.map(|operation| operation.id))
}

pub(crate) fn stopped(number: u64, before: SnapshotId, error: SnapshotError) -> Error {
    match error {
        SnapshotError::Stopped { source, .. } => Error::Stopped { number, before, source },
        other => other.into(),
    }
}

/// Returns a path as snapshots have it: relative, without `.` and without a slash at its end.
pub(crate) fn inside(path: &Path) -> Result<BString> {
    let outside = || Error::Outside { path: path.to_path_buf() };
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => inside.push(name),
            _ => return Err(outside()),
        }
    }
    let bytes = inside.into_os_string().into_encoded_bytes();
    if bytes.is_empty() { Err(outside()) } else { Ok(bytes.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_snapshots_or_refused() {
        for path in ["src/a", "./src/a", "src/./a/"] {
            assert_eq!(inside(Path::new(path)).unwrap(), "src/a", "{path}");
        }
        for path in ["", ".", "..", "src/../../etc", "/etc"] {
            let error = inside(Path::new(path)).unwrap_err();
            assert!(matches!(error, Error::Outside { .. }), "{path}");
        }
    }
}
