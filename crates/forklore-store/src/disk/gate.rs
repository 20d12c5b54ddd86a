//! A lock between processes that grants access fairly, exclusive or shared.
//!
//! With a loop of sleeps and attempts, a busy process can keep another one waiting for seconds. The
//! kernel instead queues the processes that wait for a file lock. Two locks make a turnstile: the
//! process that waits for the gate lock holds the queue lock meanwhile, so the process that has
//! just released the gate cannot take it again first.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::os;
use crate::{Error, Result};

/// The number of pairs of open files that a gate caches: one for passes, and one for a checkpoint
/// running at the same time.
const MAX_IDLE: usize = 2;

/// How long to retry before blocking.
const SOON: Duration = Duration::from_micros(500);

/// A gate: the paths of the two files whose locks implement it.
#[derive(Clone, Debug)]
pub struct Gate {
    queue: PathBuf,
    gate: PathBuf,
    make: bool,
    idle: IdlePairs,
}

/// A cache of a gate's open files that are not in use. Threads that pass at the same time need
/// separate files, because a lock belongs to the open file and not to a thread.
#[derive(Clone, Debug, Default)]
struct IdlePairs(Arc<Mutex<Vec<Pair>>>);

/// How to pass a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// While nobody else has passed.
    Exclusive,
    /// At the same time as others that pass shared.
    Shared,
}

/// A passed gate. The lock is released when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Passed {
    idle: IdlePairs,
    locked: Option<Pair>,
}

/// The two open files of a gate.
#[derive(Debug)]
struct Pair {
    queue: Open,
    gate: Open,
}

/// An open file and its identity (device and inode).
#[derive(Debug)]
struct Open {
    file: File,
    id: (u64, u64),
}

impl Gate {
    /// Creates a gate with two files of its own next to `path`, which are created if they are
    /// missing.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self::over(with_suffix(path, "-queue"), with_suffix(path, "-lock"), true)
    }

    /// Creates a gate with two existing files that have another purpose too.
    #[must_use]
    pub fn of(queue: PathBuf, gate: PathBuf) -> Self {
        Self::over(queue, gate, false)
    }

    fn over(queue: PathBuf, gate: PathBuf, make: bool) -> Self {
        Self { queue, gate, make, idle: IdlePairs::default() }
    }

    /// Waits for the gate, at most for `wait`.
    ///
    /// # Errors
    /// `Locked` if it waited too long; `Denied`, `Io`.
    pub fn pass(&self, pass: Pass, wait: Duration) -> Result<Passed> {
        let failed = |error| os("locking", &self.gate)(error);
        if let Some(passed) = self.pass_soon(pass).map_err(failed)? {
            return Ok(passed);
        }
        // A thread waits, because waiting for a file lock cannot have a timeout. If the receiver is
        // gone when the thread gets the lock, the lock is released at once.
        let (sender, receiver) = mpsc::sync_channel(0);
        let gate = self.clone();
        let waiting = std::thread::Builder::new().spawn(move || sender.send(gate.wait(pass)));
        waiting.map_err(os("waiting for", &self.gate))?;
        match receiver.recv_timeout(wait) {
            Ok(passed) => passed.map_err(failed),
            Err(_) => {
                let (path, seconds) = (self.gate.display(), wait.as_secs());
                Err(Error::Locked(format!("another process held {path} for {seconds} s")))
            }
        }
    }

    /// Passes if the gate is free or becomes free very soon. Most critical sections take less time
    /// than suspending and waking a thread.
    fn pass_soon(&self, pass: Pass) -> io::Result<Option<Passed>> {
        let start = Instant::now();
        loop {
            if let Some(passed) = self.try_pass(pass)? {
                return Ok(Some(passed));
            }
            if start.elapsed() > SOON {
                return Ok(None);
            }
            std::thread::yield_now();
        }
    }

    /// Passes if the gate is free. Returns `None` if it is not, or if one of the files was
    /// replaced, in which case other processes lock the replacement.
    fn try_pass(&self, pass: Pass) -> io::Result<Option<Passed>> {
        let pair = self.pair()?;
        if !tried(pair.queue.file.try_lock())? {
            self.idle.put(pair);
            return Ok(None);
        }
        let locked = match pass {
            Pass::Exclusive => pair.gate.file.try_lock(),
            Pass::Shared => pair.gate.file.try_lock_shared(),
        };
        let locked = tried(locked)?;
        pair.queue.file.unlock()?;
        if locked {
            return Ok(self.passed(pair));
        }
        self.idle.put(pair);
        Ok(None)
    }

    fn wait(&self, pass: Pass) -> io::Result<Passed> {
        loop {
            let pair = self.pair()?;
            // The lock of a file that is no longer at its path may never be released.
            if !self.stands(&pair) {
                continue;
            }
            pair.queue.file.lock()?;
            match pass {
                Pass::Exclusive => pair.gate.file.lock()?,
                Pass::Shared => pair.gate.file.lock_shared()?,
            }
            pair.queue.file.unlock()?;
            if let Some(passed) = self.passed(pair) {
                return Ok(passed);
            }
        }
    }

    /// Returns the passed gate, if the two locked files are still at the paths that others lock.
    fn passed(&self, pair: Pair) -> Option<Passed> {
        self.stands(&pair).then(|| Passed { idle: self.idle.clone(), locked: Some(pair) })
    }

    fn stands(&self, pair: &Pair) -> bool {
        pair.queue.is_at(&self.queue) && pair.gate.is_at(&self.gate)
    }

    /// Returns a pair of files that nobody else in this process uses.
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

    /// Returns unlocked files to the cache.
    fn put(&self, pair: Pair) {
        let mut all = self.all();
        if all.len() < MAX_IDLE {
            all.push(pair);
        }
    }
}

impl Open {
    /// Checks whether the file at `path` is this one and not a replacement.
    fn is_at(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == self.id)
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        // A file that cannot be unlocked is closed, which releases its lock.
        if let Some(pair) = self.locked.take()
            && pair.gate.file.unlock().is_ok()
        {
            self.idle.put(pair);
        }
    }
}

/// Appends `suffix` to the name of the file at `path`.
#[must_use]
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn tried(locked: Result<(), TryLockError>) -> io::Result<bool> {
    match locked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
