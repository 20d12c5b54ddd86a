//! Operations that Python code awaits.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use forklore_agent::{AgentSession, Error, Result};
use futures_util::FutureExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::failure::exception;
use super::runtime::Threads;

/// How long to wait before the next attempt to interrupt an operation that does not run yet.
const PAUSE: Duration = Duration::from_millis(1);

/// The result of an operation.
pub(super) enum Outcome {
    /// The operation has no result.
    Nothing,
    /// A result as JSON.
    Json(String),
    /// An object of Python.
    Object(NewObject),
}

/// Makes an object of Python.
pub(super) type NewObject = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

impl Outcome {
    /// Returns a result as JSON.
    ///
    /// # Errors
    /// If the result has no form in JSON.
    pub(super) fn of(result: &impl Serialize) -> Result<Self> {
        Ok(Self::Json(forklore_core::Data::of(result)?.get().to_owned()))
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            Self::Nothing => Ok(py.None()),
            Self::Json(text) => Ok(text.into_pyobject(py)?.into_any().unbind()),
            Self::Object(new) => new(py),
        }
    }
}

/// An operation that runs.
#[pyclass(frozen, module = "forklore._native")]
pub(crate) struct Work {
    cancel: CancellationToken,
}

#[pymethods]
impl Work {
    /// Interrupts the operation. It then ends soon, and reports its end as usual.
    fn interrupt(&self) {
        self.cancel.cancel();
    }
}

/// Starts an operation. When it ends, calls `done(result, exception)` from another thread, with None
/// for one of them. `session` is the session whose running work an interruption interrupts.
pub(super) fn start(
    session: Option<AgentSession>,
    done: Py<PyAny>,
    work: impl Future<Output = Result<Outcome>> + Send + 'static,
) -> PyResult<Work> {
    let threads = Threads::of_process()?;
    let cancel = threads.ending.child_token();
    let work = interruptible(session, cancel.clone(), work);
    let task = async move {
        let result = AssertUnwindSafe(work).catch_unwind().await;
        let result = result.unwrap_or_else(|_| Err(Error::Crashed("the kernel".to_owned())));
        // Without an interpreter nobody waits for the result, which is in the log.
        let _ = Python::try_attach(|py| report(py, &done, result));
    };
    threads.running.spawn_on(task, threads.handle());
    Ok(Work { cancel })
}

async fn interruptible<T>(
    session: Option<AgentSession>,
    cancel: CancellationToken,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = cancel.cancelled() => {}
    }
    let Some(session) = session else { return work.await };
    while !session.interrupt() {
        // The operation has not begun to run, or was interrupted already.
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    work.await
}

fn report(py: Python<'_>, done: &Py<PyAny>, result: Result<Outcome>) -> PyResult<()> {
    let result = result.map_err(exception).and_then(|outcome| outcome.into_python(py));
    let (value, error) = match result {
        Ok(value) => (value, py.None()),
        Err(error) => (py.None(), error.into_value(py).into_any()),
    };
    // The package's function raises nothing: an exception is a fault of the interpreter.
    let called = done.call1(py, (value, error));
    called.map(drop).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
