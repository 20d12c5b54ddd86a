//! The commits that are lost with a worktree: those that only its own files of git name.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::error::failed;
use crate::users_git::{self, git, run};
use crate::{Error, Result};

/// Returns a commit that was made or checked out in a worktree and that no branch, tag or other ref
/// of the repository has. What an amended commit was does not count.
pub(crate) fn of_no_branch(
    repository: &Path,
    folder: &Path,
    began: &str,
) -> Result<Option<String>> {
    let mut own: BTreeSet<_> = users_git::head(folder).into_iter().collect();
    own.extend(checked_out(folder)?);
    own.extend(of_own_refs(folder)?);
    own.remove(began);
    if own.is_empty() {
        return Ok(None);
    }
    let mut list = git(repository);
    list.args(["rev-list", "--max-count=1", "--ignore-missing", "--stdin"]);
    // The HEADs of worktrees would count as refs otherwise.
    list.args(["--single-worktree", "--not", "--all"]);
    list.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = list.spawn().map_err(failed("run git in", repository))?;
    let mut wanted: String = own.iter().map(|commit| format!("{commit}\n")).collect();
    wanted += &format!("^{began}\n");
    // If git stops early, its answer says so.
    let sent = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(wanted.as_bytes()));
    let done = child.wait_with_output().map_err(failed("run git in", repository))?;
    if !done.status.success() || sent.is_err() {
        let message = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        return Err(Error::Git { command: "rev-list", folder: folder.to_path_buf(), message });
    }
    let found = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    Ok(Some(found).filter(|found| !found.is_empty()))
}

/// Returns the commits that were checked out, except those that were amended.
fn checked_out(folder: &Path) -> Result<Vec<String>> {
    let mut log = git(folder);
    log.args(["reflog", "show", "--format=%H %gs", "HEAD"]);
    let log = run(folder, "reflog", &mut log)?;
    let (log, mut found) = (String::from_utf8_lossy(&log), Vec::new());
    let mut was_amended = false;
    for line in log.lines() {
        let (commit, why) = line.split_once(' ').unwrap_or((line, ""));
        if !was_amended {
            found.push(commit.to_owned());
        }
        was_amended = why.starts_with("commit (amend)");
    }
    Ok(found)
}

/// Returns what the refs name that belong to the worktree alone.
fn of_own_refs(folder: &Path) -> Result<Vec<String>> {
    let mut refs = git(folder);
    refs.args(["for-each-ref", "--format=%(objectname)"]);
    refs.args(["refs/bisect", "refs/worktree", "refs/rewritten"]);
    let refs = run(folder, "for-each-ref", &mut refs)?;
    Ok(String::from_utf8_lossy(&refs).lines().map(str::to_owned).collect())
}
