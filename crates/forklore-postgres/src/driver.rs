//! The thread that drives the connections. The port is synchronous and may be called from any
//! thread, also from one of an async runtime, so no call may enter a runtime of its own.

use std::future::Future;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use forklore_store::Error;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::fault::{Fault, Result};

/// A thread with an event loop for sockets and timers.
pub(crate) struct Driver {
    handle: Handle,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// How often a call waited for the database.
    #[cfg(test)]
    pub(crate) waits: std::sync::atomic::AtomicU64,
}

impl Driver {
    pub(crate) fn start() -> Result<Arc<Self>> {
        let doing = |error| Error::io("starting the thread that drives the connections", error);
        let runtime = Builder::new_current_thread().enable_all().build().map_err(doing)?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("forklore-postgres".into())
            .spawn(move || drop(runtime.block_on(ended)))
            .map_err(doing)?;
        Ok(Arc::new(Self {
            handle,
            end: Some(end),
            thread: Some(thread),
            #[cfg(test)]
            waits: <_>::default(),
        }))
    }

    /// Runs a task in the background.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn(task));
    }

    /// Waits on this thread until `future` is done, at most for `deadline`.
    pub(crate) fn wait<T, E: Into<Fault>>(
        &self,
        deadline: Duration,
        future: impl Future<Output = std::result::Result<T, E>>,
    ) -> Result<T> {
        #[cfg(test)]
        self.waits.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let _timers = self.handle.enter();
        let limited = tokio::time::timeout(deadline, future);
        match futures_lite::future::block_on(limited) {
            Ok(done) => done.map_err(Into::into),
            Err(_) => Err(Fault::Late),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.end.take());
        let Some(thread) = self.thread.take() else { return };
        // The last owner may be a task on the thread itself, which cannot wait for its own end.
        if thread.thread().id() != std::thread::current().id() {
            let _ = thread.join();
        }
    }
}
