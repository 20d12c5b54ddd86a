//! Wakes the readers of a feed that are in the same process as the writer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::port::Changes;

/// How long a reader of changes waits for a ring before it checks for commits anyway. A ring is a
/// wake-up after a commit. A commit may come without a ring: a writer in another process may be
/// killed before it rings, and some file systems report no writes.
const UNRUNG: Duration = Duration::from_millis(400);
/// How long a reader waits before it checks again after a ring without a change. A ring may come
/// before its commit is visible.
const SOON: Duration = Duration::from_millis(1);

/// A condition variable with a counter of rings. A ring wakes all waiting readers after a commit.
#[derive(Debug, Default)]
pub struct Bell {
    rings: AtomicU64,
    waiting: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// Wakes all waiting readers. The call is cheap if no reader waits.
    pub fn ring(&self) {
        self.rings.fetch_add(1, Ordering::SeqCst);
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if *waiting > 0 {
            self.rung.notify_all();
        }
    }

    /// Returns the number of rings since the bell was created.
    #[must_use]
    pub fn rings(&self) -> u64 {
        self.rings.load(Ordering::SeqCst)
    }

    /// Waits until the number of rings differs from `rings`, at most for the time `most`. Returns
    /// true if the number differs, false if the wait timed out.
    #[must_use]
    pub fn wait(&self, rings: u64, most: Duration) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = waiting;
        *waiting += 1;
        let unrung = |_: &mut u64| self.rings() == rings;
        let woken = self.rung.wait_timeout_while(waiting, most, unrung);
        let (mut waiting, _) = woken.unwrap_or_else(PoisonError::into_inner);
        *waiting -= 1;
        self.rings() != rings
    }
}

/// Calls `look` until it returns changes or the time `wait` is over. Returns the result of the last
/// call. The first call is immediate. Each later call follows a ring of `bell` or a pause without a
/// ring.
///
/// # Errors
/// The first error of `look`.
pub fn wait_for(
    bell: &Bell,
    wait: Duration,
    mut look: impl FnMut() -> Result<Changes>,
) -> Result<Changes> {
    let begun = Instant::now();
    let mut pause = UNRUNG;
    loop {
        let rings = bell.rings();
        let changes = look()?;
        let left = wait.saturating_sub(begun.elapsed());
        if !changes.sessions.is_empty() || changes.more || left.is_zero() {
            return Ok(changes);
        }
        pause = if bell.wait(rings, pause.min(left)) { SOON } else { (pause * 2).min(UNRUNG) };
    }
}
