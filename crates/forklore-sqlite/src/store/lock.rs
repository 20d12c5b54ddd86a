//! Taking a mutex.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic cannot leave the value half changed: a transaction is rolled back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
