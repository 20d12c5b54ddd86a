//! The lines that differ between two snapshots, as git counts and shows them.

use std::collections::{BTreeMap, BTreeSet};

use bstr::{BString, ByteSlice};

use crate::git::output;
use crate::objects::{self, Difference};
use crate::{Change, Error, Result, SnapshotId, Snapshots};

/// Settings of git with which it compares: a larger file has no lines, and names stay as they are.
const SETTINGS: [&str; 2] = ["core.bigFileThreshold=2m", "core.quotePath=false"];
/// The size above which a file has no lines.
const LARGE: u64 = 2 << 20;
/// How many bytes all patches together have at most, about.
const MOST: usize = 64 << 20;

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
        let changes = self.compare(before, after)?;
        let found = objects::differences(self.git(), Some(before), Some(after))?;
        let trees = [objects::files(self.git(), before)?, objects::files(self.git(), after)?];
        let counted = self.counted(&trees)?;
        let large = self.large(&found, &counted)?;
        let mut patches = if patches { self.patches(&trees, &found)? } else { BTreeMap::default() };
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
        Ok(with_lines.collect())
    }

    /// Returns the number of lines of each path that were added and removed, or nothing for a path
    /// without lines.
    fn counted(&self, trees: &[String; 2]) -> Result<BTreeMap<BString, Option<(u64, u64)>>> {
        let answer = self.diff(&["-z", "--numstat"], trees)?;
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
        found: &[Difference],
    ) -> Result<BTreeMap<BString, BString>> {
        let answer = self.diff(&["-p", "--src-prefix=a/", "--dst-prefix=b/"], trees)?;
        let mut patches: BTreeMap<BString, BString> = BTreeMap::new();
        // A file that became a link has two: it is removed, and the link is added.
        let mut paths = found.iter().flat_map(|found| {
            let both = found.before.as_ref().zip(found.after.as_ref());
            let twice = both.is_some_and(|(before, after)| before.is_link != after.is_link);
            std::iter::repeat_n(&found.path, 1 + usize::from(twice))
        });
        let (mut path, mut bytes) = (None, 0);
        for line in answer.lines_with_terminator() {
            if line.starts_with(b"diff --git ") {
                path = paths.next().filter(|_| bytes < MOST);
            }
            if let Some(path) = path {
                bytes += line.len();
                patches.entry(path.clone()).or_default().extend_from_slice(line);
            }
        }
        Ok(patches)
    }

    fn diff(&self, form: &[&str], trees: &[String; 2]) -> Result<Vec<u8>> {
        let mut git = self.git().command_with(&SETTINGS, "diff-tree");
        git.args(["-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"]);
        git.args(form).args(trees);
        Ok(output(&mut git, "diff-tree", self.git().folder())?.stdout)
    }
}
