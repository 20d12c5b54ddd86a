//! Removes worktrees, after a snapshot of their files.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use forklore_snapshot::SnapshotId;

use crate::record::failed;
use crate::users_git;
use crate::worktree::{path, resolved, shown};
use crate::worktree_record::{Line, Present, WorktreeRecord};
use crate::{Error, Result, WorkspaceFiles, Worktree};

/// A worktree that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedWorktree {
    /// The worktree.
    pub worktree: Worktree,
    /// The last state of its files; `None` if the folder was missing.
    pub snapshot: Option<SnapshotId>,
}

impl WorkspaceFiles {
    /// Removes a worktree that [`create_worktree`](Self::create_worktree) made, and its entry in the
    /// user's repository. Takes a snapshot of its files first, so nothing is lost but what git
    /// ignores. Waits while another process makes it.
    ///
    /// # Errors
    /// [`Error::NotOurs`]; [`Error::WouldBeLost`] if it has a repository of its own, commits in no
    /// branch, or files that cannot be recorded. Nothing has changed then.
    pub fn remove_worktree(&self, folder: &Path) -> Result<RemovedWorktree> {
        let folder = resolved(folder)?;
        let (number, lock) = {
            let record = WorktreeRecord::open(self.folder())?;
            let mut all = record.present.iter();
            let found = all.find(|(_, present)| path(&present.begun.folder) == folder);
            let ours = found.ok_or_else(|| Error::NotOurs { folder: folder.clone() });
            let number = *ours?.0;
            (number, record.lock_of(number)?)
        };
        // Not while the record is locked: who makes the worktree needs it.
        lock.lock().map_err(failed("lock", self.folder()))?;
        let find = |record: &WorktreeRecord| record.present.get(&number).cloned();
        let present = find(&WorktreeRecord::open(self.folder())?);
        let present = present.ok_or_else(|| Error::NotOurs { folder: folder.clone() })?;
        let worktree = shown(present.clone(), false);
        let snapshot = match present.removing {
            Some(snapshot) => Some(snapshot),
            None if worktree.missing => None,
            None => Some(self.last_state(&folder, &present)?),
        };
        WorktreeRecord::open(self.folder())?.add(Line::Removing { number, snapshot })?;
        if !worktree.missing {
            open_up(&folder)?;
            fs::remove_dir_all(&folder).map_err(failed("remove", &folder))?;
        }
        if let Some((repository, _)) = &present.begun.git {
            users_git::remove_entry(&path(repository), &folder)?;
        }
        WorktreeRecord::open(self.folder())?.add(Line::Removed { number })?;
        Ok(RemovedWorktree { worktree, snapshot })
    }

    /// Takes a snapshot of a worktree, unless its removal would lose what no snapshot contains.
    fn last_state(&self, folder: &Path, present: &Present) -> Result<SnapshotId> {
        let is_git = present.begun.git.is_some();
        refuse_repositories(folder, is_git && folder.join(".git").is_file())?;
        if let Some((_, commit)) = present.begun.git.as_ref().filter(|_| present.complete) {
            let head = users_git::head(folder).filter(|head| head != commit);
            if let Some(head) = head
                && !users_git::is_in_a_ref(folder, &head)?
            {
                let what = "commits that are in no branch and";
                return Err(Error::WouldBeLost { what, path: folder.to_path_buf() });
            }
        }
        let state = self.snapshots.take(folder, &self.taking)?;
        match state.left_out.first() {
            None => Ok(state.id),
            Some(left) => {
                let path = folder.join(path(&left.path));
                Err(Error::WouldBeLost { what: "something", path })
            }
        }
    }
}

/// Refuses if there is a repository in a folder. Snapshots have none, so it is the user's.
fn refuse_repositories(folder: &Path, is_worktree: bool) -> Result<()> {
    let inside = match fs::read_dir(folder) {
        // The snapshot names what cannot be read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        inside => inside.map_err(failed("read", folder))?,
    };
    for entry in inside {
        let entry = entry.map_err(failed("read", folder))?;
        if entry.file_name() == ".git" {
            if !is_worktree {
                return Err(Error::WouldBeLost { what: "a repository", path: entry.path() });
            }
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            refuse_repositories(&entry.path(), false)?;
        }
    }
    Ok(())
}

/// Gives the user the permission to remove what is in a folder.
fn open_up(folder: &Path) -> Result<()> {
    let mode = fs::symlink_metadata(folder).map_err(failed("read", folder))?.permissions().mode();
    if mode & 0o700 != 0o700 {
        let opened = fs::set_permissions(folder, fs::Permissions::from_mode(mode | 0o700));
        opened.map_err(failed("change", folder))?;
    }
    for entry in fs::read_dir(folder).map_err(failed("read", folder))? {
        let entry = entry.map_err(failed("read", folder))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}
