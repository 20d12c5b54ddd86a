//! The methods with which a reader of the feed waits for commits and makes them durable.

use std::ffi::OsString;

use forklore_store::Result;
use forklore_store::disk::{folder_of, with_suffix};
use forklore_store::feed::Bell;

use super::SqliteStore;
use crate::feed;

impl SqliteStore {
    /// Returns the bell, which wakes the readers of the feed (the sequence of changed sessions)
    /// after each commit.
    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// Starts watching the database file and its WAL for commits of other processes. Such a commit
    /// then wakes the readers of the feed too.
    pub(crate) fn listen(&self) {
        let names = [self.path.clone(), with_suffix(&self.path, "-wal")];
        let names = names.iter().filter_map(|path| path.file_name());
        let names: Vec<_> = names.map(OsString::from).collect();
        self.watch.begin(folder_of(&self.path), &names);
    }

    /// Checks that the file at the store's path is still the one that this handle opened.
    pub(crate) fn check_there(&self) -> Result<()> {
        feed::check_there(&self.path, self.open_file.file())
    }

    /// Makes everything durable that this handle has read: another process may have committed it
    /// without a sync. Does nothing on a read-only handle.
    pub(crate) fn make_durable(&self, doing: &str) -> Result<()> {
        if self.options.read_only {
            return Ok(());
        }
        self.sync(doing, self.tickets.draw())
    }
}
