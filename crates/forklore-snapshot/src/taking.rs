//! What a snapshot contains.

use std::path::PathBuf;

use bstr::BString;

/// What a snapshot contains. The default is everything that git tracks or does not ignore.
#[derive(Debug, Clone)]
pub struct Taking {
    /// Files of more bytes are left out, and named. The default is 4 GiB.
    pub largest_file: u64,
    /// The most bytes that the repository of all snapshots may have. A snapshot with which it could
    /// have more is refused. The default is no limit.
    pub max_size: Option<u64>,
    /// Absolute paths that are no part of the workspace, for example the store if it lies in there.
    pub without: Vec<PathBuf>,
    /// Paths, relative to the workspace, that are part of the snapshot even if they are ignored.
    pub also: Vec<BString>,
}

impl Default for Taking {
    fn default() -> Self {
        Self { largest_file: 4 << 30, max_size: None, without: Vec::new(), also: Vec::new() }
    }
}
