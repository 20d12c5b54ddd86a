//! Removes worktrees, after a snapshot of their files.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use forklore_snapshot::SnapshotId;

use crate::error::failed;
use crate::users_git;
use crate::worktree::{bytes, path, resolved, shown};
use crate::worktree_losses::{refuse_losses, refuse_losses_of_entry};
use crate::worktree_record::{Line, Present, Removal, WorktreeRecord};
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
    /// ignores. Waits while another process makes it. A removal that was killed or failed is
    /// completed: what is at the name of its folder meanwhile stays.
    ///
    /// # Errors
    /// [`Error::NotOurs`]; [`Error::NoRepository`]; [`Error::WouldBeLost`] if it has a repository of its own, commits in no
    /// branch, or files that cannot be recorded. Nothing has changed then.
    pub fn remove_worktree(&self, folder: &Path) -> Result<RemovedWorktree> {
        self.remove(folder, |_| Ok(()))
    }

    /// Removes a worktree. `name` gets its folder while that is complete and as the user left it.
    pub(crate) fn remove(
        &self,
        folder: &Path,
        name: impl FnOnce(&Present) -> Result<()>,
    ) -> Result<RemovedWorktree> {
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
        let present = Present { begun: present.begun.with_present_repository()?, ..present };
        let worktree = shown(present.clone(), false);
        let begun = present.removing.clone().filter(|removal| removal.goes_on(&folder));
        let removal = match begun {
            Some(removal) => removal,
            None if worktree.missing => {
                refuse_losses_of_entry(&present)?;
                Removal::default()
            }
            None => {
                let snapshot = Some(self.last_state(&folder, &present)?);
                if present.complete {
                    name(&present)?;
                }
                Removal { snapshot, ..Removal::default() }
            }
        };
        let rest = removal.rest(&folder);
        if let Some(rest) = &rest {
            refuse_losses(rest, &present)?;
        }
        let removal = match rest {
            Some(rest) => self.clear(number, &rest, removal)?,
            None => removal,
        };
        if let Some((repository, _)) = &present.begun.git {
            for folder in removal.folders(&folder) {
                users_git::remove_entry(&path(repository), &folder)?;
            }
        }
        WorktreeRecord::open(self.folder())?.add_removed(number)?;
        Ok(RemovedWorktree { worktree, snapshot: removal.snapshot })
    }

    /// Deletes a folder. It is moved aside first, so that no part of it is ever at its own name.
    fn clear(&self, number: u64, folder: &Path, removal: Removal) -> Result<Removal> {
        let Removal { snapshot, aside, mut moved } = removal;
        let aside = match aside.filter(|aside| path(aside) == folder) {
            Some(aside) => path(&aside),
            None => {
                let aside = free_next_to(folder, number);
                let line = Line::Removing { number, snapshot, aside: Some(bytes(&aside)) };
                WorktreeRecord::open(self.folder())?.add(line)?;
                fs::rename(folder, &aside).map_err(failed("move", folder))?;
                moved = false;
                aside
            }
        };
        if !moved {
            // The move is on the disk before its line.
            let parent = aside.parent().unwrap_or(Path::new("/"));
            File::open(parent)
                .and_then(|parent| parent.sync_all())
                .map_err(failed("sync", parent))?;
            WorktreeRecord::open(self.folder())?.add(Line::Moved { number })?;
        }
        open_up(&aside)?;
        fs::remove_dir_all(&aside).map_err(failed("remove", &aside))?;
        Ok(Removal { snapshot, aside: Some(bytes(&aside)), moved: true })
    }

    /// Takes a snapshot of a worktree, unless its removal would lose what no snapshot contains.
    fn last_state(&self, folder: &Path, present: &Present) -> Result<SnapshotId> {
        refuse_losses(folder, present)?;
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

impl Removal {
    /// Returns whether only its end is missing: its folder may be half deleted, or is gone.
    fn goes_on(&self, folder: &Path) -> bool {
        let is_whole = self.aside.is_some() && !self.moved && self.moved_to().is_none();
        self.snapshot.is_some() && !(is_whole && folder.exists())
    }

    /// Returns what is still to be deleted. A folder at the name of one that was moved aside is
    /// another one, which somebody made since.
    fn rest(&self, folder: &Path) -> Option<PathBuf> {
        match (&self.snapshot, &self.aside) {
            (None, _) => None,
            (Some(_), None) => Some(folder.to_path_buf()).filter(|folder| folder.exists()),
            (Some(_), Some(_)) => self.moved_to(),
        }
    }

    fn moved_to(&self) -> Option<PathBuf> {
        self.aside.as_ref().map(path).filter(|aside| aside.exists())
    }

    /// Returns the names that the folder has or had.
    fn folders(&self, folder: &Path) -> Vec<PathBuf> {
        self.aside.as_ref().map(path).into_iter().chain([folder.to_path_buf()]).collect()
    }
}

/// Returns a path in the same folder at which nothing is.
fn free_next_to(folder: &Path, number: u64) -> PathBuf {
    let name =
        |attempt: u32| folder.with_file_name(format!(".forklore-removed-{number}-{attempt}"));
    let mut attempt = 0;
    while name(attempt).symlink_metadata().is_ok() {
        attempt += 1;
    }
    name(attempt)
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
