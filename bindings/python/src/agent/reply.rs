//! Questions to Python code, which answers on an event loop.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tokio::sync::oneshot;

/// An answer of Python code as JSON, or why there is none.
pub(super) type Answer = Result<String, String>;

/// Receives the answer to a question, from any thread, once.
#[pyclass(frozen, module = "forklore._native")]
pub(crate) struct Reply {
    sender: Mutex<Option<oneshot::Sender<Answer>>>,
}

#[pymethods]
impl Reply {
    /// Answers with JSON.
    fn answer(&self, answer: String) {
        self.send(Ok(answer));
    }

    /// Answers that the code failed.
    fn fail(&self, message: String) {
        self.send(Err(message));
    }
}

impl Reply {
    fn send(&self, answer: Answer) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Nobody waits for the answer if the turn was interrupted.
        let _ = sender.map(|sender| sender.send(answer));
    }
}

/// Work that runs on an event loop. Dropping it cancels the work.
pub(super) struct Running(Option<Py<PyAny>>);

impl Running {
    /// Calls `method` of `object`, which starts the work and returns an object with a method
    /// `cancel`. Neither method waits.
    ///
    /// # Errors
    /// The exception that `method` raised, in words.
    pub(super) fn begin(
        object: &Py<PyAny>,
        method: &str,
        arguments: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
    ) -> Result<Self, String> {
        let begun = Python::try_attach(|py| {
            let arguments = arguments(py)?;
            object.bind(py).call_method1(method, arguments).map(Bound::unbind)
        });
        match begun {
            Some(Ok(running)) => Ok(Self(Some(running))),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("the interpreter ends".to_owned()),
        }
    }

    /// Asks the work to end. It may take a while, and may still answer.
    pub(super) fn cancel(&self) {
        let Some(running) = &self.0 else { return };
        // A loop that is closed has no work left to cancel.
        let _ = Python::try_attach(|py| running.bind(py).call_method0("cancel").map(drop));
    }

    /// Records that the work has ended.
    pub(super) fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// A question that Python code works on.
pub(super) struct Question {
    pub(super) running: Running,
    pub(super) answer: oneshot::Receiver<Answer>,
}

impl Question {
    /// Puts a question: calls `method(reply, payload, *more)` of `object`.
    ///
    /// # Errors
    /// Why the question could not be put, for example because no event loop runs.
    pub(super) fn put(
        object: &Py<PyAny>,
        method: &str,
        payload: &str,
        more: Vec<Py<PyAny>>,
    ) -> Result<Self, String> {
        let (sender, answer) = oneshot::channel();
        let reply = Reply { sender: Mutex::new(Some(sender)) };
        let running = Running::begin(object, method, |py| {
            let mut arguments = vec![Py::new(py, reply)?.into_any()];
            arguments.push(payload.into_pyobject(py)?.into_any().unbind());
            arguments.extend(more);
            PyTuple::new(py, arguments)
        })?;
        Ok(Self { running, answer })
    }

    /// Waits for the answer. Dropping the future cancels the work.
    pub(super) async fn answered(mut self) -> Answer {
        let answer = (&mut self.answer).await;
        self.running.ended();
        answer.unwrap_or_else(|_| Err("its event loop has ended".to_owned()))
    }
}
