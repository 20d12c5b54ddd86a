//! The list of the sessions that are open in this process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A list of weak references to values. A value leaves the list when nothing else refers to it.
pub(crate) struct Live<T>(Mutex<Vec<Weak<T>>>);

impl<T> Default for Live<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Live<T> {
    pub(super) fn enter(&self, it: &Arc<T>) {
        let mut all = self.lock();
        all.retain(|there| there.strong_count() > 0);
        all.push(Arc::downgrade(it));
    }

    /// Returns all values that are still in use.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        self.lock().iter().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
