//! The threads on which calls of the engine run, which block. There are as many as calls run at once, and
//! they end when there is nothing to do. The threads of a runtime would be more: each is only idle some
//! time after its call, and until then a new call starts another.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// How long a thread waits for the next call before it ends.
const IDLE: Duration = Duration::from_secs(10);

type Call = Box<dyn FnOnce() + Send>;

/// Threads that run calls. Clones share them.
#[derive(Clone)]
pub(crate) struct Threads(Arc<Shared>);

struct Shared {
    most: usize,
    state: Mutex<State>,
    called: Condvar,
}

#[derive(Default)]
struct State {
    calls: VecDeque<Call>,
    /// The threads that there are, and those of them that wait.
    threads: usize,
    idle: usize,
}

impl Threads {
    /// Starts no thread yet, and never more than `most` at once.
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Shared { most, state: Mutex::default(), called: Condvar::new() }))
    }

    /// Runs a call, which does not end early if nobody waits for it. `None` if it ended without a result.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, result) = oneshot::channel();
        let runtime = Handle::current();
        self.begin(Box::new(move || {
            let _entered = runtime.enter();
            let _ = sender.send(call());
        }));
        result.await.ok()
    }

    fn begin(&self, call: Call) {
        let mut state = self.0.state();
        state.calls.push_back(call);
        if state.idle >= state.calls.len() {
            self.0.called.notify_one();
        } else if state.threads < self.0.most {
            let shared = Arc::clone(&self.0);
            let begun =
                std::thread::Builder::new().name("call".into()).spawn(move || shared.work());
            state.threads += usize::from(begun.is_ok());
            if state.threads == 0 {
                state.calls.clear();
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs calls until there have been none for a while.
    fn work(&self) {
        while let Some(call) = self.next() {
            // Whoever waits for the call learns that it has no result.
            let _ = catch_unwind(AssertUnwindSafe(call));
        }
    }

    fn next(&self) -> Option<Call> {
        let mut state = self.state();
        if state.calls.is_empty() {
            state.idle += 1;
            let nothing = |state: &mut State| state.calls.is_empty();
            let waited = self.called.wait_timeout_while(state, IDLE, nothing);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.idle -= 1;
        }
        let call = state.calls.pop_front();
        state.threads -= usize::from(call.is_none());
        call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn calls_run_on_few_threads_and_all_have_their_results() {
        let threads = Threads::new(3);
        let mut running = Vec::new();
        for number in 0..1_000 {
            let threads = threads.clone();
            running.push(tokio::spawn(async move {
                let call = move || {
                    assert!(number % 10 != 7, "a call that fails");
                    number
                };
                threads.run(call).await
            }));
        }
        for (number, call) in running.into_iter().enumerate() {
            assert_eq!(call.await.unwrap(), (number % 10 != 7).then_some(number));
        }
        let most = threads.0.state().threads;
        assert!((1..=3).contains(&most), "{most}");
    }
}
