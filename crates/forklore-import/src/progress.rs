//! The progress of an import.

use std::path::Path;

/// The progress of one file, and of the whole import.
#[derive(Clone, Copy, Debug)]
pub struct Progressed<'a> {
    /// The file.
    pub path: &'a Path,
    /// Number of its bytes that were read.
    pub done: u64,
    /// Its size in bytes.
    pub total: u64,
    /// The progress of all files.
    pub all: Overall,
}

/// The progress of all files to read. Unchanged files do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overall {
    /// Number of files that were read.
    pub files_done: u64,
    /// Number of files to read.
    pub files: u64,
    /// Number of bytes of them that were read.
    pub bytes_done: u64,
    /// The size of all files to read, in bytes.
    pub bytes: u64,
}

impl<'a> Progressed<'a> {
    /// Returns the progress of a file, without that of the whole import.
    pub(crate) fn of(path: &'a Path, done: u64, total: u64) -> Self {
        Self { path, done, total, all: Overall::default() }
    }

    /// Adds the progress of the whole import, to which the file contributes `size` bytes.
    pub(crate) fn within(self, all: &Overall, size: u64) -> Self {
        let bytes_done = all.bytes_done + self.done.min(size);
        Self { all: Overall { bytes_done, ..*all }, ..self }
    }
}
