//! A connection to a store, as a Python class.

use forklore_bindings::{Core, Result};
use forklore_engine::Engine;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::raised;
use crate::rows::Rows;

/// A connection to a store. Requests and answers are JSON; several threads may call at once.
#[pyclass(frozen, module = "forklore._native")]
pub(crate) struct Connection {
    inner: forklore_bindings::Connection,
}

impl Connection {
    /// Makes the core of a face, which lets go of the store when the connection is closed.
    pub(crate) fn core<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce(&Engine) -> Result<T>,
    ) -> PyResult<Core<T>> {
        self.inner.core(make).map_err(raised)
    }

    /// Returns the engine of the store, for a kernel, which ends before the store is closed.
    pub(crate) fn engine(&self) -> PyResult<Engine> {
        self.inner.engine().map_err(raised)
    }
}

#[pymethods]
impl Connection {
    /// Opens the store that `url` names, or the user's store.
    #[new]
    #[pyo3(signature = (url=None))]
    fn new(py: Python<'_>, url: Option<&str>) -> PyResult<Self> {
        let inner = py.detach(|| forklore_bindings::Connection::open(url)).map_err(raised)?;
        Ok(Self { inner })
    }

    /// The kind and the location of the store, without a password.
    #[getter]
    fn location(&self) -> &str {
        self.inner.location()
    }

    /// Executes a request and returns its answer.
    fn call(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        py.detach(|| self.inner.call(request)).map_err(raised)
    }

    /// Executes a request whose answer is a list, to be read page by page.
    fn rows(&self, py: Python<'_>, request: &str) -> PyResult<Rows> {
        let rows = py.detach(|| self.inner.rows(request)).map_err(raised)?;
        Ok(Rows::of(rows))
    }

    /// Executes a request that sends bytes.
    fn send(&self, py: Python<'_>, request: &str, bytes: &[u8]) -> PyResult<String> {
        py.detach(|| self.inner.send(request, bytes)).map_err(raised)
    }

    /// Executes a request whose answer is bytes.
    fn receive<'py>(&self, py: Python<'py>, request: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.receive(request)).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Closes the store. Running calls end first; later ones fail.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.inner.close());
    }
}
