//! Locks a mutex, even if a thread panicked while it had the mutex locked.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The value is still usable after a panic: a transaction that was open is rolled back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
