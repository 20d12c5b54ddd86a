//! Options for opening a store.

use std::time::Duration;

/// The options with which to open a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long an operation waits for a lock of another process. After that, it fails with
    /// `Locked`.
    pub wait: Duration,
    /// Whether to open an existing store for reading only.
    pub read_only: bool,
    /// The name of the registered SQLite VFS to use. `None` means SQLite's default. The creation of
    /// a new store also performs file operations outside the VFS, such as the final rename.
    pub vfs: Option<&'static str>,
    /// Number of events that share one chunk row, from 1 to 64. Smaller values make the store
    /// slower. Tests use them to get chunks from small sessions.
    pub chunk_events: u8,
    /// How often and by which thread the WAL is written back into the database file.
    pub checkpoints: Checkpoints,
    /// The minimum time between two packings, in which a handle compresses some idle sessions. The
    /// same time passes between the opening of the handle and its first packing, so short-lived
    /// programs do not pack. A handle packs after a checkpoint.
    pub pack_every: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(5),
            read_only: false,
            vfs: None,
            chunk_events: 64,
            checkpoints: Checkpoints::default(),
            pack_every: Duration::from_secs(10 * 60),
        }
    }
}

/// Says how often and in which thread a checkpoint runs. A checkpoint writes the WAL back into the
/// database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    /// Number of pages in the WAL at which a checkpoint is due. A checkpoint writes the WAL back
    /// into the database file.
    pub every_pages: u32,
    /// Whether the operation that makes a checkpoint due also runs it, before it returns. The
    /// sequence of file operations is then reproducible. Otherwise a background thread runs it
    /// while other operations continue.
    pub in_step: bool,
}

impl Default for Checkpoints {
    fn default() -> Self {
        // While the WAL file grows, each sync must also write its newly allocated blocks and takes
        // half as long again. A short WAL soon restarts from its beginning and no longer grows.
        Self { every_pages: 1_000, in_step: false }
    }
}
