//! Waking readers of a feed in the process that writes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::port::Changes;

/// How long a reader waits without a ring before it looks again: a writer in another process may
/// have been killed between its commit and the ring, and some file systems tell of no writes.
const UNRUNG: Duration = Duration::from_millis(400);
/// How soon it looks again behind a ring that showed nothing: a ring may come before its commit.
const SOON: Duration = Duration::from_millis(1);

/// Rung behind each commit; wakes those who wait.
#[derive(Debug, Default)]
pub struct Bell {
    rings: AtomicU64,
    waiting: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// Wakes everybody who waits. Costs next to nothing when nobody does.
    pub fn ring(&self) {
        self.rings.fetch_add(1, Ordering::SeqCst);
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if *waiting > 0 {
            self.rung.notify_all();
        }
    }

    /// How often it was rung.
    #[must_use]
    pub fn rings(&self) -> u64 {
        self.rings.load(Ordering::SeqCst)
    }

    /// Waits until it was rung more often than `rings`, at most so long; whether it was.
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

/// Looks, and looks again whenever the bell is rung, until there is something or the wait is over.
///
/// # Errors
/// The first of `look`.
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
