//! The commits that are lost with a worktree: those that only its own files of git name.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::Stdio;

use crate::error::failed;
use crate::users_git::{git, run};
use crate::{Error, Result};

/// The files of an entry that name commits: what is checked out, and the changes that a rebase or a
/// merge put aside.
const NAMING: [&str; 4] =
    ["HEAD", "rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"];

/// Returns a commit that only the entry of a worktree has, and no branch, tag or other ref of the
/// repository. What an amended commit was does not count. The folder of the worktree may be gone.
pub(crate) fn of_no_branch(repository: &Path, entry: &Path, began: &str) -> Result<Option<String>> {
    let mut own: BTreeSet<_> = NAMING.iter().filter_map(|name| named(&entry.join(name))).collect();
    own.extend(checked_out(entry)?);
    own.extend(of_own_refs(entry)?);
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
        return Err(Error::Git { command: "rev-list", folder: repository.to_path_buf(), message });
    }
    let found = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    Ok(Some(found).filter(|found| !found.is_empty()))
}

/// Returns the commit that a file names. A HEAD on a branch names none.
fn named(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    Some(text.trim().to_owned()).filter(|text| is_id(text))
}

fn is_id(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the commits that were checked out, except those that were amended.
fn checked_out(entry: &Path) -> Result<Vec<String>> {
    let path = entry.join("logs/HEAD");
    let log = match fs::read(&path) {
        Ok(log) => log,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(in_tables(entry)),
        Err(error) => return Err(failed("read", &path)(error)),
    };
    let (log, mut found) = (String::from_utf8_lossy(&log), Vec::new());
    for line in log.lines() {
        // The commit before, the commit after, who, when, and behind a tab why.
        let (ids, why) = line.split_once('\t').unwrap_or((line, ""));
        if why.starts_with("commit (amend)") {
            found.pop();
        }
        found.extend(ids.split(' ').nth(1).filter(|id| is_id(id)).map(str::to_owned));
    }
    Ok(found)
}

/// Returns the same where git has its logs in tables. Without a commit, git has no log.
fn in_tables(entry: &Path) -> Vec<String> {
    let mut log = git(entry);
    log.arg("--git-dir").arg(entry).args(["reflog", "show", "--format=%H %gs", "HEAD"]);
    let log = run(entry, "reflog", &mut log).unwrap_or_default();
    let (mut found, mut was_amended) = (Vec::new(), false);
    for line in String::from_utf8_lossy(&log).lines() {
        let (commit, why) = line.split_once(' ').unwrap_or((line, ""));
        if !was_amended {
            found.push(commit.to_owned());
        }
        was_amended = why.starts_with("commit (amend)");
    }
    found
}

/// Returns what the refs name that belong to the worktree alone.
fn of_own_refs(entry: &Path) -> Result<Vec<String>> {
    let mut refs = git(entry);
    refs.arg("--git-dir").arg(entry).args(["for-each-ref", "--format=%(objectname)"]);
    refs.args(["refs/bisect", "refs/worktree", "refs/rewritten"]);
    let refs = run(entry, "for-each-ref", &mut refs)?;
    Ok(String::from_utf8_lossy(&refs).lines().map(str::to_owned).collect())
}
