//! Writing the WAL back into the file, beside the steps.
//!
//! A checkpoint while others append never reaches the end of the WAL, which then is not begun anew
//! and grows for ever. So the bulk is written back and synced while steps go on, and only the few
//! pages that they added meanwhile behind the gate. The next writer then overwrites the WAL from
//! its beginning, in a file that is as long as it needs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use forklore_store::Result;
use forklore_store::disk::{Gate, Turn};
use rusqlite::Connection;

use super::failed_sync::FailedSync;
use super::lock::lock;
use super::{Options, SqliteStore};
use crate::connect::{self, Access};
use crate::fault::Fault;
use crate::pack;

/// How often the bulk is written back before the gate is asked for.
const ROUNDS: usize = 4;
/// This part of the pages is few enough to write them back behind the gate.
const FEW: u32 = 32;
/// How long a reader of the WAL is waited for behind the gate.
const PATIENCE: Duration = Duration::from_millis(20);

/// The checkpoints of a handle, one at a time.
#[derive(Debug)]
pub(super) struct Checkpoints {
    work: Arc<Work>,
    /// Pages in the WAL behind the last commit.
    pages: Arc<AtomicU32>,
    /// How many there must be for the next one.
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
    /// When something was packed last, or the handle was opened.
    packed: Mutex<Instant>,
}

impl Checkpoints {
    pub(super) fn new(
        path: PathBuf,
        options: Options,
        gate: Gate,
        failed: &Arc<FailedSync>,
        pages: &Arc<AtomicU32>,
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
            }),
            pages: Arc::clone(pages),
            due: AtomicU32::new(options.checkpoints.every_pages),
            thread: Mutex::default(),
        }
    }

    /// Sees to a checkpoint if one is due. What it cannot write back stays in the WAL, where it is
    /// durable, for the next one.
    pub(super) fn look(&self) {
        let every = self.work.options.checkpoints.every_pages;
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < every {
            // It was begun anew.
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
        // If it comes to nothing, because somebody reads an older state for long or another
        // process is at it, the next one is not due at once.
        self.due.store(pages.saturating_add(every / 4), Ordering::Relaxed);
        let work = Arc::clone(&self.work);
        if self.work.options.checkpoints.in_step {
            work.run();
        } else {
            let name = "forklore-checkpoint".to_owned();
            *thread = std::thread::Builder::new().name(name).spawn(move || work.run()).ok();
        }
    }

    /// Waits for one that runs.
    pub(super) fn settle(&self) {
        if let Some(thread) = lock(&self.thread).take() {
            // A panic there is no reason for one here: the WAL holds everything.
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
            // Where it fails, somebody is in the way, or the disk is and the next step will tell.
            if let Err(error) = self.pack() {
                tracing::debug!(%error, "did not pack idle sessions");
            }
        }
    }

    /// Whether the handle has lived long enough since something was packed; then it begins anew.
    fn is_time_to_pack(&self) -> bool {
        let mut last = lock(&self.packed);
        let is_time = last.elapsed() >= self.options.pack_every;
        if is_time {
            *last = Instant::now();
        }
        is_time
    }

    /// Packs through a store of its own, which is told of failed syncs and tells of them.
    fn pack(&self) -> Result<()> {
        let checkpoints = super::options::Checkpoints { in_step: true, ..self.options.checkpoints };
        let options = Options { checkpoints, ..self.options };
        let store = SqliteStore::open_for(&self.path, options, Arc::clone(&self.failed))?;
        pack::some(&store, &self.ending)
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
                // Another process was at it.
                return Ok(());
            }
            // Else the few pages behind the gate would be synced together with all of these.
            crate::sync::sync(conn, crate::sync::File::Database)?;
            if back.pages - back.written > few {
                // Somebody reads an older state, which the rest would overwrite.
                return Ok(());
            }
            if back.written.saturating_sub(before) <= few {
                break;
            }
            before = back.written;
        }
        let _turn = self.gate.pass(Turn::Alone, self.options.wait)?;
        self.failed.check(&self.path)?;
        checkpoint(conn, "RESTART").map(|_| ())
    }
}

/// What a checkpoint came to.
struct Back {
    /// Pages in the WAL.
    pages: u32,
    /// How many of them stand in the file.
    written: u32,
}

/// Writes back what can be; none if another one is at it.
fn checkpoint(conn: &Connection, mode: &str) -> Result<Option<Back>, Fault> {
    Ok(conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        let (pages, written) = (row.get::<_, i64>(1)?, row.get::<_, i64>(2)?);
        let number = |number: i64| u32::try_from(number).ok();
        Ok(number(pages).zip(number(written)).map(|(pages, written)| Back { pages, written }))
    })?)
}
