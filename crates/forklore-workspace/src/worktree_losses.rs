//! What the removal of a worktree would lose although a snapshot was taken.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::failed;
use crate::users_git;
use crate::worktree_record::Present;
use crate::{Error, Result};

/// Refuses if a folder of a worktree has a repository of its own, or commits that are in no branch.
pub(crate) fn refuse_losses(folder: &Path, present: &Present) -> Result<()> {
    let is_git = present.begun.git.is_some();
    refuse_repositories(folder, is_git && folder.join(".git").is_file())?;
    if let Some((_, commit)) = present.begun.git.as_ref().filter(|_| present.complete) {
        // Without it, git would answer for a repository that has the folder.
        let head = folder.join(".git").exists().then(|| users_git::head(folder)).flatten();
        if let Some(head) = head.filter(|head| head != commit)
            && !users_git::is_in_a_ref(folder, &head)?
        {
            let what = "commits that are in no branch and";
            return Err(Error::WouldBeLost { what, path: folder.to_path_buf() });
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
            if !is_worktree {
                return Err(Error::WouldBeLost { what: "a repository", path: entry.path() });
            }
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            refuse_repositories(&entry.path(), false)?;
        }
    }
    Ok(())
}
