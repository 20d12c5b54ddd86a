//! The items of a long answer, as a Python class.

use pyo3::prelude::*;

use crate::failure::raised;

/// The items of a long answer, read page by page.
#[pyclass(frozen, module = "forklore._native")]
pub(crate) struct Rows {
    inner: forklore_bindings::Rows,
}

impl Rows {
    pub(crate) fn of(rows: forklore_bindings::Rows) -> Self {
        Self { inner: rows }
    }
}

#[pymethods]
impl Rows {
    /// Returns the next items as a JSON list, at most `limit`; an empty list at the end.
    fn page(&self, py: Python<'_>, limit: usize) -> PyResult<String> {
        py.detach(|| self.inner.page(limit)).map_err(raised)
    }
}
