//! The state of an open store that a connection shares with what uses it.

use std::mem;
use std::process;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use forklore::Engine;
use forklore_core::ErrorKind;

use crate::failure::{Failure, Result};

/// An open store, and how many calls use it.
pub(crate) struct OpenStore {
    state: Mutex<State>,
    /// Is notified when a call ends.
    ended: Condvar,
    process: u32,
}

struct State {
    /// The engine; `None` after the store was closed.
    engine: Option<Engine>,
    /// How many calls use the store.
    running: usize,
    cores: Vec<Weak<dyn Release>>,
}

/// What has the store's engine beyond a call.
trait Release: Send + Sync {
    /// Drops the engine.
    fn release(&self);
}

impl OpenStore {
    pub(crate) fn new(engine: Engine) -> Arc<Self> {
        let state = State { engine: Some(engine), running: 0, cores: Vec::new() };
        Arc::new(Self { state: Mutex::new(state), ended: Condvar::new(), process: process::id() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_of_this_process(&self) -> bool {
        self.process == process::id()
    }

    /// Begins a call. The store stays open until the call is dropped.
    ///
    /// # Errors
    /// `invalid_args` if the store was closed, `unsupported` if this is not the process that opened
    /// it.
    pub(crate) fn begin(&self) -> Result<Call<'_>> {
        // The lock comes second: at a fork, another thread may have had it, and never returns it.
        if !self.is_of_this_process() {
            let message = "the store was opened by another process, from which this one was forked";
            return Err(Failure::new(ErrorKind::Unsupported, message)
                .or_try("open the store again in this process"));
        }
        let mut state = self.state();
        let engine = state.engine.clone().ok_or_else(closed)?;
        state.running += 1;
        Ok(Call { store: self, engine: Some(engine) })
    }

    /// Closes the store: later calls fail. Returns when all calls have ended and nothing has the store
    /// any more.
    pub(crate) fn close(&self) {
        if !self.is_of_this_process() {
            // To close the store here would end the locks and files of the process that opened it.
            return;
        }
        let mut state = self.state();
        let engine = state.engine.take();
        while state.running > 0 {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let cores = mem::take(&mut state.cores);
        drop(state);
        cores.iter().filter_map(Weak::upgrade).for_each(|core| core.release());
        drop(engine);
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        if !self.is_of_this_process() {
            let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            mem::forget(state.engine.take());
        }
    }
}

fn closed() -> Failure {
    Failure::invalid("the store was closed").or_try("open the store again")
}

/// A call that uses the store.
pub(crate) struct Call<'s> {
    store: &'s OpenStore,
    /// The engine; `None` while the call is dropped.
    engine: Option<Engine>,
}

impl Call<'_> {
    /// Returns the engine of the store.
    pub(crate) fn engine(&self) -> Result<&Engine> {
        self.engine.as_ref().ok_or_else(closed)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        // Before the call counts as ended: whoever closes the store has the last engine.
        self.engine = None;
        self.store.state().running -= 1;
        self.store.ended.notify_all();
    }
}

/// Something that uses the store of a connection beyond one call, such as the core of a face for a
/// framework. It lets go of the store when the connection is closed.
pub struct Core<T> {
    store: Arc<OpenStore>,
    value: Arc<Slot<T>>,
}

struct Slot<T>(Mutex<Option<Arc<T>>>);

impl<T: Send + Sync> Release for Slot<T> {
    fn release(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl<T: Send + Sync + 'static> Core<T> {
    pub(crate) fn new(
        store: &Arc<OpenStore>,
        make: impl FnOnce(&Engine) -> Result<T>,
    ) -> Result<Self> {
        let call = store.begin()?;
        let value = make(call.engine()?)?;
        let value = Arc::new(Slot(Mutex::new(Some(Arc::new(value)))));
        let weak: Weak<Slot<T>> = Arc::downgrade(&value);
        let mut state = store.state();
        state.cores.retain(|core| core.strong_count() > 0);
        state.cores.push(weak);
        drop(state);
        Ok(Self { store: Arc::clone(store), value })
    }

    /// Calls a function with the value. The store stays open meanwhile.
    ///
    /// # Errors
    /// `invalid_args` if the store was closed, `unsupported` if this is not the process that opened
    /// it, and the error of the function.
    pub fn call<R>(&self, function: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        let call = self.store.begin()?;
        let value = self.value.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let value = value.ok_or_else(closed)?;
        let result = function(&value);
        drop(value);
        drop(call);
        result
    }
}

impl<T> Drop for Core<T> {
    fn drop(&mut self) {
        if !self.store.is_of_this_process()
            && let Ok(mut value) = self.value.0.try_lock()
        {
            // As with the engine of the store itself.
            mem::forget(value.take());
        }
    }
}

impl<T> std::fmt::Debug for Core<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").finish_non_exhaustive()
    }
}
