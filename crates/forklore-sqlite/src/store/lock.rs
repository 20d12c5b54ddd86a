//! Locks a mutex and ignores poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic cannot leave the value half changed: the transaction is rolled back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
