//! Runs blocking steps on a limited number of blocking threads.

use std::sync::Arc;

use async_lock::Semaphore;

/// Runs steps on the process's blocking threads, with a limit on concurrent steps per store.
/// Further steps wait without a thread, in the order in which they were first polled.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    permits: Arc<Semaphore>,
}

impl Pool {
    /// Creates a pool that runs at most `at_once` steps at a time.
    pub(super) fn of(at_once: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once)) }
    }

    /// Runs a step. If the future is dropped before the step starts, the step never starts. If it
    /// is dropped later, the step runs to its end.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let permit = self.permits.acquire_arc().await;
        blocking::unblock(move || {
            let done = step();
            // The step owns the permit, not the future: a dropped future must not admit another
            // step.
            drop(permit);
            done
        })
        .await
    }
}
