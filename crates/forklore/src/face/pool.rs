//! Runs blocking steps on a limited number of blocking threads.

use std::sync::Arc;

use async_lock::Semaphore;

/// A limit on the number of blocking steps that a handle of a store and its clones run at the same
/// time. A step is a closure that blocks, such as a call of the engine. Each step runs on one of
/// the process's blocking threads. Steps above the limit wait without a thread, in the order in
/// which they were first polled.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    permits: Arc<Semaphore>,
}

impl Pool {
    /// Creates a pool that runs at most `at_once` steps (blocking closures) at the same time.
    pub(super) fn of(at_once: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once)) }
    }

    /// Runs `step`, a blocking closure, on a blocking thread. If this future is dropped before the
    /// step starts, the step never starts. If it is dropped later, the step still runs to its end.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let permit = self.permits.acquire_arc().await;
        blocking::unblock(move || {
            let done = step();
            // The step, and not the future, owns the permit: dropping the future must not let
            // another step start.
            drop(permit);
            done
        })
        .await
    }
}
