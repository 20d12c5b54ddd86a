//! The core of the saver for LangGraph, as a Python class.

use forklore_bindings::Core;
use forklore_core::workspace::Workspace;
use forklore_langgraph::Saver;
use pyo3::prelude::*;

use crate::connection::Connection;
use crate::failure::raised;

/// Stores checkpoints of LangGraph. Requests and answers are JSON; several threads may call at once.
#[pyclass(frozen, module = "forklore._native")]
pub(crate) struct LangGraph {
    core: Core<Saver>,
}

impl LangGraph {
    /// Calls the saver.
    fn answer<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Saver) -> forklore_langgraph::Result<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| self.core.call(|saver| Ok(call(saver)?))).map_err(raised)
    }
}

#[pymethods]
impl LangGraph {
    /// Uses the store of a connection. The sessions belong to the folder `workspace`.
    #[new]
    fn new(connection: PyRef<'_, Connection>, workspace: &str) -> PyResult<Self> {
        let workspace = Workspace::new(workspace);
        let core = connection.core(|engine| Ok(Saver::new(engine.clone(), workspace)))?;
        Ok(Self { core })
    }

    /// Stores a checkpoint.
    fn put(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        self.answer(py, |saver| saver.put(request))
    }

    /// Stores the writes of a task.
    fn put_writes(&self, py: Python<'_>, request: &str) -> PyResult<()> {
        self.answer(py, |saver| saver.put_writes(request))
    }

    /// Reads checkpoints.
    fn get(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        self.answer(py, |saver| saver.get(request))
    }

    /// Lists checkpoints.
    fn list(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        self.answer(py, |saver| saver.list(request))
    }

    /// Reads the texts of elements.
    fn elements(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        self.answer(py, |saver| saver.elements(request))
    }

    /// Reads the writes from which values of channels are computed.
    fn history(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        self.answer(py, |saver| saver.history(request))
    }

    /// Copies a thread.
    fn copy_thread(&self, py: Python<'_>, source: &str, target: &str) -> PyResult<()> {
        self.answer(py, |saver| saver.copy_thread(source, target))
    }

    /// Deletes a thread.
    fn delete_thread(&self, py: Python<'_>, thread_id: &str) -> PyResult<()> {
        self.answer(py, |saver| saver.delete_thread(thread_id))
    }

    /// Removes all checkpoints of a thread but the newest.
    fn prune(&self, py: Python<'_>, thread_id: &str) -> PyResult<()> {
        self.answer(py, |saver| saver.prune(thread_id))
    }

    /// Removes the checkpoints of runs.
    fn delete_for_runs(&self, py: Python<'_>, runs: Vec<String>) -> PyResult<()> {
        self.answer(py, |saver| saver.delete_for_runs(&runs))
    }
}
