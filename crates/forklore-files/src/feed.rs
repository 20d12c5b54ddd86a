//! The feed: a log beside the sessions, `feed.jsonl`, that says which of them are written to.
//!
//! A writer adds a line before it writes to a session and one behind it, each in one write at the
//! end of the log; nothing of it is synced. So a writer that is killed in between is seen: its line
//! has no second one, and nobody has the session's lock. A line that cannot be read, a log of
//! before the machine was started, and a step that others finished say that any session may have
//! changed.

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

/// How long the log may be, in bytes, before it is begun anew when a store is opened.
const LONG: u64 = 8 << 20;

/// The log of a store, and what wakes those who follow it.
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
    /// What the feed is called.
    feed: String,
    /// How often it was begun anew.
    generation: u64,
    /// Since when the machine runs.
    boot: String,
}

/// Another line of a log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Entry {
    /// A session is about to be written to.
    Begin(What, SessionId),
    /// That is done, or nothing came of it.
    Done(SessionId),
    /// Any session may have been written to.
    Everything(bool),
}

/// A write that is under way; dropping it says that it is done.
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

    /// Says that a session is about to be written to.
    pub(crate) fn begin(&self, what: What, session: &SessionId) -> Result<Write> {
        self.add(&Entry::Begin(what, session.clone()))?;
        Ok(Write { feed: self.clone(), session: session.clone() })
    }

    /// Says that any session may have been written to.
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

    /// Begins a log where there is none.
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
            // Somebody was faster.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
        let _ = std::fs::remove_file(&new);
        made.and_then(|()| std::fs::File::open(folder_of(&self.path))?.sync_all())
            .map_err(os("making", &self.path))
    }

    /// Begins the log anew, while nobody writes to it: readers of before look at every session.
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
        // Where it fails, readers find that nobody writes to the session any more.
        let _ = self.feed.add(&Entry::Done(self.session.clone()));
        self.feed.bell.ring();
    }
}

/// Makes a file that holds this line, durably.
fn put(path: &Path, first: &First) -> std::io::Result<()> {
    let line = line::sealed(first).map_err(std::io::Error::other)?;
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

/// What tells one run of the machine from the next. Elsewhere than on Linux nothing does.
fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// The log is not what it should be.
fn damaged(path: &Path, message: &str) -> Error {
    crate::log::damage(path, 0, message)
}
