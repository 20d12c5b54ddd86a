//! Checkpoints: writes the WAL back into the database file while other operations continue.
//!
//! If appends continue during a whole checkpoint, the checkpoint never reaches the end of the WAL.
//! SQLite then never restarts the WAL from its beginning, and the WAL grows without limit.
//! Therefore a checkpoint writes back and syncs most pages without the gate. Then it locks the gate
//! and writes back the few pages that were added meanwhile. The next writer overwrites the WAL from
//! its beginning, in a file that is already long enough.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use forklore_store::Result;
use forklore_store::disk::{Gate, Pass};
use rusqlite::Connection;

use super::failed_sync::FailedSync;
use super::mutex::lock;
use super::options::Options;
use crate::connect::{self, Access};
use crate::fault::Fault;

/// Maximum number of passes that a checkpoint makes while other processes can write. The checkpoint
/// then takes the store's exclusive lock for one final pass.
const ROUNDS: usize = 4;
/// A checkpoint takes the store's exclusive lock only when few pages of the WAL remain to be
/// written back. Few are at most `every_pages` divided by this number.
const FEW: u32 = 32;
/// How long a checkpoint waits for the store's exclusive lock. When it has the lock, it waits up to
/// the same time for readers of the WAL.
const PATIENCE: Duration = Duration::from_millis(20);

/// A function that packs (compresses and joins) some idle sessions of the store at a path. It stops
/// early when the flag is set.
pub(super) type PackIdle = fn(&Path, Options, &Arc<FailedSync>, &AtomicBool) -> Result<()>;

/// Runs the checkpoints of a store handle, one at a time.
#[derive(Debug)]
pub(super) struct Checkpoints {
    work: Arc<Work>,
    /// The number of pages in the WAL after this handle's last commit.
    pages: Arc<AtomicU32>,
    /// The number of pages in the WAL at which the next checkpoint starts.
    due: AtomicU32,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Work {
    path: PathBuf,
    options: Options,
    gate: Gate,
    failed: Arc<FailedSync>,
    ending: AtomicBool,
    /// When this handle last packed (compressed) idle sessions, or when it was opened if it has not
    /// packed any yet.
    packed: Mutex<Instant>,
    pack: PackIdle,
}

impl Checkpoints {
    pub(super) fn new(
        path: PathBuf,
        options: Options,
        gate: Gate,
        failed: &Arc<FailedSync>,
        pages: &Arc<AtomicU32>,
        pack: PackIdle,
    ) -> Self {
        let (failed, ending) = (Arc::clone(failed), AtomicBool::new(false));
        Self {
            work: Arc::new(Work {
                path,
                options,
                gate,
                failed,
                ending,
                packed: Mutex::new(Instant::now()),
                pack,
            }),
            pages: Arc::clone(pages),
            due: AtomicU32::new(options.checkpoints.every_pages),
            thread: Mutex::default(),
        }
    }

    /// Starts a checkpoint if the WAL has enough pages. Pages that the checkpoint cannot write back
    /// stay in the WAL until the next one. They are durable there.
    pub(super) fn look(&self) {
        let every = self.work.options.checkpoints.every_pages;
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < every {
            // The WAL was restarted from its beginning, so the next checkpoint is due at `every`
            // pages again.
            self.due.store(every, Ordering::Relaxed);
        }
        if pages < self.due.load(Ordering::Relaxed) {
            return;
        }
        let mut thread = match self.thread.try_lock() {
            Ok(thread) => thread,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        // The checkpoint may write nothing back, because a reader uses an old snapshot for a long
        // time or another process runs a checkpoint. So the next checkpoint is due only after some
        // more pages.
        self.due.store(pages.saturating_add(every / 4), Ordering::Relaxed);
        let work = Arc::clone(&self.work);
        if self.work.options.checkpoints.in_step {
            work.run();
        } else {
            let name = "forklore-checkpoint".to_owned();
            *thread = std::thread::Builder::new().name(name).spawn(move || work.run()).ok();
        }
    }

    /// Waits until the running checkpoint ends. Returns at once if none is running.
    pub(super) fn settle(&self) {
        if let Some(thread) = lock(&self.thread).take() {
            // Ignore a panic in that thread: the WAL still has all data.
            let _ = thread.join();
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.work.ending.store(true, Ordering::Relaxed);
        self.settle();
    }
}

impl Work {
    fn run(&self) {
        let options = Options { wait: PATIENCE, ..self.options };
        let Ok(conn) = connect::open(&self.path, Access::Write, options) else { return };
        let done = self.write_back(&conn);
        if let Err(fault) = &done {
            tracing::warn!(?fault, "could not write the log back into the database");
            self.failed.note(fault);
        }
        self.failed.close(conn);
        if done.is_ok() && !self.options.checkpoints.in_step && self.is_time_to_pack() {
            // Packing fails if another process has the store locked, which is harmless, or if the
            // disk has failed, which the next operation reports.
            if let Err(error) = self.pack() {
                tracing::debug!(%error, "did not pack idle sessions");
            }
        }
    }

    /// Checks whether the time `pack_every` has passed since the last packing. If so, sets the time
    /// of the last packing to now.
    fn is_time_to_pack(&self) -> bool {
        let mut last = lock(&self.packed);
        let is_time = last.elapsed() >= self.options.pack_every;
        if is_time {
            *last = Instant::now();
        }
        is_time
    }

    /// Packs (compresses) idle sessions through a second handle of the store. That handle runs its
    /// checkpoints in the calling thread and not in the background.
    fn pack(&self) -> Result<()> {
        let checkpoints = super::options::Checkpoints { in_step: true, ..self.options.checkpoints };
        let options = Options { checkpoints, ..self.options };
        (self.pack)(&self.path, options, &self.failed, &self.ending)
    }

    fn write_back(&self, conn: &Connection) -> Result<(), Fault> {
        let every = self.options.checkpoints.every_pages;
        let few = every / FEW;
        let mut before = 0;
        for _ in 0..ROUNDS {
            if self.ending.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.failed.check(&self.path)?;
            let Some(back) = checkpoint(conn, "PASSIVE")? else { return Ok(()) };
            if back.pages < every {
                // Another process ran a checkpoint, and the WAL is short again.
                return Ok(());
            }
            // Sync these pages now. Otherwise the sync that runs with the gate locked would have to
            // write all of them to the disk.
            crate::sync::sync(conn, crate::sync::File::Database)?;
            if back.pages - back.written > few {
                // A reader uses an old snapshot. Writing back the remaining pages would overwrite
                // it.
                return Ok(());
            }
            if back.written.saturating_sub(before) <= few {
                break;
            }
            before = back.written;
        }
        let _passed = self.gate.pass(Pass::Exclusive, self.options.wait)?;
        self.failed.check(&self.path)?;
        checkpoint(conn, "RESTART").map(|_| ())
    }
}

/// The page counts after one pass of a checkpoint.
struct Back {
    /// Number of pages in the WAL.
    pages: u32,
    /// Number of the WAL's pages that are written back into the database file.
    written: u32,
}

/// Runs SQLite's checkpoint in the mode `mode`. Returns the numbers of pages, or `None` if another
/// checkpoint is running.
fn checkpoint(conn: &Connection, mode: &str) -> Result<Option<Back>, Fault> {
    Ok(conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        let (pages, written) = (row.get::<_, i64>(1)?, row.get::<_, i64>(2)?);
        let number = |number: i64| u32::try_from(number).ok();
        Ok(number(pages).zip(number(written)).map(|(pages, written)| Back { pages, written }))
    })?)
}
