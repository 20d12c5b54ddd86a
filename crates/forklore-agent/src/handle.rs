//! The state that all sessions of a process share: the engine, the hooks and the listeners.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_engine::lease_owner;
use forklore_engine::{Engine, Result as EngineResult};
use tokio::task::JoinHandle;

use crate::Result;
use crate::hook::Hooks;
use crate::notify::Bus;

/// The part of the kernel that sessions and their turns use. It contains no reference to a session.
/// A clone refers to the same kernel.
#[derive(Clone)]
pub(crate) struct KernelHandle {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    hooks: Hooks,
    bus: Bus,
    application: String,
    /// The tasks that release leases after the future of a turn was dropped.
    releases: Mutex<Vec<JoinHandle<()>>>,
}

impl KernelHandle {
    pub(crate) fn new(engine: Engine, hooks: Hooks, bus: Bus, application: String) -> Self {
        let shared = Shared { engine, hooks, bus, application, releases: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        &self.shared.hooks
    }

    /// Returns the kernel's listeners. They receive the notifications of all sessions.
    pub(crate) fn bus(&self) -> &Bus {
        &self.shared.bus
    }

    /// Runs an engine operation on a thread where blocking is allowed.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        verb: impl FnOnce(&Engine) -> EngineResult<T> + Send + 'static,
    ) -> Result<T> {
        let engine = self.shared.engine.clone();
        Ok(tokio::task::spawn_blocking(move || verb(&engine)).await??)
    }

    /// Generates a name under which a session acquires leases. No other runtime has the same name.
    pub(crate) fn new_owner(&self) -> String {
        let unique = self.shared.engine.new_id();
        lease_owner::name(&self.shared.application, unique.as_str())
    }

    /// Adds a task that releases a lease. [`settle`](Self::settle) then waits for this task.
    pub(crate) fn await_release(&self, release: JoinHandle<()>) {
        let mut releases = self.releases();
        releases.retain(|release| !release.is_finished());
        releases.push(release);
    }

    /// Waits until all tasks that release leases have finished.
    pub(crate) async fn settle(&self) {
        let releases = std::mem::take(&mut *self.releases());
        for release in releases {
            // If a release fails, the lease expires without it.
            let _ = release.await;
        }
    }

    fn releases(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.shared.releases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
