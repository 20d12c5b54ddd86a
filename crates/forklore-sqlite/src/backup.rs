//! Copies a store while other processes write to it, with SQLite's backup API.

use std::fs::File;
use std::path::Path;

use forklore_store::Result;
use forklore_store::attachments::{AttachmentFolder, Attachments};
use forklore_store::disk::{Copied, os, with_suffix};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::connect::{self, Access};
use crate::fault::Fault;
use crate::feed;
use crate::integer::unsigned;
use crate::store::{Options, SqliteStore};

/// How many pages are copied between two reports of progress.
const PAGES: i32 = 1_024;

impl SqliteStore {
    /// The suffixes of the files and folders that can be next to the file of a store, and that a
    /// new store in its place would take for its own.
    pub const COMPANIONS: &[&str] = &["-attachments", "-wal", "-journal"];

    /// Copies the store to the new file `to`, with the attachments in the folder next to it. Other
    /// processes may write meanwhile: the copy contains what was committed when it began, and
    /// nothing that was committed later. The copy is synced, and has a feed of its own. Calls
    /// `observe` after each part.
    ///
    /// # Errors
    /// `Locked` if another process has the store locked for too long; `Denied` or `Io` if a file
    /// cannot be read or written; `Corrupt` if SQLite finds damage.
    pub fn copy_to(&self, to: &Path, observe: &mut dyn FnMut(Copied)) -> Result<()> {
        let attachments = AttachmentFolder::at(with_suffix(to, "-attachments"), false);
        let mut copied = Copied { done: 0, all: bytes(&self.attachments())? };
        // An attachment that the copied events name exists now, or is new after this pass.
        self.copy_attachments(&attachments, &mut copied, observe)?;
        self.copy_database(to, &mut copied, observe)
            .map_err(|fault| fault.about("copying the store", self.path()))?;
        self.copy_attachments(&attachments, &mut copied, observe)?;
        File::open(to).and_then(|file| file.sync_all()).map_err(os("syncing", to))
    }

    fn copy_database(
        &self,
        to: &Path,
        copied: &mut Copied,
        observe: &mut dyn FnMut(Copied),
    ) -> Result<(), Fault> {
        let read_only = Options { read_only: true, ..Options::default() };
        let from = connect::open(self.path(), self.reading_access(), read_only)?;
        connect::private_file(to).map_err(os("writing", to))?;
        let mut new = connect::open(to, Access::Write, Options::default())?;
        // In a read transaction, every step of the backup sees the same state. Without it, SQLite
        // would begin again whenever another process writes.
        from.execute_batch("BEGIN")?;
        from.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        let number = |pragma| from.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let (pages, page_bytes) =
            (unsigned(number("page_count")?)?, unsigned(number("page_size")?)?);
        copied.all += pages * page_bytes;
        let before = copied.done;
        let backup = Backup::new(&from, &mut new)?;
        loop {
            let step = backup.step(PAGES)?;
            let left = u64::try_from(backup.progress().remaining).unwrap_or_default();
            copied.done = before + pages.saturating_sub(left) * page_bytes;
            observe(*copied);
            match step {
                StepResult::Done => break,
                // Only the writers of this new file could lock it, and there are none.
                StepResult::Busy | StepResult::Locked => std::thread::yield_now(),
                _ => {}
            }
        }
        drop(backup);
        complete(new)
    }

    /// Copies the attachments that `to` does not have yet.
    fn copy_attachments(
        &self,
        to: &AttachmentFolder,
        copied: &mut Copied,
        observe: &mut dyn FnMut(Copied),
    ) -> Result<()> {
        for attachment in self.attachments().list()? {
            if to.find(&attachment.id)?.is_some() {
                continue;
            }
            // One that is gone meanwhile is named by no event any more.
            if let Some(mut bytes) = self.attachments().open(&attachment.id)? {
                drop(to.put(&mut bytes, u64::MAX)?);
                copied.done += attachment.bytes;
                copied.all = copied.all.max(copied.done);
                observe(*copied);
            }
        }
        Ok(())
    }
}

/// Makes the copy one file without a WAL, and gives its feed a new identity: the feed of the copied
/// store continues, and marks of it must not be taken for marks of the copy.
fn complete(new: Connection) -> Result<(), Fault> {
    new.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    feed::renew(&new)?;
    new.close().map_err(|(_, error)| Fault::Sql(error))
}

fn bytes(attachments: &AttachmentFolder) -> Result<u64> {
    Ok(attachments.list()?.iter().map(|attachment| attachment.bytes).sum())
}
