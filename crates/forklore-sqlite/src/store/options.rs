//! How a store is opened.

use std::time::Duration;

/// How to open a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a step waits for other processes.
    pub wait: Duration,
    /// Whether to open an existing store for reading only.
    pub read_only: bool,
    /// The VFS through which SQLite reaches its files, by the name it is registered under; none is
    /// SQLite's own. What the store itself does to files while it makes a new one, which is to
    /// give it its place when it is whole, passes it by.
    pub vfs: Option<&'static str>,
    /// How many events are sealed into one row, at most 64. Fewer make a slower store; they are for
    /// tests of small ones.
    pub chunk_events: u8,
    /// When the WAL is written back into the file, and by whom.
    pub checkpoints: Checkpoints,
    /// How long a handle lives before some of what is idle is packed behind a checkpoint, and again
    /// each time: a program that soon ends has better things to do.
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

/// When the WAL is written back into the file, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    /// Pages in the WAL after which it is.
    pub every_pages: u32,
    /// Whether the step that finds so many does it before it returns, so that what happens to the
    /// files is the same in each run; else a thread does it while other steps go on.
    pub in_step: bool,
}

impl Default for Checkpoints {
    fn default() -> Self {
        // While the WAL still grows, a sync has the new blocks of the file to write too and takes
        // half as long again: so it is short, and soon overwritten in its place.
        Self { every_pages: 1_000, in_step: false }
    }
}
