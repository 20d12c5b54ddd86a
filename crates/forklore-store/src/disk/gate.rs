//! A fair lock between processes: exclusive or shared.
//!
//! A process that retries a lock in a loop with sleeps may wait for seconds while a busy process
//! takes the lock again and again. The operating system instead queues the processes that wait for
//! a file lock. The gate therefore consists of two file locks: the queue lock and the gate lock. A
//! process waits for the gate lock while it has the queue lock. A process that has just released
//! the gate lock must therefore wait for the queue lock, and cannot overtake the waiting process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::os;
use crate::{Error, Result};

/// The maximum number of pairs of unused open files that a gate caches. One pair is for ordinary
/// locking. The other is for a checkpoint that runs at the same time. (A checkpoint writes a
/// database's log back into its file.)
const MAX_IDLE: usize = 2;

/// How long to retry a lock without sleeping. After this time, the thread sleeps until it gets the
/// lock or its wait times out.
const SOON: Duration = Duration::from_micros(500);

/// A fair lock between processes, implemented with locks on two files: the queue file and the gate
/// file.
#[derive(Clone, Debug)]
pub struct Gate {
    queue: PathBuf,
    gate: PathBuf,
    make: bool,
    idle: IdlePairs,
}

/// A cache of the open files of a gate that are not in use. Threads that lock the gate at the same
/// time need separate open files, because a file lock belongs to an open file and not to a thread.
#[derive(Clone, Debug, Default)]
struct IdlePairs(Arc<Mutex<Vec<Pair>>>);

/// How to lock a gate: exclusive or shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// While the gate is locked this way, no other process or thread has locked it.
    Exclusive,
    /// While the gate is locked this way, others may also have locked it with [`Pass::Shared`].
    Shared,
}

/// A lock on a gate. Dropping this value releases the lock.
#[derive(Debug)]
#[must_use]
pub struct Passed {
    idle: IdlePairs,
    locked: Option<Pair>,
}

/// The two open files of a gate: the queue file and the gate file.
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
    /// Creates a gate with two files of its own. Their paths are `path` with the suffixes `-queue`
    /// and `-lock`. The first lock of the gate creates missing files.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self::over(with_suffix(path, "-queue"), with_suffix(path, "-lock"), true)
    }

    /// Creates a gate from two existing files, which may also have another purpose.
    #[must_use]
    pub fn of(queue: PathBuf, gate: PathBuf) -> Self {
        Self::over(queue, gate, false)
    }

    fn over(queue: PathBuf, gate: PathBuf, make: bool) -> Self {
        Self { queue, gate, make, idle: IdlePairs::default() }
    }

    /// Locks the gate as `pass` requests: exclusive or shared. Waits for the lock at most for
    /// `wait`.
    ///
    /// # Errors
    /// `Locked` if the gate did not become free within `wait`; `Denied` if the operating system
    /// forbids access to the gate's files; `Io` if opening or locking them fails for another
    /// reason.
    pub fn pass(&self, pass: Pass, wait: Duration) -> Result<Passed> {
        let failed = |error| os("locking", &self.gate)(error);
        if let Some(passed) = self.pass_soon(pass).map_err(failed)? {
            return Ok(passed);
        }
        // Wait in another thread, because waiting for a file lock has no timeout. If this call has
        // timed out when the thread gets the lock, the send fails, which drops the lock at once.
        let (sender, receiver) = mpsc::sync_channel(0);
        let (gate, wanted) = (self.clone(), Wanted::default());
        let still = wanted.clone();
        let waiting = std::thread::Builder::new().spawn(move || {
            if let Some(passed) = gate.wait(pass, &still).transpose() {
                let _ = sender.send(passed);
            }
        });
        waiting.map_err(os("waiting for", &self.gate))?;
        match receiver.recv_timeout(wait) {
            Ok(passed) => passed.map_err(failed),
            Err(_) => {
                wanted.end();
                let (path, seconds) = (self.gate.display(), wait.as_secs());
                Err(Error::Locked(format!("another process held {path} for {seconds} s")))
            }
        }
    }

    /// Locks the gate if it is free or becomes free within [`SOON`]. Otherwise returns `None`. The
    /// thread does not sleep, because most critical sections take less time than suspending and
    /// waking a thread.
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

    /// Locks the gate if it is free, without waiting. Returns `None` if the gate is not free. Also
    /// returns `None` if one of its two files was replaced, because other processes then lock the
    /// replacement.
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

    /// Waits for the lock. Returns `None` if the lock is not wanted any more.
    fn wait(&self, pass: Pass, wanted: &Wanted) -> io::Result<Option<Passed>> {
        loop {
            let Some(pair) = wanted.then(|| self.pair()).transpose()? else { return Ok(None) };
            // A file may no longer be at its path. The lock on such a file may never be released.
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
                return Ok(Some(passed));
            }
        }
    }

    /// Returns the lock on the gate if its two locked files are still at their paths, where other
    /// processes lock them. Otherwise returns `None`.
    fn passed(&self, pair: Pair) -> Option<Passed> {
        self.stands(&pair).then(|| Passed { idle: self.idle.clone(), locked: Some(pair) })
    }

    fn stands(&self, pair: &Pair) -> bool {
        pair.queue.is_at(&self.queue) && pair.gate.is_at(&self.gate)
    }

    /// Returns a pair of open files (queue file and gate file) that no other thread of this process
    /// uses.
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

/// Says whether a call of [`Gate::pass`] still waits for the lock. A separate thread acquires the
/// lock for the call. After the call has timed out, the thread opens no file, because that could
/// create a file again that another process has removed.
#[derive(Clone, Debug, Default)]
struct Wanted {
    ended: Arc<Mutex<bool>>,
}

impl Wanted {
    /// Calls `open` if the lock is still wanted. [`Wanted::end`] waits until `open` returns.
    fn then<T>(&self, open: impl FnOnce() -> T) -> Option<T> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        (!*ended).then(open)
    }

    fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

impl IdlePairs {
    fn all(&self) -> MutexGuard<'_, Vec<Pair>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Pair> {
        self.all().pop()
    }

    /// Puts a pair of unlocked files into the cache, or closes both files if the cache is full.
    fn put(&self, pair: Pair) {
        let mut all = self.all();
        if all.len() < MAX_IDLE {
            all.push(pair);
        }
    }
}

impl Open {
    /// Checks whether this open file is still the one at `path`, and was not replaced.
    fn is_at(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == self.id)
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        // If the unlock fails, the pair is dropped: closing its files releases the lock.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_gave_up_creates_no_files_later() {
        let dir = tempfile::tempdir().unwrap();
        let gate = Gate::new(&dir.path().join("gate"));
        let passed = gate.pass(Pass::Exclusive, Duration::ZERO).unwrap();
        assert!(matches!(gate.pass(Pass::Shared, Duration::ZERO), Err(Error::Locked(_))));
        for file in [&gate.queue, &gate.gate] {
            std::fs::remove_file(file).unwrap();
        }
        drop(passed);
        // The thread that waited for the call has a handle of the gate until it ends.
        while Arc::strong_count(&gate.idle.0) > 1 {
            std::thread::yield_now();
        }
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }
}
