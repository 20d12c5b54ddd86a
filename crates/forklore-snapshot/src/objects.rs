//! Reads what the repository of snapshots has.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Take, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use bstr::{BString, ByteSlice};

use crate::about::About;
use crate::git::{Git, not_started};
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
    let (before, after) = (tree(before)?, tree(after)?);
    let args = ["-r", "-z", "--raw", "--no-renames", "--full-index", &before, &after];
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

/// Reads contents, one after the other, from one process of git.
pub(crate) struct Contents<'a> {
    git: &'a Git,
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl<'a> Contents<'a> {
    pub(crate) fn of(git: &'a Git) -> Result<Self> {
        let mut command = git.command("cat-file");
        command.arg("--batch").stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = command.spawn().map_err(|source| not_started(source, git.folder()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(git.failed("cat-file", b"it has no input or output"));
        };
        Ok(Self { git, child, input: BufWriter::new(input), output: BufReader::new(output) })
    }

    /// Calls a function with a reader of the contents that have an id.
    pub(crate) fn read<T>(
        &mut self,
        id: &str,
        read: impl FnOnce(&mut Take<&mut BufReader<ChildStdout>>) -> Result<T>,
    ) -> Result<T> {
        let mut head = String::new();
        let sent = writeln!(self.input, "{id}").and_then(|()| self.input.flush());
        let answered = sent.and_then(|()| self.output.read_line(&mut head));
        answered.map_err(|error| self.git.failed("cat-file", error.to_string().as_bytes()))?;
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok());
        let Some(size) = size else {
            return Err(Error::Answer { command: "cat-file", answer: head.into() });
        };
        let mut contents = Read::by_ref(&mut self.output).take(size);
        let result = read(&mut contents)?;
        // What was not read, and the line end behind it.
        let rest = io::copy(&mut contents, &mut io::sink());
        let rest = rest.and_then(|_| self.output.read_exact(&mut [0]));
        rest.map_err(|error| self.git.failed("cat-file", error.to_string().as_bytes()))?;
        Ok(result)
    }
}

impl Drop for Contents<'_> {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
