//! The feed: the log `feed.jsonl` in the store's folder. It records to which sessions processes
//! write.
//!
//! A writer appends one line before it writes to a session and a second line after it. Each line is
//! one write, and the log is not synced. If the writer is killed between the two lines, readers
//! detect that: the second line is missing, and no process has the session's lock.
//!
//! In three cases any session may have changed:
//!
//! - A line of the log cannot be read.
//! - The log is from before the machine's last boot.
//! - Another process completed an interrupted change.

mod follow;
mod scan;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_core::SessionId;
use forklore_store::disk::{folder_of, os, with_suffix};
use forklore_store::feed::{Bell, Watch, What};
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::line;
use crate::line::sealed;
use crate::record::VERSION;

/// If the feed's log has more than this number of bytes, the next opening of the store replaces the
/// log by an empty one.
const LONG: u64 = 8 << 20;

/// The feed of a store (the sequence of changed sessions). It has the path of the feed's log, and
/// wakes the readers that wait for changes.
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    path: PathBuf,
    bell: Arc<Bell>,
    watch: Arc<Watch>,
}

/// The first line of the feed's log. It identifies the log and says when it was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct First {
    forklore: u32,
    /// The random id of the feed. Each mark (a reader's position in the feed) contains it.
    feed: String,
    /// How many times an empty log has replaced the feed's log.
    generation: u64,
    /// The id of the machine's boot during which this log was created.
    boot: String,
}

/// A line of the feed's log other than the first one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Entry {
    /// A process announces that it is about to write to this session.
    Begin(What, SessionId),
    /// The announced write to this session has ended, with or without success.
    Done(SessionId),
    /// Any session may have changed since the previous line. The value is always `true`.
    Everything(bool),
}

/// An announced write to a session. Dropping this value records in the feed that the write has
/// ended.
#[derive(Debug)]
pub(crate) struct Write {
    feed: Feed,
    session: SessionId,
}

impl Feed {
    pub(crate) fn at(layout: &Layout) -> Self {
        let bell = Arc::<Bell>::default();
        let watch = Watch::ringing(bell.clone()).into();
        Self { path: layout.feed(), bell, watch }
    }

    /// Announces in the feed that this process is about to write to a session. Dropping the
    /// returned value records the end of the write.
    pub(crate) fn begin(&self, what: What, session: &SessionId) -> Result<Write> {
        self.add(&Entry::Begin(what, session.clone()))?;
        Ok(Write { feed: self.clone(), session: session.clone() })
    }

    /// Records in the feed that any session may have changed, and wakes the feed's readers.
    pub(crate) fn everything(&self) -> Result<()> {
        self.add(&Entry::Everything(true))?;
        self.bell.ring();
        Ok(())
    }

    fn add(&self, entry: &Entry) -> Result<()> {
        let line = sealed(entry)?;
        let mut options = OpenOptions::new();
        options.append(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
        let added = || options.open(&self.path)?.write_all(line.as_bytes());
        let added = match added() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.make()?;
                added()
            }
            added => added,
        };
        added.map_err(os("writing", &self.path))
    }

    /// Creates the feed's log if it does not exist.
    fn make(&self) -> Result<()> {
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        let first = First {
            forklore: VERSION,
            feed: format!("{random:016x}"),
            generation: 0,
            boot: boot(),
        };
        let new = with_suffix(&self.path, &format!("-{random:016x}.new"));
        let made = put(&new, &first).and_then(|()| match std::fs::hard_link(&new, &self.path) {
            // Another process created the log meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
        let _ = std::fs::remove_file(&new);
        made.and_then(|()| std::fs::File::open(folder_of(&self.path))?.sync_all())
            .map_err(os("making", &self.path))
    }

    /// Replaces the feed's log by an empty one. The caller ensures that no process writes to the
    /// log. A reader whose mark is older then gets a list of all sessions.
    fn renew(&self, old: &First) -> Result<()> {
        let first = First { generation: old.generation + 1, boot: boot(), ..old.clone() };
        let new = with_suffix(&self.path, ".new");
        let renewed = put(&new, &first).and_then(|()| std::fs::rename(&new, &self.path));
        let renewed = renewed.and_then(|()| std::fs::File::open(folder_of(&self.path))?.sync_all());
        renewed.map_err(os("writing", &self.path))
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        // Ignore a failure: readers also detect the end of the write because the session's lock is
        // free.
        let _ = self.feed.add(&Entry::Done(self.session.clone()));
        self.feed.bell.ring();
    }
}

/// Writes and syncs a new file for the feed's log that contains only the line `first`.
fn put(path: &Path, first: &First) -> std::io::Result<()> {
    let line = line::sealed(first).map_err(std::io::Error::other)?;
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

/// Returns the id of the machine's current boot. Each boot has a different id. The id is empty on
/// systems other than Linux.
fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// Returns the error for damage in the first line of the feed's log.
fn damaged(path: &Path, message: &str) -> Error {
    crate::log::damage(path, 0, message)
}
