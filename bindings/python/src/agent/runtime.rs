//! The threads on which turns run: one set for each process.

use std::process;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use forklore_bindings::Failure;
use forklore_core::ErrorKind;
use pyo3::prelude::*;
use serde_json::json;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::failure::raised;

/// How many turns compute at the same time. They mostly wait, for models and tools.
const THREADS: usize = 2;
/// How long the end of the interpreter waits for the turns that it interrupts.
const PATIENCE: Duration = Duration::from_secs(5);

static THREADS_OF_PROCESS: Mutex<Option<Threads>> = Mutex::new(None);

/// The threads of a process, and the work that runs on them.
#[derive(Clone)]
pub(super) struct Threads {
    process: u32,
    runtime: &'static Runtime,
    /// Interrupts all work when the interpreter ends.
    pub(super) ending: CancellationToken,
    pub(super) running: TaskTracker,
}

impl Threads {
    /// Returns the threads of this process. Starts them at the first call. A process that was forked
    /// from another one has no threads of that one, so it gets its own.
    pub(super) fn of_process() -> PyResult<Self> {
        let mut slot = THREADS_OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(threads) = slot.as_ref().filter(|threads| threads.process == process::id()) {
            return Ok(threads.clone());
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("forklore-agent")
            .enable_all()
            .build()?;
        let threads = Self {
            process: process::id(),
            // The threads live as long as the process: they may still run when the interpreter ends.
            runtime: Box::leak(Box::new(runtime)),
            ending: CancellationToken::new(),
            running: TaskTracker::new(),
        };
        Ok(slot.insert(threads).clone())
    }

    /// Returns the handle with which work is started.
    pub(super) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }
}

/// Fails if an object was made by the process from which this one was forked.
pub(super) fn check_process(made_by: u32) -> PyResult<()> {
    if made_by == process::id() {
        return Ok(());
    }
    Err(raised(Failure {
        kind: ErrorKind::Unsupported,
        message: "the kernel belongs to another process, from which this one was forked".to_owned(),
        details: json!({}),
        next_actions: vec!["open the store and make a kernel again in this process".to_owned()],
    }))
}

/// Interrupts all turns and waits until they end. The package calls this when the interpreter ends:
/// a thread must not need the interpreter afterwards.
#[pyfunction]
pub(crate) fn end_agents(py: Python<'_>) {
    let slot = THREADS_OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(threads) = slot.filter(|threads| threads.process == process::id()) else { return };
    threads.ending.cancel();
    threads.running.close();
    py.detach(|| {
        let ended = async { tokio::time::timeout(PATIENCE, threads.running.wait()).await };
        // Work that does not end now ends with the process; what it stored stays.
        let _ = threads.runtime.block_on(ended);
    });
}
