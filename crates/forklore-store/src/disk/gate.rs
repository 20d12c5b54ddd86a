//! A gate that processes pass in turn, alone or together with others.
//!
//! Waiting in a loop of sleeps, a busy process can keep another out for seconds. The kernel queues
//! those who wait for a file lock instead. Two locks make a turnstile: whoever waits for the gate
//! itself holds the queue, so that the one who just went through cannot slip in again before it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::os;
use crate::{Error, Result};

/// Pairs of open files that a gate keeps: one for those who pass, one for a checkpoint beside them.
const MAX_IDLE: usize = 2;

/// How long a gate is tried again and again.
const SOON: Duration = Duration::from_micros(500);

/// Where a gate stands: the files whose locks it is made of.
#[derive(Clone, Debug)]
pub struct Gate {
    queue: PathBuf,
    gate: PathBuf,
    make: bool,
    idle: IdlePairs,
}

/// Open files of a gate that nobody uses. Those who pass at the same time have files of their own:
/// the lock belongs to the open file, not to a thread.
#[derive(Clone, Debug, Default)]
struct IdlePairs(Arc<Mutex<Vec<Pair>>>);

/// How a gate is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// While nobody else has passed.
    Alone,
    /// With others who do not ask to be alone.
    Together,
}

/// The right to be behind the gate, until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Passed {
    idle: IdlePairs,
    locked: Option<Pair>,
}

/// The files of a gate, open.
#[derive(Debug)]
struct Pair {
    queue: Open,
    gate: Open,
}

/// An open file, and which one it is.
#[derive(Debug)]
struct Open {
    file: File,
    id: (u64, u64),
}

impl Gate {
    /// A gate of two files of its own beside `path`, made where they are not there.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self::over(with_suffix(path, "-queue"), with_suffix(path, "-lock"), true)
    }

    /// A gate of two files that are there for another purpose.
    #[must_use]
    pub fn of(queue: PathBuf, gate: PathBuf) -> Self {
        Self::over(queue, gate, false)
    }

    fn over(queue: PathBuf, gate: PathBuf, make: bool) -> Self {
        Self { queue, gate, make, idle: IdlePairs::default() }
    }

    /// Waits for its turn, at most so long.
    ///
    /// # Errors
    /// `Locked` when the wait was too long; `Denied`, `Io`.
    pub fn pass(&self, turn: Turn, wait: Duration) -> Result<Passed> {
        let failed = |error| os("locking", &self.gate)(error);
        if let Some(passed) = self.pass_soon(turn).map_err(failed)? {
            return Ok(passed);
        }
        // A thread waits, because a wait for a file lock cannot be given a limit. If nobody takes
        // its lock any more, it is dropped as soon as it is there.
        let (sender, receiver) = mpsc::sync_channel(0);
        let gate = self.clone();
        let waiting = std::thread::Builder::new().spawn(move || sender.send(gate.wait(turn)));
        waiting.map_err(os("waiting for", &self.gate))?;
        match receiver.recv_timeout(wait) {
            Ok(passed) => passed.map_err(failed),
            Err(_) => {
                let (path, seconds) = (self.gate.display(), wait.as_secs());
                Err(Error::Locked(format!("another process held {path} for {seconds} s")))
            }
        }
    }

    /// Passes if nobody is in the way for long. A step takes less than putting a thread to sleep
    /// and waking it.
    fn pass_soon(&self, turn: Turn) -> io::Result<Option<Passed>> {
        let start = Instant::now();
        loop {
            if let Some(passed) = self.try_pass(turn)? {
                return Ok(Some(passed));
            }
            if start.elapsed() > SOON {
                return Ok(None);
            }
            std::thread::yield_now();
        }
    }

    /// Passes if nobody is in the way; not either when a file was replaced, in which case others
    /// lock another one.
    fn try_pass(&self, turn: Turn) -> io::Result<Option<Passed>> {
        let pair = self.pair()?;
        if !tried(pair.queue.file.try_lock())? {
            self.idle.put(pair);
            return Ok(None);
        }
        let taken = match turn {
            Turn::Alone => pair.gate.file.try_lock(),
            Turn::Together => pair.gate.file.try_lock_shared(),
        };
        let taken = tried(taken)?;
        pair.queue.file.unlock()?;
        if taken {
            return Ok(self.passed(pair));
        }
        self.idle.put(pair);
        Ok(None)
    }

    fn wait(&self, turn: Turn) -> io::Result<Passed> {
        loop {
            let pair = self.pair()?;
            // Whoever holds the lock of a file that is no more here may never give it up.
            if !self.stands(&pair) {
                continue;
            }
            pair.queue.file.lock()?;
            match turn {
                Turn::Alone => pair.gate.file.lock()?,
                Turn::Together => pair.gate.file.lock_shared()?,
            }
            pair.queue.file.unlock()?;
            if let Some(passed) = self.passed(pair) {
                return Ok(passed);
            }
        }
    }

    /// Whoever locked both files has passed, if they are still those that others lock.
    fn passed(&self, pair: Pair) -> Option<Passed> {
        self.stands(&pair).then(|| Passed { idle: self.idle.clone(), locked: Some(pair) })
    }

    fn stands(&self, pair: &Pair) -> bool {
        pair.queue.is_at(&self.queue) && pair.gate.is_at(&self.gate)
    }

    /// Files that nobody else in this process uses.
    fn pair(&self) -> io::Result<Pair> {
        if let Some(pair) = self.idle.take() {
            return Ok(pair);
        }
        Ok(Pair { queue: self.open(&self.queue)?, gate: self.open(&self.gate)? })
    }

    fn open(&self, path: &Path) -> io::Result<Open> {
        let mut options = OpenOptions::new();
        let file = options.create(self.make).truncate(false).write(true).mode(0o600).open(path)?;
        let found = file.metadata()?;
        Ok(Open { file, id: (found.dev(), found.ino()) })
    }
}

impl IdlePairs {
    fn all(&self) -> MutexGuard<'_, Vec<Pair>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Pair> {
        self.all().pop()
    }

    /// Keeps files that are not locked.
    fn put(&self, pair: Pair) {
        let mut all = self.all();
        if all.len() < MAX_IDLE {
            all.push(pair);
        }
    }
}

impl Open {
    /// Whether the file at `path` is this one and not another that took its place.
    fn is_at(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == self.id)
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        // Files that cannot be unlocked are closed, which unlocks them.
        if let Some(pair) = self.locked.take()
            && pair.gate.file.unlock().is_ok()
        {
            self.idle.put(pair);
        }
    }
}

/// The file beside a store whose name ends with `suffix`.
#[must_use]
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn tried(taken: Result<(), TryLockError>) -> io::Result<bool> {
    match taken {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
