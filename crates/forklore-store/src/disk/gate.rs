//! A gate that processes pass in turn, alone or together with others.
//!
//! Waiting in a loop of sleeps, a busy process can keep another out for seconds. The kernel queues
//! those who wait for a file lock instead. Two locks make a turnstile: whoever waits for the gate
//! itself holds the queue, so that the one who just went through cannot slip in again before it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use super::os;
use crate::{Error, Result};

/// Where a gate stands: the files whose locks it is made of.
#[derive(Clone, Debug)]
pub struct Gate {
    queue: PathBuf,
    gate: PathBuf,
    make: bool,
}

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
    _lock: File,
}

impl Gate {
    /// A gate of two files of its own beside `path`, made where they are not there.
    #[must_use]
    pub fn beside(path: &Path) -> Self {
        Self { queue: beside(path, "-queue"), gate: beside(path, "-lock"), make: true }
    }

    /// A gate of two files that are there for another purpose.
    #[must_use]
    pub fn of(queue: PathBuf, gate: PathBuf) -> Self {
        Self { queue, gate, make: false }
    }

    /// Waits for its turn, at most so long.
    ///
    /// # Errors
    /// `Locked` when the wait was too long; `Denied`, `Io`.
    pub fn pass(&self, turn: Turn, wait: Duration) -> Result<Passed> {
        let failed = os("locking", &self.gate);
        match self.try_pass(turn) {
            Ok(Some(passed)) => return Ok(passed),
            Ok(None) => {}
            Err(error) => return Err(failed(error)),
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

    fn try_pass(&self, turn: Turn) -> io::Result<Option<Passed>> {
        let Some(queue) = self.lock(&self.queue, |file| tried(file.try_lock()))? else {
            return Ok(None);
        };
        let gate = self.lock(&self.gate, |file| match turn {
            Turn::Alone => tried(file.try_lock()),
            Turn::Together => tried(file.try_lock_shared()),
        })?;
        drop(queue);
        Ok(gate.map(|lock| Passed { _lock: lock }))
    }

    fn wait(&self, turn: Turn) -> io::Result<Passed> {
        loop {
            let queue = self.lock(&self.queue, |file| file.lock().map(|()| true))?;
            let gate = self.lock(&self.gate, |file| match turn {
                Turn::Alone => file.lock().map(|()| true),
                Turn::Together => file.lock_shared().map(|()| true),
            })?;
            if let (Some(_), Some(lock)) = (queue, gate) {
                return Ok(Passed { _lock: lock });
            }
        }
    }

    /// Locks the file at `path`; none when `take` did not, or when the file was replaced
    /// meanwhile, in which case others lock another one.
    fn lock(
        &self,
        path: &Path,
        take: impl FnOnce(&File) -> io::Result<bool>,
    ) -> io::Result<Option<File>> {
        let mut options = OpenOptions::new();
        let file = options.create(self.make).truncate(false).write(true).mode(0o600).open(path)?;
        if !take(&file)? {
            return Ok(None);
        }
        let (mine, there) = (file.metadata()?, std::fs::metadata(path));
        let same = there.is_ok_and(|there| (there.dev(), there.ino()) == (mine.dev(), mine.ino()));
        Ok(same.then_some(file))
    }
}

/// The file beside a store whose name ends with `suffix`.
#[must_use]
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
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
