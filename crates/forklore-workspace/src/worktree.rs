//! Folders of their own for sessions, with the files of a snapshot.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice as _};
use forklore_core::SessionId;
use forklore_snapshot::SnapshotId;

use crate::error::failed;
use crate::users_git;
use crate::worktree_record::{Begun, Line, Present, WorktreeRecord};
use crate::{Error, Result, WorkspaceFiles};

/// A worktree to make.
#[derive(Debug, Clone)]
pub struct NewWorktree {
    /// The session that gets it.
    pub session: SessionId,
    /// The folder whose states the snapshots are.
    pub workspace: PathBuf,
    /// The folder to make. It does not exist, or is empty.
    pub folder: PathBuf,
    /// The state of the files.
    pub snapshot: SnapshotId,
    /// The commit on which the state is based; `None` for the one that is checked out now.
    pub commit: Option<String>,
}

/// The folder of a session, made by [`WorkspaceFiles::create_worktree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// The session.
    pub session: SessionId,
    /// The folder from which it was made.
    pub workspace: PathBuf,
    /// The folder.
    pub folder: PathBuf,
    /// The snapshot with which it began.
    pub snapshot: SnapshotId,
    /// The commit with which it began; `None` if it is a copy and no work tree of git.
    pub commit: Option<String>,
    /// Whether it is complete. Otherwise it is being made now, or its creation was killed.
    pub complete: bool,
    /// Whether a process makes or removes it at this moment.
    pub busy: bool,
    /// Whether the folder does not exist any more.
    pub missing: bool,
    /// Whether its removal was begun and not completed.
    pub removing: bool,
}

impl WorkspaceFiles {
    /// Makes a folder with the files of a snapshot. If the workspace is the top folder of a work
    /// tree of git and has a commit, it is a work tree too, detached at the commit; otherwise a copy.
    ///
    /// # Errors
    /// [`Error::InUse`] or [`Error::InsideWorkspace`]: nothing was made then. If it fails later, what
    /// was made is removed. What cannot be removed is listed.
    pub fn create_worktree(&self, new: &NewWorktree) -> Result<Worktree> {
        if !self.snapshots.has(new.snapshot) {
            let id = new.snapshot.to_string();
            return Err(forklore_snapshot::Error::NotFound { id }.into());
        }
        let workspace = fs::canonicalize(&new.workspace);
        let workspace = workspace.map_err(failed("open", &new.workspace))?;
        let folder = resolved(&new.folder)?;
        let repository = users_git::repository(&workspace);
        if folder.starts_with(&workspace)
            || repository
                .as_ref()
                .is_some_and(|(top, git)| folder.starts_with(top) || folder.starts_with(git))
        {
            return Err(Error::InsideWorkspace { folder });
        }
        let git = repository.filter(|(top, _)| *top == workspace).and_then(|(_, git)| {
            let commit = new.commit.clone().or_else(|| users_git::head(&workspace))?;
            Some((bytes(&git), commit))
        });
        let mut record = WorktreeRecord::open(self.folder())?;
        let mut others = record.present.values().map(|other| path(&other.begun.folder));
        if !is_free(&folder)? || others.any(|other| folder.starts_with(other)) {
            return Err(Error::InUse { folder });
        }
        let ours = fs::canonicalize(self.folder()).map_err(failed("open", self.folder()))?;
        if folder.starts_with(ours) {
            return Err(Error::InsideWorkspace { folder });
        }
        let (session, snapshot) = (new.session.clone(), new.snapshot);
        let (workspace, folder) = (bytes(&workspace), bytes(&folder));
        let begun = Begun { session, workspace, folder, snapshot, git };
        let number = record.add(Line::Begun(begun.clone()))?;
        let lock = record.lock_of(number)?;
        lock.lock().map_err(failed("lock", self.folder()))?;
        drop(record);
        if let Err(error) = self.fill(&begun, &lock) {
            drop(lock);
            // If this fails too, for example because the disk is full, it is listed.
            self.remove_worktree(&path(&begun.folder)).ok();
            return Err(error);
        }
        let mut record = WorktreeRecord::open(self.folder())?;
        record.add(Line::Complete { number })?;
        Ok(shown(Present { begun, complete: true, removing: None }, false))
    }

    fn fill(&self, begun: &Begun, lock: &File) -> Result<()> {
        let folder = path(&begun.folder);
        if let Some((repository, commit)) = &begun.git {
            users_git::add(&path(repository), &path(&begun.workspace), &folder, commit, lock)?;
        }
        self.snapshots.copy_to(&folder, begun.snapshot, Some(&path(&begun.workspace)))?;
        Ok(())
    }

    /// Returns the folder from which a worktree was made, also after its removal.
    pub(crate) fn made_from(&self, folder: &Path) -> Result<Option<PathBuf>> {
        if !WorktreeRecord::exists(self.folder()) {
            return Ok(None);
        }
        let record = WorktreeRecord::open(self.folder())?;
        let begun = record.made.iter().rfind(|begun| path(&begun.folder) == folder);
        Ok(begun.map(|begun| path(&begun.workspace)))
    }

    /// Returns the worktrees of all sessions, also those whose creation or removal was killed.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn worktrees(&self) -> Result<Vec<Worktree>> {
        let record = WorktreeRecord::open(self.folder())?;
        let all = record.present.iter().map(|(&number, present)| {
            let busy = match record.lock_of(number)?.try_lock() {
                Ok(()) => false,
                Err(TryLockError::WouldBlock) => true,
                Err(TryLockError::Error(error)) => {
                    return Err(failed("lock", self.folder())(error));
                }
            };
            Ok(shown(present.clone(), busy))
        });
        all.collect()
    }
}

pub(crate) fn shown(present: Present, busy: bool) -> Worktree {
    let Present { begun, complete, removing } = present;
    let folder = path(&begun.folder);
    Worktree {
        session: begun.session,
        workspace: path(&begun.workspace),
        snapshot: begun.snapshot,
        commit: begun.git.map(|(_, commit)| commit),
        complete,
        busy,
        missing: !folder.exists(),
        removing: removing.is_some(),
        folder,
    }
}

/// Returns the full path of a folder that may not exist, without links.
pub(crate) fn resolved(folder: &Path) -> Result<PathBuf> {
    let mut full = std::path::absolute(folder).map_err(failed("open", folder))?;
    let mut rest = Vec::new();
    loop {
        match fs::canonicalize(&full) {
            Ok(found) => return Ok(rest.iter().rev().fold(found, |path, name| path.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A `..` below a folder that does not exist leads nowhere.
                let name = full.file_name().ok_or(error).map_err(failed("open", folder))?;
                rest.push(name.to_owned());
                full.pop();
            }
            Err(error) => return Err(failed("open", folder)(error)),
        }
    }
}

/// Returns whether nothing is at a path, or an empty folder. A link is something, wherever it leads.
pub(crate) fn is_free(folder: &Path) -> Result<bool> {
    match fs::symlink_metadata(folder) {
        Ok(found) if !found.is_dir() => return Ok(false),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(failed("open", folder)(error)),
    }
    let mut inside = fs::read_dir(folder).map_err(failed("open", folder))?;
    Ok(inside.next().is_none())
}

pub(crate) fn bytes(path: &Path) -> BString {
    path.as_os_str().as_bytes().into()
}

pub(crate) fn path(bytes: &BString) -> PathBuf {
    bytes.to_path_lossy().into_owned()
}
