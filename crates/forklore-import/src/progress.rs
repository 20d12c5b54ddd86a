//! How far an import is.

use std::path::Path;

/// How far the import of a file is, and the whole of which it is a part.
#[derive(Clone, Copy, Debug)]
pub struct Progressed<'a> {
    /// The file.
    pub path: &'a Path,
    /// Bytes read of it.
    pub done: u64,
    /// Its size.
    pub total: u64,
    /// All files that are to be read.
    pub all: Overall,
}

/// How far the import of all files is. Files that are unchanged are none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overall {
    /// Files that were read.
    pub files_done: u64,
    /// Files to be read.
    pub files: u64,
    /// Bytes read of them.
    pub bytes_done: u64,
    /// Their sizes together.
    pub bytes: u64,
}

impl<'a> Progressed<'a> {
    /// A file by itself.
    pub(crate) fn of(path: &'a Path, done: u64, total: u64) -> Self {
        Self { path, done, total, all: Overall::default() }
    }

    /// The same as a part of all, of which the file has `size` bytes.
    pub(crate) fn within(self, all: &Overall, size: u64) -> Self {
        let bytes_done = all.bytes_done + self.done.min(size);
        Self { all: Overall { bytes_done, ..*all }, ..self }
    }
}
