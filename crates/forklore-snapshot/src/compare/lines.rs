//! The lines that differ between two snapshots, as git counts and shows them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use bstr::{BString, ByteSlice};

use crate::git::{not_started, output};
use crate::objects::{self, Difference};
use crate::selection::selects;
use crate::{Change, Error, Result, SnapshotId, Snapshots};

/// Settings of git with which it compares: a larger file has no lines, and names stay as they are.
const SETTINGS: [&str; 2] = ["core.bigFileThreshold=2m", "core.quotePath=false"];
/// The size above which a file has no lines.
const LARGE: u64 = 2 << 20;
/// How many bytes all patches together have at most, about.
const MOST: usize = 64 << 20;

/// How much of a comparison is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// The number of paths, of which the first ones count.
    pub paths: usize,
    /// The bytes of all patches together. Beyond them, a path has none.
    pub patches: usize,
}

/// A path that differs between two snapshots, with the number of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLines {
    /// The path, and what happened to it.
    pub change: Change,
    /// Its lines.
    pub lines: Lines,
    /// Its unified diff, if it was wanted and there are lines to show.
    pub patch: Option<BString>,
}

/// The lines of a path that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lines {
    /// The number of lines that only one of both states has.
    Differ {
        /// Those that only the later one has.
        added: u64,
        /// Those that only the earlier one has.
        removed: u64,
    },
    /// The contents are not text.
    Binary,
    /// The contents are too large to be compared by lines.
    Large,
}

impl Snapshots {
    /// Returns the files and links that differ between two snapshots, by path, with their lines and
    /// on demand with patches. Beyond 64 MiB of patches, further paths have none.
    ///
    /// # Errors
    /// If a snapshot is missing or git fails.
    pub fn compare_lines(
        &self,
        before: SnapshotId,
        after: SnapshotId,
        patches: bool,
    ) -> Result<Vec<ChangedLines>> {
        let most = Most { paths: usize::MAX, patches: if patches { MOST } else { 0 } };
        Ok(self.compare_most(before, after, most)?.0)
    }

    /// Returns what [`compare_lines`](Self::compare_lines) does, for a bounded number of paths, and the
    /// number of paths that were left out.
    ///
    /// # Errors
    /// If a snapshot is missing or git fails.
    pub fn compare_most(
        &self,
        before: SnapshotId,
        after: SnapshotId,
        most: Most,
    ) -> Result<(Vec<ChangedLines>, usize)> {
        let mut changes = self.compare(before, after)?;
        let rest = changes.len().saturating_sub(most.paths);
        changes.truncate(most.paths);
        if changes.is_empty() {
            return Ok((Vec::new(), rest));
        }
        let paths: Vec<_> = match rest {
            0 => Vec::new(),
            _ => changes.iter().map(|change| change.path.clone()).collect(),
        };
        let mut found = objects::differences(self.git(), Some(before), Some(after))?;
        // git selects what is below a path as well.
        found.retain(|found| selects(&paths, found.path.as_bstr()));
        let trees = [objects::files(self.git(), before)?, objects::files(self.git(), after)?];
        let counted = self.counted(&trees, &paths)?;
        let large = self.large(&found, &counted)?;
        let mut patches = match most.patches {
            0 => BTreeMap::default(),
            bytes => self.patches(&trees, &paths, &found, bytes)?,
        };
        let with_lines = changes.into_iter().map(|change| {
            let lines = match counted.get(&change.path) {
                Some(None) if large.contains(&change.path) => Lines::Large,
                Some(None) => Lines::Binary,
                Some(&Some((added, removed))) => Lines::Differ { added, removed },
                // Only the permissions differ.
                None => Lines::Differ { added: 0, removed: 0 },
            };
            let patch = patches.remove(&change.path);
            let patch = patch.filter(|_| matches!(lines, Lines::Differ { .. }));
            ChangedLines { change, lines, patch }
        });
        Ok((with_lines.collect(), rest))
    }

    /// Returns the number of lines of each path that were added and removed, or nothing for a path
    /// without lines.
    fn counted(
        &self,
        trees: &[String; 2],
        paths: &[BString],
    ) -> Result<BTreeMap<BString, Option<(u64, u64)>>> {
        let mut git = self.diff(&["-z", "--numstat"], trees, paths);
        let answer = output(&mut git, "diff-tree", self.git().folder())?.stdout;
        let mut counted = BTreeMap::new();
        for line in answer.split_str("\0").filter(|line| !line.is_empty()) {
            let unknown = || Error::Answer { command: "diff-tree", answer: line.into() };
            let mut fields = line.splitn_str(3, "\t");
            let mut next = || fields.next().ok_or_else(unknown);
            let (added, removed, path) = (next()?, next()?, next()?);
            let number = |text: &[u8]| text.to_str().ok().and_then(|text| text.parse().ok());
            counted.insert(path.into(), number(added).zip(number(removed)));
        }
        Ok(counted)
    }

