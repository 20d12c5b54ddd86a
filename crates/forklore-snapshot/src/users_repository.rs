//! What a snapshot takes from the git repository of the user. It is only read.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use bstr::{BString, ByteSlice};

use crate::git::{output, users_git};
use crate::{Error, Result, rules};

/// Where the user's repository stood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Base {
    /// The commit that is checked out.
    pub(crate) commit: Option<String>,
    /// The branch that is checked out, without `refs/heads/`.
    pub(crate) branch: Option<String>,
}

/// Returns the top folder of the work tree of git in which a folder is, after checking that nobody
/// would wait for what git reads first.
pub(crate) fn top_of(folder: &Path) -> Result<Option<PathBuf>> {
    let Some(top) = folder.ancestors().find(|folder| is_repository(&folder.join(".git"))) else {
        return Ok(None);
    };
    let mut inside = folder.ancestors().take_while(|above| above.starts_with(top));
    inside.try_for_each(rules::check)?;
    Ok(Some(top.to_path_buf()))
}

/// Returns git in a folder of the repository at `top`. Where it cannot read that one, it does not take
/// the next one above.
fn git(folder: &Path, top: &Path) -> Command {
    let mut git = users_git(folder);
    if let Some(above) = top.parent() {
        git.env("GIT_CEILING_DIRECTORIES", above);
    }
    git
}

/// Returns whether git looks no further: for an empty folder it does, and sandboxes put one there.
pub(crate) fn is_repository(git: &Path) -> bool {
    match fs::read_dir(git) {
        Ok(mut inside) => inside.next().is_some(),
        Err(_) => git.exists(),
    }
}

/// Refuses if git takes a repository above the one at `top`. The limit of [`git`] is a list of paths
/// between colons, so one that has a colon is none.
fn refuse_above(folder: &Path, top: &Path) -> Result<()> {
    let mut git = users_git(folder);
    let done = output(git.args(["rev-parse", "--absolute-git-dir"]), "rev-parse", folder)?;
    let found = Path::new(std::ffi::OsStr::from_bytes(done.stdout.trim_end_with(|c| c == '\n')));
    let above = top
        .parent()
        .is_some_and(|above| above.ancestors().any(|above| is_same(&above.join(".git"), found)));
    match above {
        true => {
            let message = format!("{} is not a repository", top.join(".git").display());
            Err(Error::Git { command: "rev-parse", folder: folder.to_path_buf(), message })
        }
        false => Ok(()),
    }
}

fn is_same(left: &Path, right: &Path) -> bool {
    left.canonicalize()
        .ok()
        .zip(right.canonicalize().ok())
        .is_some_and(|(left, right)| left == right)
}

/// Returns the commit and the branch that are checked out. A repository without a commit has a
/// branch only, and a detached HEAD has a commit only.
pub(crate) fn base(folder: &Path, top: &Path) -> Result<Base> {
    let answer = |args: &[&str]| -> Result<Option<String>> {
        let done = git(folder, top).args(args).output();
        let done = done.map_err(|source| Error::NoGit { source })?;
        let text = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        Ok(Some(text).filter(|text| done.status.success() && !text.is_empty()))
    };
    Ok(Base {
        commit: answer(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])?,
        branch: answer(&["symbolic-ref", "--quiet", "--short", "HEAD"])?,
    })
}

/// Returns the paths that are tracked, relative to `folder`.
pub(crate) fn tracked(folder: &Path, top: &Path) -> Result<Vec<BString>> {
    if top.as_os_str().as_encoded_bytes().contains(&b':') {
        refuse_above(folder, top)?;
    }
    let mut git = git(folder, top);
    git.args(["ls-files", "-z", "--cached"]);
    let done = output(&mut git, "ls-files", folder)?;
    let paths = done.stdout.split_str("\0").filter(|path| !path.is_empty());
    Ok(paths.map(BString::from).collect())
}
