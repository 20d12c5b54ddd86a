//! The progress of an import.

use std::path::Path;

/// The progress of an import: of the file that is being read, and of all files.
#[derive(Clone, Copy, Debug)]
pub struct Progressed<'a> {
    /// The file that is being read.
    pub path: &'a Path,
    /// Number of bytes of the file that were read.
    pub done: u64,
    /// The file's size in bytes.
    pub total: u64,
    /// The progress of all files of the import.
    pub all: Overall,
}

/// The progress of all files of an import. Unchanged files do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overall {
    /// Number of files that were read to their end or skipped.
    pub files_done: u64,
    /// Number of files to read.
    pub files: u64,
    /// Number of bytes that were read from these files.
    pub bytes_done: u64,
    /// The size of all files to read, in bytes.
    pub bytes: u64,
}

impl<'a> Progressed<'a> {
    /// Returns the progress of one file, with an empty progress of the whole import.
    pub(crate) fn of(path: &'a Path, done: u64, total: u64) -> Self {
        Self { path, done, total, all: Overall::default() }
    }

    /// Adds the progress of the whole import. `all` is its progress before this file, and `size`
    /// the number of bytes that this file contributes to it.
    pub(crate) fn within(self, all: &Overall, size: u64) -> Self {
        let bytes_done = all.bytes_done + self.done.min(size);
        Self { all: Overall { bytes_done, ..*all }, ..self }
    }
}
