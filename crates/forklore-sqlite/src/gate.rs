//! The gate before the one writer that SQLite allows: processes pass it one by one, in turn.
//!
//! SQLite's own waiting is a loop of sleeps, in which a busy process can keep another out for
//! seconds. The kernel queues those who wait for a file lock instead. Two locks make a turnstile:
//! whoever waits for the gate itself holds the queue, so that the one who just went through
//! cannot slip in again before it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use forklore_store::{Error, Result};

use crate::fault::os;

/// Where the gate of a store stands.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    queue: PathBuf,
    gate: PathBuf,
}

/// The right to write, until it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Passed {
    _lock: File,
}

impl Gate {
    /// The gate of the store at `path`.
    pub(crate) fn of(path: &Path) -> Self {
        Self { queue: beside(path, "-queue"), gate: beside(path, "-lock") }
    }

    /// Waits for its turn, at most so long.
    pub(crate) fn pass(&self, wait: Duration) -> Result<Passed> {
        let failed = os("locking", &self.gate);
        match self.try_pass() {
            Ok(Some(passed)) => return Ok(passed),
            Ok(None) => {}
            Err(error) => return Err(failed(error)),
        }
        // A thread waits, because a wait for a file lock cannot be given a limit. If nobody takes
        // its lock any more, it is dropped as soon as it is there.
        let (sender, receiver) = mpsc::sync_channel(0);
        let gate = self.clone();
        std::thread::spawn(move || sender.send(gate.wait()));
        match receiver.recv_timeout(wait) {
            Ok(passed) => passed.map_err(failed),
            Err(_) => {
                let (path, seconds) = (self.gate.display(), wait.as_secs());
                Err(Error::Locked(format!("another process held {path} for {seconds} s")))
            }
        }
    }

    fn try_pass(&self) -> io::Result<Option<Passed>> {
        let Some(queue) = lock(&self.queue, try_lock)? else {
            return Ok(None);
        };
        let gate = lock(&self.gate, try_lock)?;
        drop(queue);
        Ok(gate.map(|lock| Passed { _lock: lock }))
    }

    fn wait(&self) -> io::Result<Passed> {
        loop {
            let queue = lock(&self.queue, wait_for_lock)?;
            let gate = lock(&self.gate, wait_for_lock)?;
            if let (Some(_), Some(lock)) = (queue, gate) {
                return Ok(Passed { _lock: lock });
            }
        }
    }
}

/// The file beside a store whose name ends with `suffix`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn wait_for_lock(file: &File) -> io::Result<bool> {
    file.lock().map(|()| true)
}

/// Locks the file at `path`; none when `take` did not, or when the file was replaced meanwhile,
/// in which case others lock another one.
fn lock(path: &Path, take: impl FnOnce(&File) -> io::Result<bool>) -> io::Result<Option<File>> {
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    if !take(&file)? {
        return Ok(None);
    }
    let (mine, there) = (file.metadata()?, std::fs::metadata(path));
    let same = there.is_ok_and(|there| (there.dev(), there.ino()) == (mine.dev(), mine.ino()));
    Ok(same.then_some(file))
}
