//! Reads what the repository of snapshots has.

use std::collections::BTreeMap;

use bstr::{BString, ByteSlice};

use crate::about::About;
use crate::git::Git;
use crate::writer::{ABOUT, FILES, REFS};
use crate::{Error, Result, SnapshotId};

/// An entry of a tree: a file or a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) is_link: bool,
    pub(crate) executable: bool,
    /// The id of the contents.
    pub(crate) blob: String,
}

impl Entry {
    /// Returns whether only the permissions of two entries differ.
    pub(crate) fn has_contents_of(&self, other: &Self) -> bool {
        self.blob == other.blob && self.is_link == other.is_link
    }
}

/// A path whose entry differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: BString,
    pub(crate) before: Option<Entry>,
    pub(crate) after: Option<Entry>,
}

/// Returns whether there is a snapshot, and nothing removes it.
pub(crate) fn has(git: &Git, id: SnapshotId) -> bool {
    let mut command = git.command("rev-parse");
    command.args(["--quiet", "--verify", &format!("{REFS}/{id}^{{tree}}")]);
    command.output().is_ok_and(|done| done.status.success())
}

/// Returns what a snapshot has beside its files.
pub(crate) fn about(git: &Git, id: SnapshotId) -> Result<About> {
    if !has(git, id) {
        return Err(Error::NotFound { id: id.to_string() });
    }
    About::parse(&git.run("cat-file", &["blob", &format!("{id}:{ABOUT}")])?)
}

/// Returns the files and links that differ between two snapshots, by path. `None` is a snapshot
/// without files.
pub(crate) fn differences(
    git: &Git,
    before: Option<SnapshotId>,
    after: Option<SnapshotId>,
) -> Result<Vec<Difference>> {
    let tree = |id: Option<SnapshotId>| {
        id.map_or_else(|| Ok(SnapshotId::EMPTY_TREE.to_owned()), |id| files(git, id))
    };
    between(git, &tree(before)?, &tree(after)?)
}

/// Returns the files and links that differ between two trees, by path.
fn between(git: &Git, before: &str, after: &str) -> Result<Vec<Difference>> {
    let args = ["-r", "-z", "--raw", "--no-renames", "--full-index", before, after];
    let answer = git.run("diff-tree", &args)?;
    let mut fields = answer.split_str("\0");
    let mut found = Vec::new();
    while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
        let unknown = || Error::Answer { command: "diff-tree", answer: head.into() };
        found.push(difference(head, path).ok_or_else(unknown)?);
    }
    Ok(found)
}

/// Returns all files and links of a snapshot.
pub(crate) fn entries(git: &Git, id: SnapshotId) -> Result<BTreeMap<BString, Entry>> {
    let found = differences(git, None, Some(id))?.into_iter();
    Ok(found.filter_map(|found| Some((found.path, found.after?))).collect())
}

/// Returns all files and links of a tree.
pub(crate) fn entries_of_tree(git: &Git, tree: &str) -> Result<BTreeMap<BString, Entry>> {
    let found = between(git, SnapshotId::EMPTY_TREE, tree)?.into_iter();
    Ok(found.filter_map(|found| Some((found.path, found.after?))).collect())
}

/// Returns the id of the tree of a snapshot's files. A snapshot without files has none.
pub(crate) fn files(git: &Git, id: SnapshotId) -> Result<String> {
    let answer = git.run("ls-tree", &["-z", &id.to_string(), FILES])?;
    let tree = answer.split_str("\t").next().and_then(|head| head.rsplit_str(" ").next());
    let tree = tree.filter(|_| !answer.is_empty()).map(|id| id.to_str_lossy().into_owned());
    Ok(tree.unwrap_or_else(|| SnapshotId::EMPTY_TREE.to_owned()))
}

/// Reads `:100644 100755 ID ID M`.
fn difference(head: &[u8], path: &[u8]) -> Option<Difference> {
    let mut fields = head.to_str().ok()?.strip_prefix(':')?.split(' ');
    let mut next = || fields.next();
    let (old_mode, new_mode, old, new) = (next()?, next()?, next()?, next()?);
    let entry = |mode: &str, blob: &str| {
        (mode != "000000").then(|| Entry {
            is_link: mode == "120000",
            executable: mode == "100755",
            blob: blob.to_owned(),
        })
    };
    Some(Difference {
        path: path.into(),
        before: entry(old_mode, old),
        after: entry(new_mode, new),
    })
}
