//! What a snapshot takes from the git repository of the user. It is only read.

use std::path::Path;

use bstr::{BString, ByteSlice};

use crate::git::{output, reading};
use crate::{Error, Result};

/// Where the user's repository stood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Base {
    /// The commit that is checked out.
    pub(crate) commit: Option<String>,
    /// The branch that is checked out, without `refs/heads/`.
    pub(crate) branch: Option<String>,
}

/// Returns whether a folder is in a work tree of git.
pub(crate) fn contains(folder: &Path) -> bool {
    folder.ancestors().any(|folder| folder.join(".git").exists())
}

/// Returns the commit and the branch that are checked out. A repository without a commit has a
/// branch only, and a detached HEAD has a commit only.
pub(crate) fn base(folder: &Path) -> Result<Base> {
    let answer = |args: &[&str]| -> Result<Option<String>> {
        let done = reading(folder).args(args).output();
        let done = done.map_err(|source| Error::NoGit { source })?;
        let text = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        Ok(Some(text).filter(|text| done.status.success() && !text.is_empty()))
    };
    Ok(Base {
        commit: answer(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])?,
        branch: answer(&["symbolic-ref", "--quiet", "--short", "HEAD"])?,
    })
}

/// Returns the paths that are tracked although the rules say to ignore them, relative to `folder`.
pub(crate) fn tracked_and_ignored(folder: &Path) -> Result<Vec<BString>> {
    let mut git = reading(folder);
    git.args(["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"]);
    let done = output(&mut git, "ls-files", folder)?;
    let paths = done.stdout.split_str("\0").filter(|path| !path.is_empty());
    Ok(paths.map(BString::from).collect())
}