    /// Returns the paths that have no lines because they are large.
    fn large(
        &self,
        found: &[Difference],
        counted: &BTreeMap<BString, Option<(u64, u64)>>,
    ) -> Result<BTreeSet<BString>> {
        let without_lines: Vec<_> = found
            .iter()
            .filter(|found| matches!(counted.get(&found.path), Some(None)))
            .flat_map(|found| {
                let entries = found.before.iter().chain(&found.after);
                entries.map(|entry| (&found.path, &entry.blob))
            })
            .collect();
        let blobs: Vec<_> = without_lines.iter().map(|(_, blob)| blob.as_str()).collect();
        let sizes = self.sizes(&blobs)?;
        let sized = without_lines.iter().zip(sizes);
        Ok(sized.filter(|(_, size)| *size > LARGE).map(|((path, _), _)| (*path).clone()).collect())
    }

    /// Returns the sizes of contents.
    fn sizes(&self, blobs: &[&str]) -> Result<Vec<u64>> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let mut git = self.git().command("cat-file");
        git.arg("--batch-check=%(objectsize)").stdin(self.input(blobs.join("\n").as_bytes())?);
        let answer = output(&mut git, "cat-file", self.git().folder())?.stdout;
        let unknown = |line: &[u8]| Error::Answer { command: "cat-file", answer: line.into() };
        let size = |line: &[u8]| line.to_str().ok().and_then(|line| line.trim().parse().ok());
        answer.lines().map(|line| size(line).ok_or_else(|| unknown(line))).collect()
    }

    /// Returns the patches of paths. A line that begins with `diff` begins the patch of the next
    /// path, because lines of contents begin with other letters.
    fn patches(
        &self,
        trees: &[String; 2],
        paths: &[BString],
        found: &[Difference],
        most: usize,
    ) -> Result<BTreeMap<BString, BString>> {
        let git = self.diff(&["-p", "--src-prefix=a/", "--dst-prefix=b/"], trees, paths);
        let (answer, is_cut) = self.beginning(git, most)?;
        let mut patches: BTreeMap<BString, BString> = BTreeMap::new();
        // A file that became a link has two: it is removed, and the link is added.
        let mut paths = found.iter().flat_map(|found| {
            let both = found.before.as_ref().zip(found.after.as_ref());
            let twice = both.is_some_and(|(before, after)| before.is_link != after.is_link);
            std::iter::repeat_n(&found.path, 1 + usize::from(twice))
        });
        let mut path = None;
        for line in answer.lines_with_terminator() {
            if line.starts_with(b"diff --git ") {
                path = paths.next();
            }
            if let Some(path) = path {
                patches.entry(path.clone()).or_default().extend_from_slice(line);
            }
        }
        if is_cut && let Some(path) = path {
            patches.remove(path);
        }
        Ok(patches)
    }

    /// Returns the first bytes that git writes, and whether there are more.
    fn beginning(&self, mut git: Command, most: usize) -> Result<(Vec<u8>, bool)> {
        let failed =
            |error: &std::io::Error| self.git().failed("diff-tree", error.to_string().as_bytes());
        git.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = git.spawn().map_err(|source| not_started(source, self.git().folder()))?;
        let mut answer = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            let read = stdout.take(most as u64 + 1).read_to_end(&mut answer);
            read.map_err(|error| failed(&error))?;
        }
        let is_cut = answer.len() > most;
        if is_cut {
            // It may have ended meanwhile.
            let _ = child.kill();
        }
        let done = child.wait_with_output().map_err(|error| failed(&error))?;
        if is_cut || done.status.success() {
            return Ok((answer, is_cut));
        }
        Err(self.git().failed("diff-tree", &done.stderr))
    }

    /// Returns a command that compares two trees: some paths, or all if there are none.
    fn diff(&self, form: &[&str], trees: &[String; 2], paths: &[BString]) -> Command {
        let mut git = self.git().command_with(&SETTINGS, "diff-tree");
        git.env("GIT_LITERAL_PATHSPECS", "1");
        git.args(["-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"]);
        git.args(form).args(trees).arg("--");
        git.args(paths.iter().map(|path| OsStr::from_bytes(path)));
        git
    }
}
