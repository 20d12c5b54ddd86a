//! Options for opening a store.

use std::time::Duration;

/// How to open a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long an operation waits for a lock that another process has.
    pub wait: Duration,
    /// Whether to open an existing store for reading only.
    pub read_only: bool,
    /// The registered name of the VFS that SQLite uses; `None` means SQLite's default. While the
    /// store creates a new file, it bypasses this VFS for its own file operations, such as the
    /// rename into place.
    pub vfs: Option<&'static str>,
    /// Number of events sealed into one row, 1 to 64. Smaller values make the store slower; they
    /// let tests seal small sessions.
    pub chunk_events: u8,
    /// When the WAL is written back into the database file, and by which thread.
    pub checkpoints: Checkpoints,
    /// How long a handle must be open before it packs some idle sessions after a checkpoint, and
    /// the interval until it does so again. The delay spares short-lived programs the work.
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

/// When the WAL is written back into the database file, and by which thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    /// Number of pages in the WAL that makes a checkpoint due.
    pub every_pages: u32,
    /// Whether the operation that reaches that number runs the checkpoint before it returns, which
    /// makes the sequence of file operations reproducible. If false, a background thread runs it
    /// while other operations go on.
    pub in_step: bool,
}

impl Default for Checkpoints {
    fn default() -> Self {
        // While the WAL still grows, each sync also writes the file's newly allocated blocks and
        // takes half as long again. A short WAL is soon overwritten in place.
        Self { every_pages: 1_000, in_step: false }
    }
}
