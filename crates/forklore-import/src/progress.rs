//! The progress of an import.

use std::path::Path;

/// The progress of an import: of the file that is being read, and of the whole import.
#[derive(Clone, Copy, Debug)]
pub struct Progressed<'a> {
    /// The file that is being read.
    pub path: &'a Path,
    /// Number of bytes of this file that were read so far.
    pub done: u64,
    /// The size in bytes of the file that is being read.
    pub total: u64,
    /// The progress of the whole import, over all its files.
    pub all: Overall,
}

/// The progress of a whole import over all files that it reads. Unchanged files do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overall {
    /// Number of files that were read to their end or skipped.
    pub files_done: u64,
    /// Number of files that the import must read.
    pub files: u64,
    /// The size in bytes of the files done, plus the bytes read of the present file.
    pub bytes_done: u64,
    /// The total size in bytes of the files that the import must read. A session in a container
    /// file counts as 0 bytes.
    pub bytes: u64,
}

impl<'a> Progressed<'a> {
    /// Creates the progress of one file. The progress of the whole import is still empty.
    pub(crate) fn of(path: &'a Path, done: u64, total: u64) -> Self {
        Self { path, done, total, all: Overall::default() }
    }

    /// Returns this file's progress together with the progress of the whole import. `all` is the
    /// import's progress before this file. Of the bytes read of this file, at most `size` count for
    /// the whole import.
    pub(crate) fn within(self, all: &Overall, size: u64) -> Self {
        let bytes_done = all.bytes_done + self.done.min(size);
        Self { all: Overall { bytes_done, ..*all }, ..self }
    }
}
