//! The entries of worktrees in the repository of the user: the only thing there that is written.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::failed;
use crate::{Error, Result};

/// Returns the top folder of the work tree and the folder of the repository, if `folder` is in one.
pub(crate) fn repository(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let answer = |argument: &str| {
        let mut git = git(folder);
        let done = git.args(["rev-parse", "--path-format=absolute", argument]).output().ok()?;
        let line = done.stdout.strip_suffix(b"\n").filter(|_| done.status.success())?;
        fs::canonicalize(path(line)).ok()
    };
    Some((answer("--show-toplevel")?, answer("--git-common-dir")?))
}

/// Returns the commit that is checked out.
pub(crate) fn head(folder: &Path) -> Option<String> {
    let arguments = ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"];
    let done = run(folder, "rev-parse", git(folder).args(arguments)).ok()?;
    Some(String::from_utf8_lossy(&done).trim().to_owned())
}

/// Returns whether a repository has a commit.
pub(crate) fn has_commit(repository: &Path, commit: &str) -> bool {
    let done = git(repository).args(["cat-file", "-e", &format!("{commit}^{{commit}}")]).output();
    done.is_ok_and(|done| done.status.success())
}

/// Makes a work tree without files, detached at a commit: no ref is written. Its index is that of
/// the commit, so `git status` shows what the files change. git has the lock too, because it goes on
/// if this process is killed.
pub(crate) fn add(
    repository: &Path,
    workspace: &Path,
    folder: &Path,
    commit: &str,
    lock: &File,
) -> Result<()> {
    let locked = || lock.try_clone().map(Stdio::from).map_err(failed("lock", folder));
    let mut add = git(repository);
    add.args(["worktree", "add", "--quiet", "--detach", "--no-checkout", "--"]).stdin(locked()?);
    run(repository, "worktree add", add.arg(folder).arg(commit))?;
    let mut read = git(folder);
    run(folder, "read-tree", read.args(["read-tree", "HEAD"]).stdin(locked()?))?;
    skip(workspace, folder)
}

/// Marks the files that a sparse work tree does not have. Without it, git would take them for
/// deleted ones.
fn skip(workspace: &Path, folder: &Path) -> Result<()> {
    let list = |folder| run(folder, "ls-files", git(folder).args(["ls-files", "-t", "-z"]));
    let theirs = list(workspace)?;
    let skipped: BTreeSet<_> = lines(&theirs).filter_map(|line| line.strip_prefix(b"S ")).collect();
    if skipped.is_empty() {
        return Ok(());
    }
    let ours = list(folder)?;
    let ours = lines(&ours).filter_map(|line| line.get(2..));
    let mut marked = Vec::new();
    for path in ours.filter(|path| skipped.contains(path)) {
        marked.extend_from_slice(path);
        marked.push(0);
    }
    let mut update = git(folder);
    update.args(["update-index", "-z", "--skip-worktree", "--stdin"]).stdin(Stdio::piped());
    update.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = update.spawn().map_err(failed("run git in", folder))?;
    // Its end is the end of the input. If git stops early, its answer says so.
    let sent = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(&marked));
    let done = child.wait().map_err(failed("run git in", folder))?;
    if done.success() && sent.is_ok() {
        return Ok(());
    }
    let message = "it did not mark the files that a sparse work tree does not have".to_owned();
    Err(Error::Git { command: "update-index", folder: folder.to_path_buf(), message })
}

fn lines(answer: &[u8]) -> impl Iterator<Item = &[u8]> {
    answer.split(|&byte| byte == 0)
}

/// Removes the entry of a worktree from the repository. Unlike `git worktree prune`, touches no
/// other entry; unlike `git worktree remove`, one whose creation was killed can be removed.
pub(crate) fn remove_entry(repository: &Path, folder: &Path) -> Result<()> {
    for entry in entries_of(repository, folder)? {
        fs::remove_dir_all(&entry).map_err(failed("remove", &entry))?;
    }
    // Git removes the folder with the last entry too.
    fs::remove_dir(repository.join("worktrees")).ok();
    Ok(())
}

/// Returns why the user locked the worktree of an entry with `git worktree lock`; empty if no reason
/// was given.
pub(crate) fn lock_reason(entry: &Path) -> Result<Option<String>> {
    let path = entry.join("locked");
    match fs::read(&path) {
        Ok(reason) => Ok(Some(String::from_utf8_lossy(&reason).trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", &path)(error)),
    }
}

/// Returns the entries of a worktree in the repository: one, or none.
pub(crate) fn entries_of(repository: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = repository.join("worktrees");
    let found = match fs::read_dir(&entries) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.map_err(failed("read", &entries))?,
    };
    let paths = found.map(|entry| match entry {
        Ok(entry) => Ok(entry.path()),
        Err(error) => Err(failed("read", &entries)(error)),
    });
    paths.filter(|entry| entry.as_ref().map_or(true, |entry| is_of(entry, folder))).collect()
}

/// Returns whether an entry is that of a worktree. Git writes `gitdir` at first; an entry without
/// it is that of a killed creation if it has the worktree's name.
fn is_of(entry: &Path, folder: &Path) -> bool {
    match fs::read(entry.join("gitdir")) {
        Ok(text) => path(text.strip_suffix(b"\n").unwrap_or(&text)) == folder.join(".git"),
        Err(_) => entry.file_name() == folder.file_name() && entry.join("locked").exists(),
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

/// Returns git as the user has it, except that worktrees have full paths.
pub(crate) fn git(folder: &Path) -> Command {
    let mut git = forklore_snapshot::users_git(folder);
    git.args(["-c", "worktree.useRelativePaths=false"]);
    git
}

pub(crate) fn run(folder: &Path, command: &'static str, git: &mut Command) -> Result<Vec<u8>> {
    let done = git.output().map_err(failed("run git in", folder))?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let message = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(Error::Git { command, folder: folder.to_path_buf(), message })
}
