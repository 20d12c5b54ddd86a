//! Where blocking steps run: on threads of their own, no more than a few at once.

use std::sync::Arc;

use async_lock::Semaphore;

/// Runs steps on the process's blocking threads, at most so many of one store at once. The others
/// wait without a thread, in the order in which they were first polled.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    permits: Arc<Semaphore>,
}

impl Pool {
    /// A pool of `at_once` steps.
    pub(super) fn of(at_once: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once)) }
    }

    /// Runs a step. Dropped before the step has begun, it never begins; dropped later, the step
    /// goes on to its end.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let permit = self.permits.acquire_arc().await;
        blocking::unblock(move || {
            let done = step();
            // Held by the step, not by the future: a dropped future must not let another one in.
            drop(permit);
            done
        })
        .await
    }
}
