//! What the removal of a worktree would lose although a snapshot was taken.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::failed;
use crate::worktree::path;
use crate::worktree_record::Present;
use crate::{Error, Result, users_commits, users_git};

/// Refuses if a folder of a worktree has a repository of its own, or if
/// [its entry](refuse_losses_of_entry) would lose something.
pub(crate) fn refuse_losses(folder: &Path, present: &Present) -> Result<()> {
    let is_git = present.begun.git.is_some();
    refuse_repositories(folder, is_git && folder.join(".git").is_file())?;
    refuse_losses_of_entry(present)
}

/// Refuses if the entry of a worktree in the user's repository has repositories of submodules, commits
/// that are in no branch, or a lock of the user. The folder may be gone.
pub(crate) fn refuse_losses_of_entry(present: &Present) -> Result<()> {
    let Some((repository, commit)) = present.begun.git.as_ref().filter(|_| present.complete) else {
        return Ok(());
    };
    let (repository, folder) = (path(repository), path(&present.begun.folder));
    for entry in users_git::entries_of(&repository, &folder)? {
        if let Some(reason) = users_git::lock_reason(&entry)? {
            return Err(Error::Locked { folder, reason });
        }
        let modules = entry.join("modules");
        if modules.exists() {
            return Err(Error::WouldBeLost { what: "repositories of submodules", path: modules });
        }
        if let Some(commit) = users_commits::of_no_branch(&repository, &entry, commit)? {
            return Err(Error::CommitsOfNoBranch { folder, commit });
        }
    }
    Ok(())
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
            // For git, an empty one is none.
            let is_empty = fs::read_dir(entry.path()).is_ok_and(|mut it| it.next().is_none());
            if !is_worktree && !is_empty {
                return Err(Error::WouldBeLost { what: "a repository", path: entry.path() });
            }
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            refuse_repositories(&entry.path(), false)?;
        }
    }
    Ok(())
}
