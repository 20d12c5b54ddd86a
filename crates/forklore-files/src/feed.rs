//! The feed: a log next to the sessions, `feed.jsonl`, of which sessions are written to.
//!
//! A writer appends a line before it writes to a session and another one after it, each in one
//! write; the log is not synced. If the writer is killed in between, readers can tell: the second
//! line is missing, and no process has the session's lock. Three things mean that any session may
//! have changed: a line that cannot be read, a log from before the machine's last boot, and an
//! interrupted change that another process completed.

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

/// If the log is longer than this many bytes when a store is opened, it is restarted.
const LONG: u64 = 8 << 20;

/// The log of a store, and the means to wake readers that follow it.
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    path: PathBuf,
    bell: Arc<Bell>,
    watch: Arc<Watch>,
}

/// The first line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct First {
    forklore: u32,
    /// The name of the feed.
    feed: String,
    /// How many times the log was restarted.
    generation: u64,
    /// The id of the machine's boot in which the log began.
    boot: String,
}

/// Any other line of a log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Entry {
    /// A session is about to be written to.
    Begin(What, SessionId),
    /// The write is over, whether or not it succeeded.
    Done(SessionId),
    /// Any session may have been written to.
    Everything(bool),
}

/// A write in progress. Dropping it records that it is over.
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

    /// Records that a session is about to be written to.
    pub(crate) fn begin(&self, what: What, session: &SessionId) -> Result<Write> {
        self.add(&Entry::Begin(what, session.clone()))?;
        Ok(Write { feed: self.clone(), session: session.clone() })
    }

    /// Records that any session may have been written to.
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

    /// Creates the log if it does not exist.
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
            // Another process created it meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
        let _ = std::fs::remove_file(&new);
        made.and_then(|()| std::fs::File::open(folder_of(&self.path))?.sync_all())
            .map_err(os("making", &self.path))
    }

    /// Restarts the log while nobody writes to it. Readers with older marks then look at every
    /// session.
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
        // If this fails, readers find that the session's lock is free.
        let _ = self.feed.add(&Entry::Done(self.session.clone()));
        self.feed.bell.ring();
    }
}

/// Writes a file with this line, durably.
fn put(path: &Path, first: &First) -> std::io::Result<()> {
    let line = line::sealed(first).map_err(std::io::Error::other)?;
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

/// Returns an id that differs for each boot of the machine. It is empty on systems other than
/// Linux.
fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// Returns damage at the start of the log.
fn damaged(path: &Path, message: &str) -> Error {
    crate::log::damage(path, 0, message)
}
