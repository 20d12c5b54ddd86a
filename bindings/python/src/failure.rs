//! Failures as Python exceptions.

use forklore_bindings::Failure;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The function of the package that makes the exception of a kind.
static RAISED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns the exception for a failure. Its class is that of the failure's kind in
/// `forklore.errors`.
pub(crate) fn raised(failure: Failure) -> PyErr {
    Python::attach(|py| match exception(py, &failure) {
        Ok(exception) => PyErr::from_value(exception),
        // The package is not importable, for example while the interpreter ends.
        Err(_) => PyRuntimeError::new_err(failure.to_string()),
    })
}

fn exception<'py>(py: Python<'py>, failure: &Failure) -> PyResult<Bound<'py, PyAny>> {
    let make = RAISED.get_or_try_init(py, || {
        py.import("forklore.errors")?.getattr("of_kind").map(Bound::unbind)
    })?;
    let details = failure.details.to_string();
    make.bind(py).call1((
        failure.kind.name(),
        failure.message.as_str(),
        details,
        failure.next_actions.clone(),
    ))
}
