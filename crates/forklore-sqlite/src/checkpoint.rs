//! Writing the WAL back into the file, beside the steps that fill it.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::connect::{self, Access};

/// Steps after which the WAL is written back.
const STEPS: u32 = 512;
/// Bytes of values after which it is, whatever the number of steps.
const BYTES: u64 = 24 << 20;

/// Starts checkpoints, one at a time, each on a connection and a thread of its own.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    steps: u32,
    /// What had been bound when the last one was started.
    bound: u64,
    running: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Notes a step of the store at `path`, behind which so many bytes have been bound.
    pub(crate) fn after_step(&mut self, path: &Path, bound: u64) {
        self.steps += 1;
        let due = self.steps >= STEPS || bound.saturating_sub(self.bound) >= BYTES;
        if !due || self.running.as_ref().is_some_and(|running| !running.is_finished()) {
            return;
        }
        self.wait();
        (self.steps, self.bound) = (0, bound);
        let path = path.to_owned();
        self.running = Some(std::thread::spawn(move || {
            // What cannot be written back now stays in the WAL for the next time.
            if let Ok(conn) = connect::open(&path, Access::Write, Duration::ZERO) {
                let _ = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
        }));
    }

    /// Waits until none is running.
    pub(crate) fn wait(&mut self) {
        if let Some(running) = self.running.take() {
            let _ = running.join();
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wait();
    }
}
